import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ToolManifest } from '../../../packages/sallyport/api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../packages/sallyport/api/schemas/upstream.ts';
import { settingsFileOf } from '../../../packages/sallyport/src/compose/read-settings.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import { prepareDatabase } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';

type Stdio = Extract<UpstreamDefinition['transport'], { type: 'stdio' }>;
const { works } = await createBubblewrapDriver().probe();
const isTried = test.skipIf(!works);

let home: string;
/** The folder that `agent.mounts` allows. */
let allowed: string;
let data: string;
let layer: EmbeddedToolLayer | undefined;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'around-the-bounds-')));
  [allowed, data] = [join(home, 'allowed'), join(home, 'project', 'data')];
  mkdirSync(join(allowed, 'package', 'inner'), { recursive: true });
  mkdirSync(join(home, 'project'));
  mkdirSync(join(home, 'secrets'));
});
afterEach(async () => {
  await layer?.close();
  layer = undefined;
  rmSync(home, { recursive: true, force: true });
});

async function open(settings: Record<string, unknown>): Promise<EmbeddedToolLayer> {
  await prepareDatabase(data);
  layer = await createToolLayer({ settings: { data_folder: data, ...settings }, log: silentLog, environment: {} });
  return layer;
}

const addWith = (own: EmbeddedToolLayer) => (transport: UpstreamDefinition['transport']) =>
  own.ask('upstreams.add', { upstream: { name: 'around', transport } }, LOCAL_CALLER);

test('SBX-01.1 the folder and the code of an upstream are bounded like its mounts, by what they lead to', async () => {
  const own = await open({ 'agent.mounts': [`${allowed}:ro`] });
  const secret = join(home, 'secrets', 'secret.mjs');
  writeFileSync(secret, 'process.exit(0)');
  const inside = join(allowed, 'inside.mjs');
  writeFileSync(inside, 'process.exit(0)');
  const link = join(allowed, 'link.mjs');
  symlinkSync(secret, link);
  const add = (stdio: Partial<Stdio>) => addWith(own)({ type: 'stdio', command: 'node', ...stdio });
  for (const args of [[secret], [link], ['--no-warnings', secret]]) {
    await expect(add({ args }), `${args}`).rejects.toMatchObject({ code: 'E3105' });
  }
  await expect(add({ args: [inside], cwd: join(home, 'secrets') })).rejects.toMatchObject({ code: 'E3105' });
  await expect(add({ args: ['../secrets/secret.mjs'], cwd: allowed })).rejects.toMatchObject({ code: 'E3105' });
  // The package of the script is larger than the allowed folder, and would be mounted as a whole.
  writeFileSync(join(home, 'package.json'), '{}');
  await expect(add({ args: [inside] })).rejects.toMatchObject({ code: 'E3105' });
  rmSync(join(home, 'package.json'));
  // With an allowed folder the server starts, but it ends at once.
  await expect(add({ args: [inside], cwd: allowed })).rejects.toMatchObject({ code: 'E3108' });
}, 120_000);

test('SBX-01.1 an upstream over HTTP is at a host that the operator of the machine allows', async () => {
  const own = await open({ 'agent.allowed_hosts': ['*.example.com'] });
  for (const host of ['127.0.0.1:1', 'localhost:1', '[::1]:1', '169.254.169.254', '2130706433:1', 'example.org']) {
    await expect(addWith(own)({ type: 'http', url: `http://${host}/mcp` }), host).rejects.toMatchObject({
      code: 'E3104',
    });
  }
}, 120_000);

test('SBX-01 a module in a process of its own is a program too', async () => {
  const own = await open({});
  const { capability_token: token } = await own.mintToken({ tenant_id: 'stranger', roles: ['operator'] });
  const manifest: ToolManifest = {
    tool_id: 'module',
    tool_name: 'module',
    version: '1.0.0',
    description: 'Says a word.',
    side_effect_policy: 'pure',
    parameters_schema: { type: 'object' },
    executor: { kind: 'native', config: { module: 'export default () => "word"' } },
  };
  const register = (isolation: 'interpreter' | 'namespaces', version: string) =>
    own.ask(
      'tools.register',
      { manifest: { ...manifest, version, execution_config: { isolation } } },
      { door: 'library', token },
    );
  await expect(register('namespaces', '1.0.0')).rejects.toMatchObject({ code: 'E3008' });
  await expect(register('interpreter', '1.0.1')).resolves.toMatchObject({ outcome: 'created' });
}, 120_000);

isTried(
  'SBX-05 no snapshot is taken of a folder around the data folder, and so nothing of the layer is set back',
  async () => {
    const own = await open({ 'agent.mounts': [`${home}:rw`], 'shell.snapshot_folder': join(home, 'snapshots') });
    await own.ask('tools.register', { manifest: failing(join(home, 'project')) }, LOCAL_CALLER);
    const { capability_token: token } = await own.mintToken({ paths: ['/'], mode: 'rw' });
    const answer = await own.ask('tools.invoke', { tool_id: 'fails', parameters: {} }, { door: 'library', token });
    expect(answer).toMatchObject({ status: 'error', error: { e_code: 'E3110' } });
    expect(JSON.stringify(answer)).toContain("the layer's own");
  },
  120_000,
);

test('SBX-05 the settings file of the next start is a place of the layer before it is there', () => {
  expect(settingsFileOf({ environment: {} })).toBe('sallyport.toml');
  expect(settingsFileOf({ environment: { SALLYPORT_CONFIG: '/none/other.toml' } })).toBe('/none/other.toml');
});

/** A tool that fails, so that its changes would be taken back if its files could be saved before. */
function failing(project: string): ToolManifest {
  return {
    tool_id: 'fails',
    tool_name: 'fails',
    version: '1.0.0',
    description: 'Fails in the end.',
    side_effect_policy: 'irreversible',
    parameters_schema: { type: 'object' },
    permissions: { filesystem: [{ path: project, mode: 'rw' }] },
    execution_config: { retry_policy: { max_attempts: 1 } },
    executor: {
      kind: 'shell',
      config: { command: ['/usr/bin/touch', '/nowhere/file'], transaction: { snapshot_required: true } },
    },
  };
}
