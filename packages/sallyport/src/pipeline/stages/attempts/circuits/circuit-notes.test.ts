import { describe, expect, test } from 'vitest';
import type { ChangeCause, CircuitChange, CircuitState } from '../../../../domain/circuit/circuit.ts';
import type { CircuitStore } from '../../../../external/circuit-store.port.ts';
import { memoryCircuitStore } from '../../../../storage/memory/memory-circuit-store.ts';
import { silentLog } from '../../../../telemetry/log.ts';
import { manifest } from '../../../pipeline.fixture.ts';
import { circuitEvent } from './circuit-event.ts';
import { refusalOf } from './circuit-refusals.ts';
import { type CircuitParts, createCircuits } from './circuits.ts';
import { answering, failed, NAME, never, probedCircuits, TERMS } from './probed-circuits.fixture.ts';
import { throughCircuit } from './through-circuit.ts';

describe('the event of a change', () => {
  const counts = { calls: 4, failures: 3, slowCalls: 1 };
  const eventOf = (to: CircuitState, cause: ChangeCause, more: Partial<CircuitChange> = {}) => {
    const change = { from: 'closed' as const, to, cause, counts, terms: TERMS, ...more };
    return circuitEvent({ tenantId: 'acme', name: NAME, change, at: 7.4, by: { set_by: 'ann' } });
  };

  test.each<[CircuitState, string]>([
    ['open', 'opened'],
    ['forced_open', 'opened'],
    ['half_open', 'half_opened'],
    ['closed', 'closed'],
    ['disabled', 'closed'],
  ])('CIR-04.2 to %s is %s', (to, type) => expect(eventOf(to, 'set').type).toBe(`ai.agent.circuit.${type}`));

  test.each<[ChangeCause, string]>([
    ['failure_rate', 'Failure rate 75% reached the threshold of 50%'],
    ['slow_call_rate', 'Slow call rate 25% (over 5000 ms) reached the threshold of 100%'],
    ['consecutive_failures', '1 calls in a row failed'],
    ['waited', 'The wait of 60 s is over; trial calls are let through'],
    ['trials_failed', '3 of 4 trial calls failed'],
    ['trials_slow', '1 of 4 trial calls took longer than 5000 ms'],
    ['trials_succeeded', 'Half-open test calls succeeded'],
    ['probe_failed', 'The health probe failed'],
    ['set', 'Set to open by hand'],
  ])('CIR-04.2 %s says why', (cause, reason) => {
    expect(eventOf('open', cause).data).toMatchObject({ cause, reason });
  });

  test('CIR-04.2 has what was counted, the wait where there is one, and who changed it', () => {
    const data = {
      call_count: 4,
      cause: 'set',
      circuit_name: NAME,
      failure_count: 3,
      failure_rate: 75,
      previous_state: 'closed',
      reason: 'Set to disabled by hand',
      slow_call_count: 1,
      slow_call_rate: 25,
      state: 'disabled',
      tenant_id: 'acme',
      window_size: 100,
      window_type: 'count_based',
      set_by: 'ann',
    };
    expect(eventOf('disabled', 'set')).toStrictEqual({
      id: expect.any(String),
      type: 'ai.agent.circuit.closed',
      time: 7,
      tenantId: 'acme',
      subject: NAME,
      data,
    });
    expect(eventOf('open', 'trials_failed', { trialsSucceeded: 2 }).data).toMatchObject({
      wait_ms: 60_000,
      test_success_count: 2,
    });
  });
});

test.each([
  [{ state: 'forced_open' }, false, 'E3401', undefined, /^An operator holds the circuit c open\. [^0-9]+$/],
  [{ state: 'open', waitMs: 1.2 }, false, 'E3401', 1.2, /is open: too many .+ Try again in 2 ms\.$/],
  [{ state: 'open' }, false, 'E3401', undefined, /were slow\.$/],
  [{ state: 'open', waitMs: 5 }, true, 'E3405', 5, /^The trial call .+ failed .+ Try again in 5 ms\.$/],
  [{ state: 'half_open', waitMs: 5 }, true, 'E3401', 5, /lets only some trial calls through/],
] as const)(
  'CIR-01.8 CIR-03.3 %j, after a failed trial: %s, is refused with %s',
  (refusal, trial, code, wait, message) => {
    const { state } = refusal;
    const refused = refusalOf('c', { permitted: false, ...refusal }, trial);
    expect(refused).toMatchObject({ code, message: expect.stringMatching(message), details: { circuit: 'c', state } });
    expect(refused.retryAfterMs).toBe(wait);
  },
);

