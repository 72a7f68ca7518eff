import { rm } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ToolInvokeResponse } from '../../../packages/sallyport/api/schemas/invocation.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  type Server,
  type Settings,
  serve,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { post } from '../layer.fixture.ts';

const ODD_SERVER = fileURLToPath(
  new URL('../../../packages/sallyport/src/mcp-servers/test-servers/odd-server.mjs', import.meta.url),
);
const WAITING = { timeout: 60_000, interval: 50 } as const;

/** The HTTP status of the service's next answers. */
let status = 200;
let reached = 0;
let service: HttpServer;
let port: number;
let folder: string;
let layer: EmbeddedToolLayer;
let server: Server;
let token: string;
/** How many ms the clock of the layer is ahead of the real time. */
let turned = 0;
const clock = { now: () => Date.now() + turned, monotonic: () => performance.now() + turned };

const SETTINGS: Partial<Settings> = {
  'agent.allowed_hosts': ['127.0.0.1'],
  'tenant.may_run_programs': ['globex'],
  'rate.external_per_minute': 100_000,
  'rate.external_burst': 10_000,
  'circuits.sliding_window_size': 4,
  'circuits.minimum_number_of_calls': 2,
  'circuits.permitted_number_of_calls_in_half_open_state': 1,
};

beforeAll(async () => {
  service = createServer((_request, response) => {
    reached += 1;
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"ok":true}');
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  ({ port } = service.address() as AddressInfo);
  folder = await temporaryDataFolder('sallyport-circuits-');
  layer = await createToolLayer({
    settings: { data_folder: folder, ...SETTINGS },
    log: silentLog,
    environment: {},
    clock,
  });
  server = await serve(layer, { port: 0 });
  token = (await layer.mintToken({ hosts: ['127.0.0.1'], ports: [port] })).capability_token;
});

afterAll(async () => {
  await server.close();
  await layer.close();
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

/** The manifest of an operation of the service; it is tried once, unless the manifest says otherwise. */
const operation = (tool_id: string, execution_config: object = {}) => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description: 'Asks the service.',
  side_effect_policy: 'pure' as const,
  parameters_schema: { type: 'object' },
  permissions: { network: [{ host: '127.0.0.1', port }] },
  execution_config: { retry_policy: { max_attempts: 1 }, ...execution_config },
  executor: { kind: 'http' as const, config: { base_url: `http://127.0.0.1:${port}`, method: 'GET', path: '/' } },
});

async function call(tool_id: string, by = token) {
  const { status, body } = await post({ server, token: by } as never, '/v1/invocations', JSON.stringify({ tool_id }));
  return { ...(body as unknown as ToolInvokeResponse), http: status };
}

const circuitEvents = async () => {
  const { events } = await layer.ask('audit.query', { limit: 1000 }, LOCAL_CALLER);
  return events.filter(({ type }) => type.startsWith('ai.agent.circuit.'));
};

describe('the circuit of a service', () => {
  test('CIR-01.1 CIR-01.4 CIR-01.8 CIR-03 EXE-06.4 CIR-04.2 CIR-05.3 opens over REST, refuses with the remaining wait, and closes after a trial; all of it is in the audit', async () => {
    for (const id of ['first', 'second']) await layer.ask('tools.register', { manifest: operation(id) }, LOCAL_CALLER);
    status = 500;
    expect(await call('first')).toMatchObject({ http: 502, error: { e_code: 'E3304' } });
    expect(await call('second')).toMatchObject({ http: 502, error: { e_code: 'E3304' } });
    const before = reached;
    const refused = await call('first');
    expect(refused).toMatchObject({
      http: 503,
      error: { e_code: 'E3401', code: 'circuit_breaker_open', retryable: true, details: { state: 'open' } },
    });
    expect(refused.error?.retry_after_ms).toBeGreaterThan(30_000);
    expect(refused.error?.retry_after_ms).toBeLessThanOrEqual(60_000);
    expect(reached).toBe(before);
    status = 200;
    turned += 60_000;
    expect(await call('second')).toMatchObject({ http: 200, result: { body: { ok: true } } });
    expect(await call('first')).toMatchObject({ http: 200 });
    // The audit holds no IP addresses (AUD-04), so the host is redacted here; host names stay.
    const name = `[REDACTED:ip]:${port}`;
    expect(await circuitEvents()).toMatchObject([
      {
        type: 'ai.agent.circuit.opened',
        subject: name,
        data: {
          circuit_name: name,
          tool_id: 'second',
          failure_rate: 100,
          failure_count: 2,
          window_size: 4,
          reason: 'Failure rate 100% reached the threshold of 50%',
          wait_ms: 60_000,
        },
      },
      { type: 'ai.agent.circuit.half_opened', data: { tool_id: 'second', previous_state: 'open' } },
      { type: 'ai.agent.circuit.closed', data: { test_success_count: 1, reason: 'Half-open test calls succeeded' } },
    ]);
    expect(await layer.ask('audit.verify', {}, LOCAL_CALLER)).toMatchObject({ whole: true });
  });
});

describe('circuits through the doors', () => {
  const name = () => `127.0.0.1:${port}`;
  const path = () => `/v1/circuits/${encodeURIComponent(name())}`;
  const ask = async (method: string, at: string, by: string, body?: object) => {
    const response = await fetch(server.url + at, {
      method,
      headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { http: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const mint = async (more: object) =>
    (await layer.mintToken({ hosts: ['127.0.0.1'], ports: [port], ...more })).capability_token;

  test('API-01.4 CIR-01.2 an operator holds one open, disables it and closes it, and each of that is on record', async () => {
    const operator = await mint({ roles: ['operator'], agent_did: 'did:example:operator' });
    status = 200;
    await call('first');
    expect((await ask('GET', path(), operator)).body).toMatchObject({
      name: name(),
      state: 'closed',
      config: { sliding_window_size: 4, wait_duration_in_open_state_seconds: 60, half_open_strategy: 'canary' },
    });
    const before = (await circuitEvents()).length;
    const held = await ask('POST', `${path()}/state`, operator, { state: 'forced_open', reason: 'maintenance' });
    expect(held).toMatchObject({ http: 200, body: { state: 'forced_open' } });
    const refused = await call('first');
    expect(refused).toMatchObject({ http: 503, error: { e_code: 'E3401', details: { state: 'forced_open' } } });
    expect(refused.error).not.toHaveProperty('retry_after_ms');
    await ask('POST', `${path()}/state`, operator, { state: 'disabled' });
    status = 500;
    for (let at = 0; at < 6; at += 1) expect((await call('first')).error?.e_code).toBe('E3304');
    status = 200;
    await ask('POST', `${path()}/state`, operator, { state: 'closed' });
    const { body } = await ask('GET', '/v1/circuits', operator);
    expect(body['circuits']).toMatchObject([{ name: name(), state: 'closed', call_count: 0 }]);
    const by = { by: 'did:example:operator', door: 'rest', cause: 'set' };
    expect((await circuitEvents()).slice(before)).toMatchObject([
      { type: 'ai.agent.circuit.opened', data: { ...by, state: 'forced_open', note: 'maintenance' } },
      { type: 'ai.agent.circuit.closed', data: { ...by, state: 'disabled', previous_state: 'forced_open' } },
      { type: 'ai.agent.circuit.closed', data: { ...by, state: 'closed' } },
    ]);
    expect(await layer.ask('audit.verify', {}, LOCAL_CALLER)).toMatchObject({ whole: true });
  });

  test('CIR-01 PRM-10 a tenant has circuits of its own, and neither sees nor sets those of another', async () => {
    const other = await mint({ tenant_id: 'globex', roles: ['operator'] });
    expect((await ask('GET', '/v1/circuits', other)).body).toEqual({ circuits: [] });
    for (const answer of [
      await ask('GET', path(), other),
      await ask('POST', `${path()}/state`, other, { state: 'closed' }),
    ])
      expect(answer).toMatchObject({ http: 404, body: { e_code: 'E3809' } });
    const viewer = await mint({ roles: ['viewer'] });
    expect((await ask('GET', path(), viewer)).http).toBe(200);
    expect(await ask('POST', `${path()}/state`, viewer, { state: 'closed' })).toMatchObject({ http: 403 });
    expect(await ask('GET', path(), token)).toMatchObject({ http: 403 });
    // The same host fails for one tenant: calls of the other tenant still pass.
    await layer.ask('tools.register', { manifest: operation('theirs') }, { ...LOCAL_CALLER, tenantId: 'globex' });
    const calls = await mint({ tenant_id: 'globex' });
    status = 500;
    for (let at = 0; at < 2; at += 1) expect((await call('theirs', calls)).error?.e_code).toBe('E3304');
    expect((await call('theirs', calls)).error?.e_code).toBe('E3401');
    status = 200;
    expect((await call('first')).http).toBe(200);
  });

  test('CIR-05.1 failures in a row open a circuit before the rate is judged, and the audit says so', async () => {
    const in_row = { consecutive_failures_threshold: 2, minimum_number_of_calls: 4, sliding_window_size: 8 };
    await layer.ask(
      'tools.register',
      { manifest: operation('in-row', { circuit_breaker_config: in_row }) },
      LOCAL_CALLER,
    );
    status = 500;
    const codes = [await call('in-row'), await call('in-row'), await call('in-row')].map(({ error }) => error?.e_code);
    status = 200;
    expect(codes).toEqual(['E3304', 'E3304', 'E3401']);
    const { events } = await layer.ask('audit.query', { type: 'ai.agent.circuit.opened' }, LOCAL_CALLER);
    expect(events.map(({ data }) => data['reason'])).toContain('2 calls in a row failed');
  });

  test('REG-01.6 CIR-01.9 a manifest says terms of its own; bad ones are refused with E3403 and the key', async () => {
    const own = { failure_rate_threshold: 100, minimum_number_of_calls: 1, wait_duration_seconds: 5 };
    const manifest = operation('own', { circuit_breaker_config: own });
    await layer.ask('tools.register', { manifest }, LOCAL_CALLER);
    status = 500;
    expect((await call('own')).error?.e_code).toBe('E3304');
    const refused = await call('own');
    expect(refused.error).toMatchObject({ e_code: 'E3401', details: { circuit: 'tool:own@1.0.0' } });
    expect(refused.error?.retry_after_ms).toBeLessThanOrEqual(5_000);
    status = 200;
    expect((await call('first')).http).toBe(200);
    const operator = await mint({ roles: ['operator'] });
    const faults = [
      { failure_rate_threshold: 101 },
      { sliding_window_size: 0 },
      { half_open_strategy: 'sudden' },
      { minimum_number_of_calls: 9, sliding_window_size: 8 },
      { window: 3 },
    ];
    for (const config of faults) {
      const body = {
        manifest: { ...manifest, version: '2.0.0', execution_config: { circuit_breaker_config: config } },
      };
      const answer = await ask('POST', '/v1/tools', operator, body);
      expect([config, answer]).toMatchObject([config, { http: 400, body: { e_code: 'E3403' } }]);
      expect(answer.body['detail']).toContain(`/circuit_breaker_config/${Object.keys(config)[0]}`);
    }
  });
});

describe('circuits elsewhere', () => {
  test('CIR-01.7 EXT-02.3 EXT-02.7 where nobody says otherwise, circuit and rate limit of a tool are those of the specification', async () => {
    const data_folder = await temporaryDataFolder('sallyport-defaults-');
    onTestFinished(() => rm(data_folder, { recursive: true, force: true }));
    await using own = await createToolLayer({
      settings: { data_folder, 'agent.allowed_hosts': ['127.0.0.1'] },
      log: silentLog,
      environment: {},
    });
    await own.ask('tools.register', { manifest: operation('plain') }, LOCAL_CALLER);
    const { capability_token } = await own.mintToken({ hosts: ['127.0.0.1'], ports: [port] });
    status = 200;
    const began = performance.now();
    const call = () => own.invoke({ tool_id: 'plain', parameters: {}, capability_token });
    const ends = await Promise.all(Array.from({ length: 40 }, call));
    const refused = ends.flatMap(({ error }) => error ?? []);
    // The limit lets pass a burst, and one more call for each second that the calls took.
    const passed = ends.length - refused.length;
    expect(passed).toBeGreaterThanOrEqual(10);
    expect(passed).toBeLessThanOrEqual(10 + Math.ceil((performance.now() - began) / 1000));
    for (const { e_code, retry_after_ms = 0 } of refused)
      expect([e_code, retry_after_ms > 0, retry_after_ms <= 1000]).toEqual(['E3303', true, true]);
    expect(await own.ask('circuits.get', { name: `127.0.0.1:${port}` }, LOCAL_CALLER)).toMatchObject({
      state: 'closed',
      config: {
        failure_rate_threshold: 50,
        slow_call_rate_threshold: 100,
        slow_call_duration_threshold_ms: 5000,
        consecutive_failures_threshold: 0,
        sliding_window_type: 'count_based',
        sliding_window_size: 100,
        minimum_number_of_calls: 10,
        wait_duration_in_open_state_seconds: 60,
        permitted_number_of_calls_in_half_open_state: 10,
        half_open_strategy: 'canary',
      },
    });
  });

  test('CIR-01.9 settings that make no circuit keep the layer from starting, with E3403 and the key', async () => {
    for (const [key, value] of [
      ['circuits.failure_rate_threshold', 120],
      ['circuits.sliding_window_size', 0],
      ['circuits.minimum_number_of_calls', 101],
    ] as const) {
      const made = createToolLayer({
        settings: { data_folder: folder, [key]: value },
        log: silentLog,
        environment: {},
      });
      await expect(made).rejects.toMatchObject({ code: 'E3403', message: expect.stringContaining(key) });
    }
  });

  test('CIR-01 an MCP server that ends in its calls has a circuit, which keeps other calls from it', async () => {
    const transport = { type: 'stdio' as const, command: 'node', args: [ODD_SERVER, 'crash-on-call'] };
    await layer.ask('upstreams.add', { upstream: { name: 'frail', transport } }, LOCAL_CALLER);
    await expect
      .poll(async () => {
        const { error } = await layer.invoke({ tool_id: 'frail__echo', parameters: {}, capability_token: token });
        return error?.e_code;
      }, WAITING)
      .toBe('E3401');
    expect(await layer.ask('circuits.get', { name: 'mcp:frail' }, LOCAL_CALLER)).toMatchObject({ state: 'open' });
    const opened = (await circuitEvents()).filter(({ subject }) => subject === 'mcp:frail');
    expect(opened).toMatchObject([{ type: 'ai.agent.circuit.opened', data: { tool_id: 'frail__echo' } }]);
  });
});
