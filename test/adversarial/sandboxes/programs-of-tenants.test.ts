import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ToolManifest } from '../../../packages/sallyport/api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../packages/sallyport/api/schemas/upstream.ts';
import { createToolLayer, type EmbeddedToolLayer, silentLog } from '../../../packages/sallyport/src/index.ts';
import { prepareDatabase } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';

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
  await prepareDatabase(join(home, 'data'));
  layer = await createToolLayer({
    settings: { data_folder: join(home, 'data'), ...settings },
    log: silentLog,
    environment: {},
  });
  return layer;
}

/** A caller who is operator of a tenant, but does not operate the machine. */
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
  upstream: { name: 'own-program', transport: { type: 'stdio', command: 'node', args: ['-e', '0'], ...transport } },
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
  expect(await own.ask('tools.invoke', { tool_id: 'echoes', parameters: {} }, stranger)).toMatchObject({
    status: 'success',
  });
  own = await open();
  stranger = await operatorOf(own, 'stranger');
  expect(await own.ask('tools.invoke', { tool_id: 'echoes', parameters: {} }, stranger)).toMatchObject({
    status: 'permission_denied',
    error: { e_code: 'E3210' },
  });
});

test('SBX-01.1 an upstream mounts and reaches what the operator of the machine allows, the loopback included', async () => {
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
  // With an allowed mount and host the server starts, but it ends at once.
  const within = { mounts: [{ path: home, mode: 'ro' as const }], network: [{ host: 'api.example.com', port: 443 }] };
  await expect(add(within)).rejects.toMatchObject({ code: 'E3108' });
});

/** Whether `upstreams.add` at a URL is refused by the bounds, and not because nothing listens there. */
const refusedAt = async (own: EmbeddedToolLayer, tenant: string, host: string): Promise<boolean> => {
  const transport = { type: 'http', url: `http://${host}:1/mcp` } as const;
  const failed = await own
    .ask('upstreams.add', { upstream: { name: 'far', transport } }, await operatorOf(own, tenant))
    .catch((thrown: unknown) => thrown);
  return (failed as { code?: string }).code === 'E3104';
};

test('SBX-01.3 addresses of the machine and its network are named by its operator, and are none for tenants that run nothing', async () => {
  let own = await open();
  expect(await refusedAt(own, 'default', '127.0.0.1')).toBe(false);
  for (const host of ['127.0.0.1', 'localhost', 'a.localhost', '[::1]', '[::ffff:127.0.0.1]', '192.0.2.7']) {
    expect(await refusedAt(own, 'stranger', host), host).toBe(true);
  }
  for (const host of ['127.0.0.2', '10.0.0.1', '169.254.169.254', '[fd00::1]']) {
    expect(await refusedAt(own, 'default', host), host).toBe(true);
  }
  own = await open({ 'agent.allowed_hosts': ['127.0.0.0/8'], 'tenant.may_run_programs': ['named'] });
  expect(await refusedAt(own, 'default', '127.0.0.2')).toBe(false);
  expect(await refusedAt(own, 'named', '127.0.0.2')).toBe(false);
  expect(await refusedAt(own, 'stranger', '127.0.0.2')).toBe(true);
});

test('SBX-01.1 a tool over HTTP of a tenant that runs nothing does not reach the machine', async () => {
  const own = await open();
  const manifest: ToolManifest = {
    ...echo,
    permissions: { network: [{ host: '127.0.0.1', port: 1 }] },
    executor: { kind: 'http', config: { base_url: 'http://127.0.0.1:1', method: 'GET', path: '/' } },
  };
  for (const [tenant, code] of [
    ['stranger', 'E3104'],
    ['default', 'E3305'],
  ] as const) {
    const { capability_token: token } = await own.mintToken({
      tenant_id: tenant,
      roles: ['operator'],
      hosts: ['*'],
      ports: [0],
    });
    const caller = { door: 'library', token } as const;
    await own.ask('tools.register', { manifest }, caller);
    expect(await own.ask('tools.invoke', { tool_id: 'echoes', parameters: {} }, caller)).toMatchObject({
      error: { e_code: code },
    });
  }
});

test('PRM-03.2 SBX-01.5 without a word of the operator a tool is granted the folder that the layer was started in, and no other', async () => {
  const own = await open();
  const { capability_token: token } = await own.mintToken({ paths: ['/'], mode: 'rw' });
  const grant = async (path: string, version: string): Promise<unknown> => {
    const manifest = { ...echo, version, permissions: { filesystem: [{ path, mode: 'ro' as const }] } };
    await own.ask('tools.register', { manifest }, await operatorOf(own, 'default'));
    return own.ask('tools.invoke', { tool_id: 'echoes', parameters: {} }, { door: 'library', token });
  };
  expect(await grant(join(process.cwd(), 'docs'), '1.0.0')).toMatchObject({ status: 'success' });
  expect(await grant(dirname(process.cwd()), '1.0.1')).toMatchObject({ error: { e_code: 'E3105' } });
  expect(await grant('/etc', '1.0.2')).toMatchObject({ error: { e_code: 'E3105' } });
});
