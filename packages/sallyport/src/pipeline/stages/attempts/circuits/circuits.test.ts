import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../../../api/schemas/tool-manifest.ts';
import { memoryLedgerStore } from '../../../../../test/stores/memory-ledger-store.ts';
import { type Ledger, openLedger } from '../../../../audit/ledger.ts';
import { CIRCUIT_DEFAULTS, type CircuitTerms } from '../../../../domain/circuit/circuit-terms.ts';
import type { CircuitStore } from '../../../../external/circuit-store.port.ts';
import { memoryCircuitStore } from '../../../../storage/memory/memory-circuit-store.ts';
import { silentLog } from '../../../../telemetry/log.ts';
import { manifest, pipeline, retries } from '../../../pipeline.fixture.ts';
import { circuitOf } from './circuit-of.ts';
import { type CircuitParts, createCircuits } from './circuits.ts';

const SMALL = { minimum_number_of_calls: 2, sliding_window_size: 4, permitted_number_of_calls_in_half_open_state: 1 };
const RETRIED = { retry_policy: { base_delay_ms: 1, max_delay_ms: 2, max_attempts: 6 } };
const ONCE = { retry_policy: { max_attempts: 1 } };
/** How a run of the tool ends; undefined for success. */
type End = ErrorCode | undefined | (() => Promise<unknown>);

/** A tool with a circuit of its own; the test decides how each run ends, and moves the clock of the circuits. */
async function bench(more: Partial<CircuitParts> = {}, execution: ToolManifest['execution_config'] = ONCE) {
  let turned = 0;
  const clock = { now: () => Date.now() + turned, monotonic: () => performance.now() + turned };
  const records = memoryLedgerStore();
  const ledger = await openLedger({ store: records, chainId: 'one', log: silentLog });
  const store = more.store ?? memoryCircuitStore({ clock });
  const parts: CircuitParts = {
    terms: CIRCUIT_DEFAULTS,
    unknownState: 'open',
    timeoutMs: 2000,
    upstreamTimeoutMs: 2000,
    outbound: { send: () => Promise.reject(new Error('no tool here names a probe')) },
    ledger,
    clock,
    log: silentLog,
    ...more,
    store,
  };
  const made = await pipeline({
    store: records,
    ...{ ledger, clock },
    circuits: createCircuits(parts),
    retries: { ...retries, jitter: 'none', attemptsMax: 20, budgetMs: 30_000 },
  });
  let next: End;
  let runs = 0;
  const tool = manifest('flaky', { execution_config: { ...execution, circuit_breaker_config: SMALL } });
  await made.add(tool, async () => {
    runs += 1;
    if (typeof next === 'function') return next();
    if (next !== undefined) throw new ToolLayerError(next, 'It failed.', { details: { request_sent: true } });
    return 'well';
  });
  const request = { tool_id: 'flaky', parameters: { n: 1 } };
  return {
    ...made,
    store,
    runs: () => runs,
    turn: (ms: number) => {
      turned += ms;
    },
    call: (end: End, caller = {}, given = {}) => {
      next = end;
      return made.call({ ...request, ...given }, caller);
    },
    async codes(...ends: End[]) {
      const codes = [];
      for (const end of ends) {
        next = end;
        codes.push((await made.call(request)).failure?.code);
      }
      return codes;
    },
    state: async () => (await store.find('acme', 'tool:flaky@1.0.0'))?.state,
    circuitEvents: async () =>
      (await records.events(undefined, { limit: 1000 }))
        .map(({ event }) => event)
        .filter(({ type }) => type.startsWith('ai.agent.circuit.')),
  };
}

/** A run during which the caller disconnects. */
const endedBy = (gone: AbortController) => () =>
  new Promise((_resolve, reject) => {
    setImmediate(() => {
      gone.abort();
      reject(new Error('it stopped'));
    });
  });

