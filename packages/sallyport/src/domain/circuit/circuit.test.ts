import { describe, expect, test } from 'vitest';
import { circuitBench, HELD_MS } from './circuit.fixture.ts';
import { adoptTerms, type Circuit, setCircuit } from './circuit.ts';
import { CIRCUIT_DEFAULTS, type CircuitTerms } from './circuit-terms.ts';
import { trialSteps } from './trials.ts';

describe('a closed circuit', () => {
  test('CIR-01.7 has the defaults of the specification', () => {
    expect(CIRCUIT_DEFAULTS).toEqual({
      failureRateThreshold: 50,
      slowCallRateThreshold: 100,
      slowCallMs: 5000,
      failuresInRow: 0,
      windowType: 'count_based',
      windowSize: 100,
      callsMin: 10,
      waitMs: 60_000,
      trialCalls: 10,
      halfOpenStrategy: 'canary',
    });
  });

  test('CIR-01.4 opens at the threshold, and not with fewer calls than the minimum', () => {
    const { call, circuit } = circuitBench();
    for (let at = 0; at < 9; at += 1) call('failure');
    expect(circuit.state).toBe('closed');
    expect(call('failure')).toMatchObject({ to: 'open', counts: { calls: 10, failures: 10 } });
    const half = circuitBench();
    for (let at = 0; at < 5; at += 1) half.call('success');
    for (let at = 0; at < 4; at += 1) half.call('failure');
    expect(half.circuit.state).toBe('closed');
    expect(half.call('failure')?.to).toBe('open');
  });

  test('CIR-01 below the threshold stays closed', () => {
    const { call, circuit } = circuitBench();
    for (let at = 0; at < 1000; at += 1) call(at % 100 < 49 && at >= 100 ? 'failure' : 'success');
    expect(circuit.state).toBe('closed');
  });

  test('CIR-01.5 opens when all its calls are slow, not at the very duration, and not for one that is quick', () => {
    const { call, circuit } = circuitBench();
    for (let at = 0; at < 50; at += 1) call('success', 5000);
    expect(circuit.state).toBe('closed');
    const slow = circuitBench();
    slow.call('success');
    for (let at = 0; at < 99; at += 1) slow.call('success', 5001);
    expect(slow.circuit.state).toBe('closed');
    expect(slow.call('success', 5001)).toMatchObject({ cause: 'slow_call_rate', counts: { slowCalls: 100 } });
  });

  test('CIR-05.1 opens after as many failures in a row as are named, however few calls there were', () => {
    const { call, circuit } = circuitBench({ failuresInRow: 3 });
    for (const end of [
      'failure',
      'failure',
      'success',
      'failure',
      'failure',
      'answered',
      'failure',
      'failure',
    ] as const)
      call(end);
    expect(circuit.state).toBe('closed');
    expect(call('failure')).toMatchObject({ to: 'open', cause: 'consecutive_failures', counts: { failures: 7 } });
    const never = circuitBench();
    for (let at = 0; at < 9; at += 1) never.call('failure');
    expect(never.circuit.state).toBe('closed');
  });

  test('CIR-05.1 counts failures in a row anew after it closed', () => {
    const { call, circuit, turn } = circuitBench({
      failuresInRow: 2,
      trialCalls: 1,
      halfOpenStrategy: 'all_or_nothing',
    });
    call('failure');
    call('failure');
    turn(60_000);
    expect(call('success')?.to).toBe('closed');
    call('failure');
    expect(circuit.state).toBe('closed');
    expect(call('failure')?.to).toBe('open');
  });

  test('CIR-01 with a threshold of 0 opens at the first failure, and never without one', () => {
    const { call, circuit } = circuitBench({ failureRateThreshold: 0, callsMin: 1 });
    for (let at = 0; at < 20; at += 1) call('success');
    expect(circuit.state).toBe('closed');
    expect(call('failure')?.to).toBe('open');
  });

  test('gives all calls the same permit', () => {
    const { permit } = circuitBench();
    expect(permit()).toBe(permit());
  });

  test('counts no call that began before a change in the window after it', () => {
    const { permit, call, end, circuit, turn } = circuitBench({ trialCalls: 1 });
    const early = Array.from({ length: 50 }, permit);
    for (let at = 0; at < 10; at += 1) call('failure');
    for (const held of early) expect(end(held, 'success')).toBeUndefined();
    expect(circuit.state).toBe('open');
    turn(60_000);
    call('success');
    for (const held of early) expect(end(held, 'failure')).toBeUndefined();
    expect([circuit.state, circuit.window.counts.calls]).toEqual(['closed', 0]);
  });

  test('takes other terms as they come; a window of another kind begins empty', () => {
    const { circuit, call } = circuitBench();
    for (let at = 0; at < 9; at += 1) call('failure');
    adoptTerms(circuit, { ...CIRCUIT_DEFAULTS, waitMs: 5 });
    expect(circuit.window.counts.calls).toBe(9);
    adoptTerms(circuit, { ...CIRCUIT_DEFAULTS, windowSize: 50 });
    expect([circuit.window.counts.calls, circuit.state]).toEqual([0, 'closed']);
  });
});

