import { rm } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  type Server,
  serve,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { post } from '../layer.fixture.ts';

/** The HTTP status of the service's next answers, to probes and to calls. */
let health: number;
/** Probes are answered once this promise resolves. */
let holdProbe: Promise<void> | undefined;
let probed = 0;
let called = 0;
let service: HttpServer;
let port: number;
let folder: string;
let layer: EmbeddedToolLayer;
let server: Server;
let token: string;
/** How many ms the clock of the layer is ahead of the real time. */
let turned = 0;
const clock = { now: () => Date.now() + turned, monotonic: () => performance.now() + turned };

const open = (data_folder: string) =>
  createToolLayer({
    settings: { data_folder, 'agent.allowed_hosts': ['127.0.0.1'] },
    log: silentLog,
    environment: {},
    clock,
  });

beforeAll(async () => {
  service = createServer(async (request, response) => {
    if (request.url === '/health') {
      probed += 1;
      await holdProbe;
      response.writeHead(health).end();
    } else {
      called += 1;
      response.writeHead(health, { 'content-type': 'application/json' }).end('{"ok":true}');
    }
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  ({ port } = service.address() as AddressInfo);
  folder = await temporaryDataFolder('sallyport-probes-');
  layer = await open(folder);
  server = await serve(layer, { port: 0 });
  ({ capability_token: token } = await layer.mintToken({ hosts: ['127.0.0.1'], ports: [port] }));
});
afterAll(async () => {
  await server.close();
  await layer.close();
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  [probed, called, health, holdProbe] = [0, 0, 200, undefined];
});

async function call(tool_id: string) {
  const { status, body } = await post({ server, token }, '/v1/invocations', JSON.stringify({ tool_id }));
  return { ...body, http: status };
}

/** Registers a tool with its own circuit, and makes calls fail until the circuit opens. */
async function opened(tool_id: string, probe: object = {}): Promise<void> {
  await register(probedTool(tool_id, probe));
  health = 503;
  for (const _ of [1, 2]) expect(await call(tool_id)).toMatchObject({ error: { e_code: 'E3304' } });
}

const probedTool = (tool_id: string, probe: object = {}) => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description: 'Asks the service.',
  side_effect_policy: 'pure' as const,
  parameters_schema: { type: 'object' },
  permissions: { network: [{ host: '127.0.0.1', port }] },
  execution_config: {
    retry_policy: { max_attempts: 1 },
    circuit_breaker_config: {
      consecutive_failures_threshold: 2,
      half_open_strategy: 'all_or_nothing' as const,
      health_probe: { url: `http://127.0.0.1:${port}/health`, ...probe },
    },
  },
  executor: { kind: 'http' as const, config: { base_url: `http://127.0.0.1:${port}`, method: 'GET', path: '/' } },
});
const register = (manifest: ReturnType<typeof probedTool>) => layer.ask('tools.register', { manifest }, LOCAL_CALLER);

describe('a circuit whose manifest names a health probe', () => {
  test('CIR-05.2 CIR-04.4 is probed after its wait instead of by a call: a failing probe keeps it open with E3404, a good one lets calls through', async () => {
    await opened('probed');
    expect(await call('probed')).toMatchObject({ error: { e_code: 'E3401' } });
    expect([probed, called]).toEqual([0, 2]);
    turned += 60_000;
    const message = expect.stringContaining('answered with status 503');
    expect(await call('probed')).toMatchObject({
      http: 503,
      error: { e_code: 'E3404', message, retryable: true, retry_after_ms: 60_000 },
    });
    expect(await call('probed')).toMatchObject({ error: { e_code: 'E3401', details: { state: 'open' } } });
    expect([probed, called]).toEqual([1, 2]);
    turned += 60_000;
    health = 200;
    expect(await call('probed')).toMatchObject({ http: 200, result: { body: { ok: true } } });
    expect([probed, called]).toEqual([2, 3]);
    const { events } = await layer.ask('audit.query', { limit: 1000 }, LOCAL_CALLER);
    const changes = events.filter(({ subject }) => subject === 'tool:probed@1.0.0');
    expect(changes.map(({ data }) => [data['state'], data['cause']])).toEqual([
      ['open', 'consecutive_failures'],
      ['half_open', 'waited'],
      ['open', 'probe_failed'],
      ['half_open', 'waited'],
    ]);
  });

  test('CIR-05.2 lets no call through while the probe is under way, and is probed by the next one when its caller is gone', async () => {
    await opened('held');
    turned += 60_000;
    health = 200;
    const { promise, resolve } = Promise.withResolvers<void>();
    holdProbe = promise;
    const gone = new AbortController();
    const asks = layer.invoke({ tool_id: 'held', capability_token: token, parameters: {} }, { signal: gone.signal });
    await expect.poll(() => probed).toBe(1);
    expect(await call('held')).toMatchObject({ error: { e_code: 'E3401', details: { state: 'half_open' } } });
    gone.abort();
    expect(await asks).toMatchObject({ error: { e_code: 'E3805' } });
    holdProbe = undefined;
    resolve();
    expect(called).toBe(2);
    expect(await call('held')).toMatchObject({ http: 200 });
    expect([probed, called]).toEqual([2, 3]);
  });

  test('CIR-05.2 CIR-04.4 a probe that is not answered in time has failed', async () => {
    await opened('slow', { timeout_ms: 20 });
    turned += 60_000;
    const { promise, resolve } = Promise.withResolvers<void>();
    holdProbe = promise;
    const message = expect.stringContaining('no answer within 20 ms');
    expect(await call('slow')).toMatchObject({ error: { e_code: 'E3404', message } });
    resolve();
  });

  test('CIR-01.9 CIR-05.2 a probe that leads elsewhere, or nowhere, is refused with its manifest', async () => {
    for (const url of ['http://127.0.0.1:9/', 'ftp://127.0.0.1/', `http://a:b@127.0.0.1:${port}/`, 'health']) {
      const faults = [{ path: '/execution_config/circuit_breaker_config/health_probe/url', code: 'E3403' }];
      await expect(register(probedTool('strange', { url }))).rejects.toMatchObject({
        failure: { details: { faults } },
      });
    }
  });

  test('CIR-05.4 what a manifest sets for its circuit is in the database: it holds for the next layer over it', async () => {
    const own = await temporaryDataFolder('sallyport-circuit-config-');
    try {
      const manifest = probedTool('kept');
      await using first = await open(own);
      await first.ask('tools.register', { manifest }, LOCAL_CALLER);
      await first.close();
      await using second = await open(own);
      const { capability_token } = await second.mintToken({ hosts: ['127.0.0.1'], ports: [port] });
      await second.invoke({ tool_id: 'kept', parameters: {}, capability_token });
      expect(await second.ask('circuits.get', { name: 'tool:kept@1.0.0' }, LOCAL_CALLER)).toMatchObject({
        config: { consecutive_failures_threshold: 2, half_open_strategy: 'all_or_nothing' },
      });
      const { manifest: stored } = await second.ask('tools.get', { tool_id: 'kept' }, LOCAL_CALLER);
      const { circuit_breaker_config } = manifest.execution_config;
      expect(stored.execution_config).toMatchObject({ circuit_breaker_config });
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  });
});