describe('a call through a circuit', () => {
  test('CIR-01.8 EXE-06.4 is refused while it is open, before anything runs, with the remaining wait', async () => {
    const { codes, call, runs, eventsOf } = await bench();
    expect(await codes('E3304', 'E3304', undefined)).toEqual(['E3304', 'E3304', 'E3401']);
    const refused = await call(undefined);
    expect(refused).toMatchObject({
      failure: { code: 'E3401', details: { circuit: 'tool:flaky@1.0.0', state: 'open' } },
    });
    expect(refused.failure?.retryAfterMs).toBeGreaterThan(50_000);
    expect(refused.failure?.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(runs()).toBe(2);
    const states = (await eventsOf(refused.invocationId)).map(({ data }) => data['state']);
    expect(states).not.toContain('EXECUTING');
  });

  test('EXE-06.4 EXE-06.5 PIPE-05 counts every attempt, and no attempt is made once it is open', async () => {
    const { call, runs, state } = await bench({}, RETRIED);
    const record = await call('E3304');
    expect(record).toMatchObject({ failure: { code: 'E3401' }, metadata: { attempts: 2 } });
    expect(record.metadata?.failed_attempts?.map(({ e_code }) => e_code)).toEqual(['E3304', 'E3304']);
    expect([runs(), await state()]).toEqual([2, 'open']);
  });

  test('CIR-03.3 PIPE-05 whose trial failed ends as E3405, and others as E3401', async () => {
    const { call, codes, turn, runs } = await bench({}, RETRIED);
    await call('E3304');
    turn(60_000);
    expect(await call('E3304')).toMatchObject({
      failure: { code: 'E3405', retryAfterMs: expect.any(Number), details: { state: 'open' } },
      metadata: { attempts: 1 },
    });
    expect(runs()).toBe(3);
    expect(await codes(undefined)).toEqual(['E3401']);
  });

  test('CIR-01 whose fault it is itself opens nothing', async () => {
    const { codes, state } = await bench();
    const own: ErrorCode[] = ['E3309', 'E3307', 'E3109', 'E3303', 'E3102', 'E3104'];
    expect(await codes(...own, ...own, ...own)).toEqual([...own, ...own, ...own]);
    expect(await state()).toBe('closed');
  });

  test('CIR-01 that is refused before it runs, or cancelled, counts nothing', async () => {
    const { call, state, store } = await bench();
    for (let at = 0; at < 5; at += 1) {
      await call(undefined, {}, { parameters: { n: 'x' } });
      const gone = new AbortController();
      const hang = endedBy(gone);
      expect((await call(hang, { signal: gone.signal })).failure?.code).toBe('E3805');
    }
    expect(await state()).toBe('closed');
    expect((await store.find('acme', 'tool:flaky@1.0.0'))?.counts.calls).toBe(0);
  });

  test('CIR-01 that its caller gave too little time counts nothing; the own timeout of the tool counts', async () => {
    const never = () => new Promise(() => undefined);
    const short = await bench({}, { ...ONCE, default_timeout_seconds: 30 });
    const resource_limits = { resource_limits: { timeout_seconds: 0.02 } };
    for (let at = 0; at < 3; at += 1)
      expect((await short.call(never, {}, resource_limits)).failure?.code).toBe('E3103');
    expect(await short.state()).toBe('closed');
    const own = await bench({}, { ...ONCE, default_timeout_seconds: 0.5 });
    // The stages before take their part of the time of a call, on a busy machine more of it: the clock makes up for it.
    const late = () => {
      own.turn(500);
      return never();
    };
    for (let at = 0; at < 2; at += 1) expect((await own.call(late)).failure?.code).toBe('E3103');
    expect(await own.state()).toBe('open');
  });

  test('CIR-01 that holds a trial gives it back however it ends', async () => {
    const { codes, call, turn, state } = await bench({}, { ...ONCE, rate_limit: { per_minute: 1, burst: 3 } });
    await codes('E3304', 'E3304');
    turn(60_000);
    const gone = new AbortController();
    const cancelled = endedBy(gone);
    expect((await call(cancelled, { signal: gone.signal })).failure?.code).toBe('E3805');
    // A trial call that the rate limit refuses does not occupy the half-open circuit: later calls reach the rate limit
    // too.
    expect(await codes(undefined, undefined)).toEqual(['E3303', 'E3303']);
    expect(await state()).toBe('half_open');
  });

  test('CIR-01.6 of many at once, as many are trials as are permitted', async () => {
    const { codes, call, turn, runs, state } = await bench();
    await codes('E3304', 'E3304');
    turn(60_000);
    const { promise, resolve } = Promise.withResolvers<string>();
    const before = runs();
    const calls = [1, 2, 3, 4].map(() => call(() => promise));
    const done = Promise.all(calls);
    await expect.poll(runs).toBe(before + 1);
    resolve('well');
    const ends = (await done).map(({ failure }) => failure?.code);
    expect(ends.filter((code) => code === undefined)).toHaveLength(1);
    expect(ends.filter((code) => code === 'E3401')).toHaveLength(3);
    expect(await state()).toBe('closed');
  });

  test('AUD-01.8 CIR-01 CIR-04.2 puts each change on record once, with what led to it', async () => {
    const { codes, call, turn, circuitEvents } = await bench();
    await codes('E3304');
    const opener = await call('E3306');
    turn(60_000);
    await codes(undefined, undefined);
    const common = { subject: 'tool:flaky@1.0.0', tenantid: 'acme' };
    expect(await circuitEvents()).toMatchObject([
      {
        ...common,
        type: 'ai.agent.circuit.opened',
        data: {
          tool_id: 'flaky',
          invocation_id: opener.invocationId,
          failure_count: 2,
          failure_rate: 100,
          state: 'open',
          previous_state: 'closed',
        },
      },
      { ...common, type: 'ai.agent.circuit.half_opened' },
      { ...common, type: 'ai.agent.circuit.closed', data: { test_success_count: 1 } },
    ]);
  });

  test('a ledger that takes no change of a circuit keeps no call from its end', async () => {
    const errors: string[] = [];
    const log = { ...silentLog, error: (event: string) => void errors.push(event) };
    const ledger: Pick<Ledger, 'commit'> = { commit: () => Promise.reject(new Error('the disk is full')) };
    const { codes } = await bench({ ledger, log });
    expect(await codes('E3304', 'E3304', undefined)).toEqual(['E3304', 'E3304', 'E3401']);
    expect(errors).toEqual(['circuit-change-not-recorded']);
  });
});

describe('a store of circuits', () => {
  const failing: CircuitStore = {
    permit: () => Promise.reject(new Error('redis://user:secret@host is away')),
    report: () => Promise.reject(new Error('away')),
    set: () => Promise.reject(new Error('away')),
    find: () => Promise.reject(new Error('away')),
    list: () => Promise.reject(new Error('away')),
  };
  const throwing: CircuitStore = {
    ...failing,
    permit: () => {
      throw new Error('away');
    },
  };

  test.each([failing, throwing])(
    'CIR-02.3 E3402 that does not know the state lets nothing through, and tells no reason',
    async (store) => {
      const { call, runs } = await bench({ store });
      const { failure } = await call(undefined);
      expect(failure).toMatchObject({ code: 'E3402', details: { circuit: 'tool:flaky@1.0.0' } });
      expect(JSON.stringify([failure?.message, failure?.details])).not.toContain('redis');
      expect(runs()).toBe(0);
    },
  );

  test.each([failing, throwing])('CIR-02.4 lets everything through where the operator wants it so', async (store) => {
    const { codes, runs } = await bench({ store, unknownState: 'closed' }, RETRIED);
    expect(await codes(undefined, undefined)).toEqual([undefined, undefined]);
    expect(runs()).toBe(2);
  });

  test('that answers later, and loses reports, fails no call', async () => {
    const memory = memoryCircuitStore();
    const later: CircuitStore = {
      ...memory,
      permit: async (...given) => memory.permit(...given),
      report: () => Promise.reject(new Error('away')),
    };
    const { codes } = await bench({ store: later });
    expect(await codes('E3304', undefined)).toEqual(['E3304', undefined]);
  });

  test('CIR-01 that answers later opens and refuses as one in this process', async () => {
    const memory = memoryCircuitStore();
    const later: CircuitStore = {
      ...memory,
      permit: async (...given) => memory.permit(...given),
      report: async (...given) => memory.report(...given),
    };
    const { codes, circuitEvents } = await bench({ store: later });
    expect(await codes('E3304', 'E3304', undefined)).toEqual(['E3304', 'E3304', 'E3401']);
    expect(await circuitEvents()).toHaveLength(1);
  });
});

describe('which circuit a tool goes through', () => {
  const nameOf = (kind: ToolManifest['executor']['kind'], config: object, more: Partial<ToolManifest> = {}) =>
    circuitOf(manifest('t', { executor: { kind, config: { ...config } }, ...more }), CIRCUIT_DEFAULTS, 1000)?.name;
  const own = { execution_config: { circuit_breaker_config: {} } };

  test.each<[string | undefined, ...Parameters<typeof nameOf>]>([
    ['api.example.com', 'http', { base_url: 'https://API.example.com:443/v1' }],
    ['api.example.com:8443', 'http', { base_url: 'https://api.example.com:8443' }],
    ['[::1]:8080', 'http', { base_url: 'http://[::1]:8080/x' }],
    ['mcp:git', 'mcp', { upstream: 'git', tool: 'x' }],
    ['tool:t@1.0.0', 'http', {}],
    ['tool:t@1.0.0', 'http', { base_url: 'https://api.example.com' }, own],
    ['tool:t@1.0.0', 'native', {}, own],
    [undefined, 'native', {}],
    [undefined, 'shell', {}],
    [undefined, 'web', {}],
  ])('CIR-01 EXE-06 %s is that of %s with %j', (expected, ...of) => expect(nameOf(...of)).toBe(expected));

  test('CIR-02 a timeout counts once the service was silent for as long as a call may last, or be silent', () => {
    const patience = (config: ToolManifest['execution_config']) =>
      circuitOf(
        manifest('t', { ...own, execution_config: { ...own.execution_config, ...config } }),
        CIRCUIT_DEFAULTS,
        1000,
      )?.patienceMs;
    expect([patience({}), patience({ default_timeout_seconds: 2 })]).toEqual([950, 1900]);
    expect(patience({ default_timeout_seconds: 2, heartbeat_seconds: 1.5 })).toBe(1425);
    expect(patience({ heartbeat_seconds: 3 })).toBe(950);
    expect(patience({ default_timeout_seconds: 3600 })).toBe(CIRCUIT_DEFAULTS.slowCallMs * 0.95);
  });

  test('CIR-01 what a manifest leaves out is as the settings say', () => {
    const settings: CircuitTerms = { ...CIRCUIT_DEFAULTS, waitMs: 7000 };
    const config = { circuit_breaker_config: { failure_rate_threshold: 80 } };
    expect(circuitOf(manifest('t', { execution_config: config }), settings, 1000)?.terms).toEqual({
      ...CIRCUIT_DEFAULTS,
      waitMs: 7000,
      failureRateThreshold: 80,
    });
  });
});