describe('an open circuit', () => {
  const opened = (terms: Partial<CircuitTerms> = {}) => {
    const made = circuitBench({ callsMin: 1, ...terms });
    made.call('failure');
    return made;
  };

  test('CIR-01 tells how long it is still open, to the end', () => {
    const { ask, turn } = opened();
    expect(ask()).toEqual({ permitted: false, state: 'open', waitMs: 60_000 });
    turn(59_999);
    expect(ask()).toEqual({ permitted: false, state: 'open', waitMs: 1 });
    turn(1);
    expect(ask()).toMatchObject({ permitted: true, trial: 1, change: { from: 'open', to: 'half_open' } });
  });

  test('waits once more, and no longer, when the clock goes back', () => {
    const { ask, turn } = opened();
    turn(-86_400_000);
    expect(ask()).toMatchObject({ waitMs: 60_000 });
    turn(60_000);
    expect(ask().permitted).toBe(true);
  });

  test('CIR-03.1 canary lets 1, 10, 50 and 100 percent of the calls through, and closes after 10 trials', () => {
    const { ask, end, turn, circuit } = opened();
    turn(60_000);
    const passed = new Map<number, number>();
    const asked = new Map<number, number>();
    while ((circuit.state as Circuit['state']) !== 'closed') {
      const answer = ask();
      const share = circuit.trials?.steps[circuit.trials.at]?.share ?? 0;
      asked.set(share, (asked.get(share) ?? 0) + 1);
      if (!answer.permitted) continue;
      passed.set(share, (passed.get(share) ?? 0) + 1);
      end(answer, 'success');
    }
    expect([...passed]).toEqual([
      [1, 1],
      [10, 2],
      [50, 3],
      [100, 4],
    ]);
    expect([...asked]).toEqual([
      [1, 1],
      [10, 11],
      [50, 5],
      [100, 4],
    ]);
  });

  test.each([
    [1, [[1, 1]]],
    [
      2,
      [
        [1, 1],
        [50, 1],
      ],
    ],
    [
      4,
      [
        [1, 1],
        [10, 1],
        [50, 1],
        [100, 1],
      ],
    ],
    [
      10,
      [
        [1, 1],
        [10, 2],
        [50, 3],
        [100, 4],
      ],
    ],
    [
      100,
      [
        [1, 10],
        [10, 20],
        [50, 30],
        [100, 40],
      ],
    ],
  ])('CIR-03 the steps of %i trials', (trialCalls, expected) => {
    const steps = trialSteps({ ...CIRCUIT_DEFAULTS, trialCalls });
    expect(steps.map(({ share, calls }) => [share, calls])).toEqual(expected);
    const whole = trialSteps({ ...CIRCUIT_DEFAULTS, trialCalls, halfOpenStrategy: 'all_or_nothing' });
    expect(whole).toEqual([{ share: 100, calls: trialCalls }]);
  });

  test('CIR-03.2 in canary the first failing trial opens it again; all_or_nothing judges the rate', () => {
    const canary = opened();
    canary.turn(60_000);
    expect(canary.call('failure')).toMatchObject({ to: 'open', cause: 'trials_failed' });
    const whole = opened({ halfOpenStrategy: 'all_or_nothing' });
    whole.turn(60_000);
    for (let at = 0; at < 4; at += 1) expect(whole.call('failure')).toBeUndefined();
    for (let at = 0; at < 5; at += 1) expect(whole.call('success')).toBeUndefined();
    expect(whole.call('success')).toMatchObject({ to: 'closed', trialsSucceeded: 6 });
    const failing = opened({ halfOpenStrategy: 'all_or_nothing' });
    failing.turn(60_000);
    for (let at = 0; at < 4; at += 1) failing.call('failure');
    expect(failing.call('failure')).toMatchObject({ to: 'open', counts: { calls: 5, failures: 5 } });
  });

  test('CIR-03 slow trials open it again', () => {
    const { call, turn } = opened({ trialCalls: 1 });
    turn(60_000);
    expect(call('success', 5001)).toMatchObject({ to: 'open', cause: 'trials_slow' });
  });

  test('CIR-03 a trial that was given up is as if it had not been: the next call is one', () => {
    const { permit, ask, end, turn } = opened();
    turn(60_000);
    for (let at = 0; at < 50; at += 1) {
      const held = permit();
      expect(ask().permitted).toBe(false);
      expect(end(held, 'nothing')).toBeUndefined();
    }
  });

  test('CIR-03 a trial that leaks keeps it half open no longer than it may be held', () => {
    const { permit, ask, end, turn } = opened({ trialCalls: 1 });
    turn(60_000);
    const leaked = permit();
    turn(HELD_MS - 1);
    expect(ask().permitted).toBe(false);
    turn(1);
    const next = permit();
    expect(end(leaked, 'failure')).toBeUndefined();
    expect(end(next, 'success')?.to).toBe('closed');
  });

  test('shows what opened it, and its trials', () => {
    const { view, turn, permit } = opened();
    expect(view()).toMatchObject({
      state: 'open',
      counts: { calls: 1, failures: 1 },
      waitMs: 60_000,
      lastFailureAt: 0,
    });
    turn(60_000);
    permit();
    expect(view()).toMatchObject({ state: 'half_open', trials: { share: 1, calls: 1, ended: 0, underWay: 1 } });
  });
});

test('a person sets a state from any other, and nothing but a person ends it', () => {
  for (const state of ['forced_open', 'disabled', 'closed'] as const) {
    const { circuit, call, turn, ask } = circuitBench({ callsMin: 1 });
    call('failure');
    expect(setCircuit(circuit, state, 0)).toMatchObject({ from: 'open', to: state, cause: 'set' });
    turn(86_400_000);
    expect(ask().permitted).toBe(state !== 'forced_open');
    expect(circuit.state).toBe(state);
  }
});
