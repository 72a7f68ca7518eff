import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import { createToolLayer, type EmbeddedToolLayer, silentLog } from '../../../src/index.ts';

type Stdio = Extract<UpstreamDefinition['transport'], { type: 'stdio' }>;

let home: string;
let layer: EmbeddedToolLayer | undefined;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'programs-of-tenants-')));
});
afterEach(async () => {
  await layer?.close();
  rmSync(home, { recursive: true, force: true });
});

async function open(settings: Record<string, unknown> = {}): Promise<EmbeddedToolLayer> {
  await layer?.close();
  layer = await createToolLayer({
    settings: { data_folder: join(home, 'data'), ...settings },
    log: silentLog,
    environment: {},
  });
  return layer;
}

/** The operator of a tenant: not whoever runs the machine. */
const operatorOf = async (own: EmbeddedToolLayer, tenant_id: string) => {
  const { capability_token: token } = await own.mintToken({ tenant_id, roles: ['operator'], paths: ['/'], mode: 'rw' });
  return { door: 'library', token } as const;
};

const echo: ToolManifest = {
  tool_id: 'echoes',
  tool_name: 'echoes',
  version: '1.0.0',
  description: 'Says a word.',
  side_effect_policy: 'pure',
  parameters_schema: { type: 'object' },
  permissions: {},
  executor: { kind: 'shell', config: { command: ['/bin/echo', 'word'] } },
};
const upstream = (transport: Partial<Stdio>): { upstream: UpstreamDefinition } => ({
  upstream: { name: 'program', transport: { type: 'stdio', command: 'node', args: ['-e', '0'], ...transport } },
});

test('SBX-01 a tenant that the operator of the machine did not name starts no program on it', async () => {
  const own = await open();
  const stranger = await operatorOf(own, 'stranger');
  await expect(own.ask('tools.register', { manifest: echo }, stranger)).rejects.toMatchObject({
    code: 'E3008',
    message: expect.stringContaining('tenant.may_run_programs'),
  });
  await expect(own.ask('upstreams.add', upstream({}), stranger)).rejects.toMatchObject({ code: 'E3210' });
});

test('SBX-01 a tool that was registered while its tenant was named does not run when it is no more', async () => {
  let own = await open({ 'tenant.may_run_programs': ['stranger'] });
  let stranger = await operatorOf(own, 'stranger');
  await own.ask('tools.register', { manifest: echo }, stranger);
  expect(await own.ask('tool.invoke', { tool_id: 'echoes', parameters: {} }, stranger)).toMatchObject({
    status: 'success',
  });
  own = await open();
  stranger = await operatorOf(own, 'stranger');
  expect(await own.ask('tool.invoke', { tool_id: 'echoes', parameters: {} }, stranger)).toMatchObject({
    status: 'permission_denied',
    error: { e_code: 'E3210' },
  });
});

test('SBX-01 an upstream mounts and reaches what the operator of the machine allows, the loopback included', async () => {
  const own = await open({ 'agent.mounts': [`${home}:ro`], 'agent.allowed_hosts': ['*.example.com'] });
  const operator = await operatorOf(own, 'default');
  const script = join(home, 'server.mjs');
  writeFileSync(script, 'process.exit(0);');
  const add = (transport: Partial<Stdio>) =>
    own.ask('upstreams.add', upstream({ args: [script], ...transport }), operator);
  await expect(add({ mounts: [{ path: '/var/lib', mode: 'ro' }] })).rejects.toMatchObject({ code: 'E3105' });
  await expect(add({ mounts: [{ path: home, mode: 'rw' }] })).rejects.toMatchObject({ code: 'E3105' });
  for (const host of ['127.0.0.1', 'localhost', '*', '[::1]']) {
    await expect(add({ network: [{ host, port: 5432 }] }), host).rejects.toMatchObject({ code: 'E3104' });
  }
  // What is allowed starts; this server ends without a word.
  const within = { mounts: [{ path: home, mode: 'ro' as const }], network: [{ host: 'api.example.com', port: 443 }] };
  await expect(add(within)).rejects.toMatchObject({ code: 'E3108' });
});
