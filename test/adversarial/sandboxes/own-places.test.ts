import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FilesystemPermission, ToolManifest } from '../../../packages/sallyport/api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../packages/sallyport/api/schemas/upstream.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';

const { works } = await createBubblewrapDriver().probe();
const isTried = test.skipIf(!works);

/** A project with the layer's data folder in it, as `npm start` makes it. */
let project: string;
let data: string;
let policy: string;
/** A link from outside the project into the data folder. */
let alias: string;
let layer: EmbeddedToolLayer;
let token: string;

beforeAll(async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'own-places-')));
  project = join(home, 'project');
  [data, policy, alias] = [join(project, '.sallyport'), join(project, 'rules', 'shell.toml'), join(home, 'alias')];
  mkdirSync(join(project, 'rules'), { recursive: true });
  writeFileSync(join(project, 'open.txt'), 'open');
  writeFileSync(policy, '');
  layer = await createToolLayer({
    settings: { data_folder: data, 'agent.mounts': [`${home}:rw`], 'shell.policy_file': policy },
    log: silentLog,
    environment: {},
  });
  symlinkSync(data, alias);
  ({ capability_token: token } = await layer.mintToken({ paths: ['/'], mode: 'rw' }));
});
afterAll(async () => {
  await layer.close();
  rmSync(join(project, '..'), { recursive: true, force: true });
});

isTried('SBX-05 a tool of a granted project shows the project, and nothing of the layer that works in it', async () => {
  expect(filesBelow(data).length).toBeGreaterThan(10);
  writeFileSync(policy, '# a rule\n');
  await register('shows', ['/bin/grep', '-rs', '', project], [{ path: project, mode: 'ro' }]);
  const { status, result } = await call('shows', {});
  expect(status).toBe('success');
  expect(JSON.stringify(result)).toContain(`${project}/open.txt:open`);
  expect(JSON.stringify(result)).not.toMatch(/\.sallyport|a rule/);
});

isTried(
  'SBX-05 a tool that may write the project makes nothing in the places of the layer, and takes none of them away',
  async () => {
    await register('makes', ['/usr/bin/touch', '--', '{path}'], [{ path: project, mode: 'rw' }]);
    await register('moves', ['/bin/mv', '-T', '--', '{path}', '{to}'], [{ path: project, mode: 'rw' }]);
    expect(await call('makes', { path: join(project, 'made') })).toMatchObject({ status: 'success' });
    for (const path of [join(data, 'policies', 'planted.cedar'), join(data, 'planted')]) {
      expect(await call('makes', { path })).toMatchObject({ status: 'error' });
      expect(existsSync(path)).toBe(false);
    }
    for (const path of [data, policy, join(project, 'rules')]) {
      expect(await call('moves', { path, to: join(project, 'away') })).toMatchObject({ status: 'error' });
      expect(existsSync(join(project, 'away'))).toBe(false);
    }
  },
);

isTried('SBX-01 what lies in the places of the layer is no folder of a tool, by no name', async () => {
  const inside = join(data, 'keys');
  for (const [index, path] of [data, inside, alias, join(alias, 'keys'), policy].entries()) {
    await register(`inside-${index}`, ['/bin/ls', '--', '{path}'], [{ path, mode: 'ro' }]);
    expect(await call(`inside-${index}`, { path }), path).toMatchObject({ error: { e_code: 'E3105' } });
  }
});

isTried('SBX-01 an upstream gets nothing of the layer, by its mounts, its folder or its code', async () => {
  const server = join(project, 'server.mjs');
  writeFileSync(server, SERVER);
  const add = (name: string, transport: Partial<Extract<UpstreamDefinition['transport'], { type: 'stdio' }>>) =>
    layer.ask(
      'upstreams.add',
      {
        upstream: { name, transport: { type: 'stdio', command: 'node', args: [server], ...transport } },
      },
      LOCAL_CALLER,
    );
  const planted = join(data, 'server.mjs');
  writeFileSync(planted, SERVER);
  await expect(add('mounted', { mounts: [{ path: data, mode: 'ro' }] })).rejects.toMatchObject({ code: 'E3105' });
  await expect(add('linked', { mounts: [{ path: alias, mode: 'ro' }] })).rejects.toMatchObject({ code: 'E3105' });
  await expect(add('inside', { cwd: data })).rejects.toMatchObject({ code: 'E3105' });
  await expect(add('code', { args: [planted] })).rejects.toMatchObject({ code: 'E3105' });

  await add('around', { cwd: project, mounts: [{ path: project, mode: 'rw' }] });
  const seen = await call('around__list', { path: data });
  expect(seen).toMatchObject({ status: 'success' });
  expect(JSON.stringify(seen)).toContain('found: .');
});

/** An MCP server with one tool that lists a folder. */
const SERVER = `
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };
const answers = {
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'around', version: '1.0.0' } }),
  'tools/list': () => ({ tools: [{ name: 'list', description: 'Lists a folder.', inputSchema }] }),
  'tools/call': ({ arguments: { path } }) => ({ content: [{ type: 'text', text: 'found: ' + readdirSync(path).join() + '.' }] }),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }));
});
`;

async function register(id: string, command: string[], filesystem: FilesystemPermission[]): Promise<void> {
  const manifest: ToolManifest = {
    tool_id: id,
    tool_name: id,
    version: '1.0.0',
    description: 'Looks around.',
    side_effect_policy: 'idempotent',
    parameters_schema: { type: 'object', properties: { path: { type: 'string' }, to: { type: 'string' } } },
    permissions: { filesystem },
    execution_config: { retry_policy: { max_attempts: 1 } },
    // grep exits with 2 when it may not read a file.
    executor: { kind: 'shell', config: { command, success_exit_codes: [0, 2] } },
  };
  await layer.ask('tools.register', { manifest }, LOCAL_CALLER);
}

function call(tool_id: string, parameters: Record<string, unknown>) {
  return layer.ask('tools.invoke', { tool_id, parameters }, { door: 'library', token });
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
