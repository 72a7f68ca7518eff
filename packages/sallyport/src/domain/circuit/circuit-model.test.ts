import fc from 'fast-check';
import { expect, test } from 'vitest';
import { circuitBench } from './circuit.fixture.ts';
import type { AttemptEnd, CircuitPermit } from './circuit.ts';
import { CIRCUIT_DEFAULTS, type CircuitTerms } from './circuit-terms.ts';

/** A second implementation of the rules of 000 §3.3.5, as simple as possible. */
class Model {
  state = 'closed';
  ended: boolean[] = [];
  openedAt = 0;
  trials = { passed: 0, ended: 0, failures: 0 };
  readonly terms: CircuitTerms;
  constructor(terms: CircuitTerms) {
    this.terms = terms;
  }

  ask(nowMs: number): boolean {
    if (this.state === 'open' && nowMs >= this.openedAt + this.terms.waitMs) {
      this.state = 'half_open';
      this.trials = { passed: 0, ended: 0, failures: 0 };
    }
    if (this.state === 'closed') return true;
    if (this.state === 'open' || this.trials.passed === this.terms.trialCalls) return false;
    this.trials.passed += 1;
    return true;
  }

  end(failed: boolean, nowMs: number): void {
    if (this.state === 'closed') {
      this.ended = [...this.ended, failed].slice(-this.terms.windowSize);
      const failures = this.ended.filter(Boolean).length;
      const rate = (failures / this.ended.length) * 100;
      if (failures > 0 && this.ended.length >= this.terms.callsMin && rate >= this.terms.failureRateThreshold)
        this.open(nowMs);
    } else {
      this.trials.ended += 1;
      if (failed) this.trials.failures += 1;
      const { failures, ended } = this.trials;
      const rate = (failures / this.terms.trialCalls) * 100;
      if (failures > 0 && rate >= this.terms.failureRateThreshold) this.open(nowMs);
      else if (ended === this.terms.trialCalls) this.state = 'closed';
    }
  }

  open(nowMs: number): void {
    this.state = 'open';
    this.openedAt = nowMs;
    this.ended = [];
  }
}

const STEPS = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(), failed: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('turn' as const), ms: fc.nat(1500) }) },
  ),
  { maxLength: 300 },
);

test('CIR-01.1 any order of permits, ends and time leads where the rules lead', () => {
  const terms = fc.record({
    windowSize: fc.integer({ min: 1, max: 12 }),
    callsMin: fc.integer({ min: 1, max: 6 }),
    trialCalls: fc.integer({ min: 1, max: 5 }),
    failureRateThreshold: fc.constantFrom(0, 1, 25, 50, 75, 100),
  });
  fc.assert(
    fc.property(terms, STEPS, (given, steps) => {
      const all: CircuitTerms = { ...CIRCUIT_DEFAULTS, ...given, waitMs: 1000, halfOpenStrategy: 'all_or_nothing' };
      const callsMin = Math.min(all.callsMin, all.windowSize);
      const made = circuitBench({ ...all, callsMin });
      const model = new Model({ ...all, callsMin });
      let nowMs = 0;
      let epoch = 0;
      const held: { permit: CircuitPermit; epoch: number }[] = [];
      for (const step of steps) {
        const before = model.state;
        if (step.do === 'turn') {
          nowMs += step.ms;
          made.turn(step.ms);
        } else if (step.do === 'ask') {
          const permitted = model.ask(nowMs);
          if (model.state !== before) epoch += 1;
          const answer = made.ask();
          expect(answer.permitted).toBe(permitted);
          if (answer.permitted) held.push({ permit: answer, epoch });
        } else if (held.length > 0) {
          const [one] = held.splice(step.which % held.length, 1) as [(typeof held)[number]];
          // A call that began before the state last changed is not counted.
          if (one.epoch === epoch) model.end(step.failed, nowMs);
          if (model.state !== before) epoch += 1;
          made.end(one.permit, step.failed ? 'failure' : 'success');
        }
        expect(made.circuit.state).toBe(model.state);
      }
    }),
    { numRuns: 300 },
  );
});

test('CIR-03 whatever becomes of trials, never more are under way than the step has, and success closes in the end', () => {
  const ends = fc.array(fc.constantFrom<AttemptEnd>('success', 'failure', 'nothing', 'answered'), { maxLength: 60 });
  fc.assert(
    fc.property(
      ends,
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom('canary', 'all_or_nothing'),
      (told, trialCalls, halfOpenStrategy) => {
        const made = circuitBench({ callsMin: 1, trialCalls, halfOpenStrategy });
        made.call('failure');
        const held: CircuitPermit[] = [];
        for (const end of told) {
          made.turn(60_000);
          for (let at = 0; at < 20; at += 1) {
            const answer = made.ask();
            if (answer.permitted && answer.trial !== undefined) held.push(answer);
          }
          const { trials } = made.circuit;
          if (trials !== undefined)
            expect(trials.underWay.size + trials.ended).toBeLessThanOrEqual(trials.steps[trials.at]?.calls ?? 0);
          const one = held.shift();
          if (one !== undefined) made.end(one, end);
        }
        made.turn(120_000);
        for (let at = 0; at < 100_000 && made.circuit.state !== 'closed'; at += 1) {
          const answer = made.ask();
          if (answer.permitted) made.end(answer, 'success');
        }
        expect(made.circuit.state).toBe('closed');
      },
    ),
    { numRuns: 100 },
  );
});
