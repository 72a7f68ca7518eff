import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Clock } from '@sallyport/std/clock';
import type { AttemptEnd, CircuitAnswer, CircuitPermit } from '../domain/circuit/circuit.ts';
import { CIRCUIT_DEFAULTS, type CircuitTerms } from '../domain/circuit/circuit-terms.ts';
import type { CircuitStore } from './circuit-store.port.ts';

/** A clock that the suite advances. */
interface TurnedClock extends Clock {
  turn(ms: number): void;
}

/** Small numbers, for short cases; the circuit stays open for 1000 ms. */
const TERMS: CircuitTerms = {
  ...CIRCUIT_DEFAULTS,
  windowSize: 4,
  callsMin: 2,
  waitMs: 1_000,
  trialCalls: 2,
  halfOpenStrategy: 'all_or_nothing',
};
const HELD_MS = 10_000;
const [TENANT, NAME] = ['acme', 'api.example.com'];

/** Conformance of every CircuitStore. `open` returns a store without circuits each time, which uses only `clock`. */
export function circuitStoreConformance(
  test: (name: string, run: () => Promise<void>) => void,
  adapter: string,
  open: (clock: Clock) => Promise<{ readonly store: CircuitStore; close(): Promise<void> }>,
): void {
  const check = (name: string, run: (bench: Bench) => Promise<void>): void =>
    test(`${name} (${adapter})`, async () => {
      const clock = turnedClock();
      const { store, close } = await open(clock);
      try {
        await run(benchOf(store, clock));
      } finally {
        await close();
      }
    });

  check('a circuit that nobody knows is closed', async ({ ask, store }) => {
    equal(await store.find(TENANT, NAME), undefined);
    equal((await ask()).permitted, true);
    equal((await store.find(TENANT, NAME))?.state, 'closed');
  });

  check(
    'CIR-01.8 it opens once, by the call that reaches the threshold, and refuses with the remaining wait',
    async (bench) => {
      const { fail, ask, clock } = bench;
      equal(await fail(), undefined);
      const change = await fail();
      deepEqual([change?.from, change?.to, change?.cause], ['closed', 'open', 'failure_rate']);
      deepEqual(change?.counts, { calls: 2, failures: 2, slowCalls: 0 });
      deepEqual(await ask(), { permitted: false, state: 'open', waitMs: 1000 });
      clock.turn(999);
      deepEqual(await ask(), { permitted: false, state: 'open', waitMs: 1 });
    },
  );

  check(
    'CIR-01.6 after the wait as many trials are let through as are permitted, and one call is notified of it',
    async (bench) => {
      await bench.opened();
      bench.clock.turn(1000);
      const answers = await Promise.all(Array.from({ length: 20 }, () => bench.ask()));
      equal(answers.filter(({ permitted }) => permitted).length, 2);
      equal(answers.filter((answer) => answer.permitted && answer.change?.to === 'half_open').length, 1);
      const refused = answers.find(({ permitted }) => !permitted);
      equal(refused?.permitted === false && refused.state, 'half_open');
    },
  );

  check('CIR-01 trials that succeed close it, and what was counted is forgotten', async (bench) => {
    const [one, other] = await bench.trials();
    equal(await bench.end(one, 'success'), undefined);
    const change = await bench.end(other, 'success');
    deepEqual([change?.from, change?.to, change?.trialsSucceeded], ['half_open', 'closed', 2]);
    equal((await bench.store.find(TENANT, NAME))?.counts.calls, 0);
  });

  check('CIR-01 trials that fail open it again for a whole wait', async (bench) => {
    const [one] = await bench.trials();
    bench.clock.turn(500);
    const change = await bench.end(one, 'failure');
    deepEqual([change?.from, change?.to, change?.cause], ['half_open', 'open', 'trials_failed']);
    deepEqual(await bench.ask(), { permitted: false, state: 'open', waitMs: 1000 });
  });

  check('a permit counts once, and never beyond the next change', async (bench) => {
    const early = permitOf(await bench.ask());
    await bench.opened();
    equal(await bench.end(early, 'failure'), undefined);
    bench.clock.turn(1000);
    const one = permitOf(await bench.ask());
    const other = permitOf(await bench.ask());
    equal(await bench.end(early, 'success'), undefined);
    equal(await bench.end(one, 'success'), undefined);
    equal(await bench.end(one, 'success'), undefined);
    equal((await bench.end(other, 'success'))?.to, 'closed');
    equal(await bench.end(other, 'failure'), undefined);
    equal((await bench.store.find(TENANT, NAME))?.counts.calls, 0);
  });

  check('a trial that is given up, and one whose end nobody tells in time, make room for others', async (bench) => {
    const [one] = await bench.trials();
    equal((await bench.ask()).permitted, false);
    equal(await bench.end(one, 'nothing'), undefined);
    equal((await bench.ask()).permitted, true);
    equal((await bench.ask()).permitted, false);
    bench.clock.turn(HELD_MS);
    equal((await bench.ask()).permitted, true);
    equal((await bench.ask()).permitted, true);
    equal((await bench.ask()).permitted, false);
  });

  check('CIR-03.1 canary lets a share of the calls through that grows from step to step', async (bench) => {
    const terms: CircuitTerms = { ...TERMS, halfOpenStrategy: 'canary', trialCalls: 4 };
    await bench.opened(terms);
    bench.clock.turn(1000);
    for (const share of [1, 10, 50, 100]) {
      const answers = [];
      const calls = 100;
      for (let at = 0; at < calls; at += 1) answers.push(await bench.ask(terms));
      equal((await bench.store.find(TENANT, NAME))?.trials?.share, share);
      const passed = answers.filter(({ permitted }) => permitted);
      equal(passed.length, 1, 'one trial a step');
      const change = await bench.end(permitOf(passed[0]), 'success');
      equal(change?.to, share === 100 ? 'closed' : undefined);
    }
  });

  check('a call that says nothing of the service counts nothing; one that was answered closes', async (bench) => {
    for (const end of ['nothing', 'answered'] as const)
      for (let at = 0; at < 5; at += 1) await bench.end(permitOf(await bench.ask()), end);
    equal((await bench.store.find(TENANT, NAME))?.counts.calls, 0);
    const [one, other] = await bench.trials();
    equal(await bench.end(one, 'answered'), undefined);
    equal((await bench.end(other, 'answered'))?.to, 'closed');
  });

  check('CIR-01.5 slow calls open it too', async (bench) => {
    const slow = { end: 'success', durationMs: TERMS.slowCallMs + 1 } as const;
    await bench.store.report(TENANT, NAME, permitOf(await bench.ask()), slow);
    const change = await bench.store.report(TENANT, NAME, permitOf(await bench.ask()), slow);
    equal(change?.cause, 'slow_call_rate');
  });

  check('CIR-01.2 what a person sets stays: nothing passes, or everything, until it is closed', async (bench) => {
    equal(await bench.store.set(TENANT, NAME, 'forced_open'), undefined);
    const held = permitOf(await bench.ask());
    equal((await bench.store.set(TENANT, NAME, 'forced_open'))?.to, 'forced_open');
    bench.clock.turn(3_600_000);
    deepEqual(await bench.ask(), { permitted: false, state: 'forced_open' });
    equal(await bench.end(held, 'success'), undefined);
    equal((await bench.store.set(TENANT, NAME, 'disabled'))?.from, 'forced_open');
    for (let at = 0; at < 20; at += 1) equal(await bench.fail(), undefined);
    equal((await bench.ask()).permitted, true);
    equal((await bench.store.set(TENANT, NAME, 'closed'))?.to, 'closed');
    equal((await bench.store.set(TENANT, NAME, 'closed'))?.to, 'closed');
    await bench.opened();
  });

  check('tenants and names have circuits of their own, whatever stands in them', async (bench) => {
    await bench.opened();
    const places = [
      ['globex', NAME],
      [TENANT, ''],
      ['', `${TENANT}${NAME}`],
      [TENANT, '__proto__'],
      [TENANT, 'a\nb\0:{}*"\u{1f4a5}'],
      [`${TENANT}a`, 'pi.example.com'],
    ] as const;
    for (const [tenant, name] of places)
      equal((await bench.store.permit(tenant, name, TERMS, HELD_MS)).permitted, true, JSON.stringify([tenant, name]));
    equal((await bench.ask()).permitted, false);
    deepEqual(names(await bench.store.list('globex', { limit: 10 })), [NAME]);
  });

  check('they are listed by name, a page at a time, and by state', async (bench) => {
    for (const name of ['b', 'a', 'c']) await bench.store.permit(TENANT, name, TERMS, HELD_MS);
    deepEqual(names(await bench.store.list(TENANT, { limit: 2 })), ['a', 'b']);
    deepEqual(names(await bench.store.list(TENANT, { limit: 2, after: 'b' })), ['c']);
    await bench.store.set(TENANT, 'c', 'disabled');
    deepEqual(names(await bench.store.list(TENANT, { limit: 9, state: 'disabled' })), ['c']);
    deepEqual(await bench.store.list('nobody', { limit: 9 }), []);
  });

  check('it shows since when, and when it failed last', async (bench) => {
    bench.clock.turn(5_000);
    await bench.opened();
    const at = bench.clock.now();
    bench.clock.turn(400);
    const shown = await bench.store.find(TENANT, NAME);
    deepEqual([shown?.state, shown?.since, shown?.lastFailureAt, shown?.waitMs], ['open', at, at, 600]);
    deepEqual([shown?.counts.failures, shown?.terms.windowSize], [2, 4]);
  });

  check('of calls at the same time one opens it', async (bench) => {
    const permits = await Promise.all(Array.from({ length: 30 }, () => bench.ask()));
    const changes = await Promise.all(permits.map((permit) => bench.end(permitOf(permit), 'failure')));
    equal(changes.filter((change) => change !== undefined).length, 1);
  });
}