describe('a change of a circuit', () => {
  /** A ledger whose commits wait for the test, and the events that were to be committed. */
  function slowLedger() {
    const given: unknown[] = [];
    const held: (() => void)[] = [];
    const commit = (unit: { readonly durability: unknown; readonly events: readonly object[] }) => {
      given.push([unit.durability, unit.events.length]);
      return new Promise<never>((resolve) => held.push(() => resolve(undefined as never)));
    };
    return { given, ledger: { commit } as CircuitParts['ledger'], letGo: () => held.shift()?.() };
  }
  const isOver = async (work: Promise<unknown>) => {
    let over = false;
    void work.finally(() => {
      over = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    return over;
  };
  const own = { service: 'mcp:x', tenantId: 'acme', agentDid: 'did:a', timeoutMs: 2_000, signal: never };

  test('AUD-01.8 is on record before the call, the request or the person that made it continues', async () => {
    const { given, ledger, letGo } = slowLedger();
    const { attempt, circuits, turn } = probedCircuits({ ledger });
    const opener = attempt();
    await opener.take();
    const steps: (() => Promise<unknown>)[] = [
      () => opener.ended(failed('E3304')),
      () => attempt().take(),
      () => circuits.set('acme', NAME, 'closed', {}),
      () => circuits.request(own, () => Promise.reject(failed('E3304'))).catch(() => undefined),
    ];
    for (const step of steps) {
      const work = step();
      expect(await isOver(work)).toBe(false);
      letGo();
      await work;
      turn(TERMS.waitMs);
    }
    // The first trial makes the circuit half open, the second one closes it.
    for (const _ of [1, 2]) {
      const trial = circuits.request(own, async () => 'well');
      expect(await isOver(trial)).toBe(false);
      letGo();
      expect(await trial).toBe('well');
    }
    const kinds = ['asynchronous', 'asynchronous', 'synchronous', 'asynchronous', 'asynchronous', 'asynchronous'];
    expect(given).toEqual(kinds.map((kind) => [kind, 1]));
  });

  test('CIR-01 that is lost is logged, by circuit and cause, and fails nothing', async () => {
    const lines: unknown[] = [];
    const noted = (event: string, fields?: object) => void lines.push([event, fields]);
    const log = { ...silentLog, warn: noted, error: noted };
    const away = () => Promise.reject(new Error('away'));
    const memory = memoryCircuitStore();
    const lossy: CircuitStore = { ...memory, report: away };
    const { attempt, circuits } = probedCircuits({ store: lossy, log });
    const call = attempt();
    await call.take();
    await call.ended();
    expect(await circuits.request(own, async () => 'well')).toBe('well');
    const unknown = probedCircuits({ store: { ...memory, permit: away }, log, unknownState: 'closed' });
    expect(await unknown.attempt().take()).toBeUndefined();
    expect(await unknown.circuits.request(own, async () => 'well')).toBe('well');
    const unrecorded = probedCircuits({ ledger: { commit: away }, log });
    await unrecorded.open();
    const cause = 'Error: away';
    expect(lines).toEqual([
      ['circuit-report-lost', { circuit: NAME, cause }],
      ['circuit-report-lost', { circuit: 'mcp:x', cause }],
      ['circuit-state-unknown', { circuit: NAME, counts_as: 'closed', cause }],
      ['circuit-state-unknown', { circuit: 'mcp:x', counts_as: 'closed', cause }],
      ['circuit-change-not-recorded', { circuit: NAME, to: 'open', e_code: 'E3900' }],
    ]);
  });
});

describe('an attempt through a circuit', () => {
  /** What the store gets of attempts. */
  function reports() {
    const ends: unknown[] = [];
    const held: number[] = [];
    const memory = memoryCircuitStore();
    const store: CircuitStore = {
      ...memory,
      permit: (...given) => {
        held.push(given[3]);
        return memory.permit(...given);
      },
      report: (...given) => {
        ends.push(given[3]);
        return memory.report(...given);
      },
    };
    return { ends, held, made: probedCircuits({ store }) };
  }

  test('CIR-01 CIR-02 is reported once, with its end and how long it took, a cancel before what the tool threw', async () => {
    const { ends, made } = reports();
    const { circuits, clock, turn } = made;
    const gone = new AbortController();
    const through = async (work: () => unknown, signal = never) => {
      const { call, ongoing, take } = made.attempt('acme', undefined, signal);
      await take();
      const attempt = async () => {
        turn(30);
        return work();
      };
      return throughCircuit({ circuits, clock }, call, ongoing, attempt);
    };
    expect(await through(() => 'well')).toBe('well');
    const cancelled = () => {
      gone.abort(failed('E3805'));
      throw failed('E3304');
    };
    await expect(through(cancelled, gone.signal)).rejects.toMatchObject({ code: 'E3304' });
    const bad = () => Promise.reject(failed('E3304'));
    await expect(through(bad)).rejects.toMatchObject({ code: 'E3304' });
    const durationMs = 30;
    expect(ends).toEqual([
      { end: 'success', durationMs },
      { end: 'nothing', durationMs },
      { end: 'failure', durationMs },
    ]);
  });

  test('CIR-01 a request of the layer is reported so too, and holds a trial no longer than it may take and a little', async () => {
    const { ends, held, made } = reports();
    const own = { service: 'mcp:x', tenantId: 'acme', agentDid: 'did:a', timeoutMs: 2_000, signal: never };
    const work = async () => {
      made.turn(20);
      return 'well';
    };
    expect(await made.circuits.request(own, work)).toBe('well');
    expect([ends, held]).toEqual([[{ end: 'success', durationMs: 20 }], [32_000]]);
  });

  test('CIR-01 of a tool without circuit goes as it is, and one of a server counts after the time for servers', async () => {
    const { attempt, store } = probedCircuits();
    const parts = { terms: TERMS, timeoutMs: 10_000, upstreamTimeoutMs: 1_000, store } as unknown as CircuitParts;
    const circuits = createCircuits({ ...parts, log: silentLog });
    const of = async (kind: 'native' | 'mcp' | 'http', durationMs: number) => {
      const { call, ongoing } = attempt('acme', { timeoutMs: 60_000 });
      const tool = manifest('t', { executor: { kind, config: { upstream: 'git', tool: 'x' } } });
      const its = { ...call, tool: { ...call.tool, manifest: tool } };
      expect(await circuits.take(its, ongoing)).toBeUndefined();
      const { permit } = ongoing.toolRun;
      if (kind !== 'native')
        await circuits.ended(its, ongoing, { failed: failed('E3103').failure, durationMs }).catch(() => undefined);
      return permit;
    };
    expect(await of('native', 0)).toBeUndefined();
    await of('http', 4_000);
    expect((await store.find('acme', 'tool:t@1.0.0'))?.state).toBe('closed');
    await of('mcp', 940);
    expect((await store.find('acme', 'mcp:git'))?.state).toBe('closed');
    await of('mcp', 960);
    expect((await store.find('acme', 'mcp:git'))?.state).toBe('open');
  });

  test('CIR-05.2 of a half-open circuit without change is no reason for a probe', async () => {
    const { open, attempt, answer, probed } = probedCircuits({ terms: { ...TERMS, trialCalls: 3 } });
    await open();
    await attempt().take();
    answer(answering(503));
    expect(await attempt().take()).toBeUndefined();
    expect(probed()).toBe(1);
  });

  test('CIR-05.2 that was due is not any more once a call found the circuit closed', async () => {
    const { open, attempt, answer, circuits, store, probed } = probedCircuits();
    await open();
    answer(() => Promise.reject(failed('E3803')));
    await attempt().take();
    await circuits.set('acme', NAME, 'closed', {});
    await open();
    // Another instance makes it half open, and sends the probe.
    expect(await store.permit('acme', NAME, TERMS, 1_000)).toMatchObject({
      permitted: true,
      trial: expect.any(Number),
    });
    expect(await attempt().take()).toBeUndefined();
    expect(probed()).toBe(1);
  });
});
