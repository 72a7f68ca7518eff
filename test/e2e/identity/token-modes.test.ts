import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  type Server,
  type Settings,
  serve,
} from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { DOUBLE, double } from '../layer.fixture.ts';

describe.each(['required', 'optional', 'development'] as const)('tokens.mode is %s', (mode) => {
  let folder: string;
  let layer: EmbeddedToolLayer;
  let server: Server;
  const warnings: string[] = [];
  beforeAll(async () => {
    folder = await temporaryDataFolder('token-modes-');
    const settings: Partial<Settings> = { data_folder: folder, 'tokens.mode': mode, 'agent.mounts': [`${folder}:ro`] };
    const log = { debug() {}, info() {}, warn: (event: string) => void warnings.push(event), error() {} };
    layer = await createToolLayer({ settings, log, environment: { SALLYPORT_SECRET_KEY: 'hush-hush' } });
    await layer.registerFunction(DOUBLE, double);
    await layer.registerFunction({ ...DOUBLE, tool_id: 'writes', side_effect_policy: 'idempotent' }, double);
    const permissions = { filesystem: [{ path: folder, mode: 'ro' as const }] };
    await layer.registerFunction({ ...DOUBLE, tool_id: 'reads', permissions }, double);
    await layer.registerFunction({ ...DOUBLE, tool_id: 'secret', permissions: { credentials: ['key'] } }, double);
    server = await serve(layer, { port: 0 });
  });
  afterAll(async () => {
    await server.close();
    await layer.close();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (tool_id: string, token?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const body = JSON.stringify({ tool_id, parameters: { n: 1 } });
    const response = await fetch(`${server.url}/v1/invocations`, { method: 'POST', headers, body });
    const said = (await response.json()) as { status: string; error?: { e_code: string } };
    return said.error?.e_code ?? said.status;
  };
  const ofMode = <T>(given: Readonly<Record<typeof mode, T>>): T => given[mode];

  test('PRM-02.5 a call without a token may do what the mode says, and no more', async () => {
    expect(await call('double')).toBe(ofMode({ required: 'E3212', optional: 'success', development: 'success' }));
    // In the mode `optional` a write of an untrusted agent waits for an approval.
    expect(await call('writes')).toBe(
      ofMode({ required: 'E3212', optional: 'pending_approval', development: 'success' }),
    );
    expect(await call('reads')).toBe(ofMode({ required: 'E3212', optional: 'E3203', development: 'success' }));
    // A caller without a token gets no secrets, in any mode.
    expect(await call('secret')).toBe(ofMode({ required: 'E3212', optional: 'E3205', development: 'E3205' }));
  });

  test('PRM-02 a token that is presented must be good in every mode', async () => {
    expect(await call('double', 'a.b.c')).toBe('E3201');
    const { capability_token } = await layer.mintToken({ expires_in_seconds: -60 });
    expect(await call('double', capability_token)).toBe('E3202');
  });

  test('PRM-02.7 a lenient mode is told in the log and in the health, a strict one has nothing to tell', async () => {
    expect(warnings.includes('tokens-not-required')).toBe(mode !== 'required');
    const { parts } = (await (await fetch(`${server.url}/healthz`)).json()) as {
      parts: { identity: { message?: string } };
    };
    if (mode === 'required') expect(parts.identity.message).toBeUndefined();
    else expect(parts.identity.message).toContain(`tokens.mode is ${mode}`);
  });

  test('PRM-02.5 operations of an operator are open in development alone', async () => {
    const response = await fetch(`${server.url}/v1/upstreams`);
    await response.body?.cancel();
    expect(response.status).toBe(ofMode({ required: 401, optional: 403, development: 200 }));
  });
});