interface Bench {
  readonly store: CircuitStore;
  readonly clock: TurnedClock;
  ask(terms?: CircuitTerms): Promise<CircuitAnswer>;
  end(permit: CircuitPermit, end: AttemptEnd): Promise<Awaited<ReturnType<CircuitStore['report']>>>;
  /** Makes an attempt that fails. */
  fail(terms?: CircuitTerms): Promise<Awaited<ReturnType<CircuitStore['report']>>>;
  /** Makes attempts fail until the circuit is open. */
  opened(terms?: CircuitTerms): Promise<void>;
  /** Opens the circuit, waits until it is half open, and takes its two trials. */
  trials(): Promise<readonly [CircuitPermit, CircuitPermit]>;
}

function benchOf(store: CircuitStore, clock: TurnedClock): Bench {
  const ask = async (terms = TERMS) => store.permit(TENANT, NAME, terms, HELD_MS);
  const end: Bench['end'] = async (permit, how) => store.report(TENANT, NAME, permit, { end: how, durationMs: 1 });
  const fail = async (terms?: CircuitTerms) => end(permitOf(await ask(terms)), 'failure');
  const opened = async (terms?: CircuitTerms): Promise<void> => {
    for (let at = 0; at < 4; at += 1) if ((await fail(terms))?.to === 'open') return;
    ok(false, 'it did not open');
  };
  return {
    store,
    clock,
    ask,
    end,
    fail,
    opened,
    async trials() {
      await opened();
      clock.turn(TERMS.waitMs);
      return [permitOf(await ask()), permitOf(await ask())];
    },
  };
}

function permitOf(answer: CircuitAnswer | undefined): CircuitPermit {
  if (answer?.permitted === true) return answer;
  throw new Error(`refused: ${JSON.stringify(answer)}`);
}

const names = (circuits: readonly { readonly name: string }[]): string[] => circuits.map(({ name }) => name);

function turnedClock(): TurnedClock {
  let at = 1_000_000;
  return {
    now: () => at,
    monotonic: () => at,
    turn(ms) {
      at += ms;
    },
  };
}
