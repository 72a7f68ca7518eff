import type { CircuitTerms } from './circuit-terms.ts';

/** What a trial call says about the service; `nothing` when it was given up, so that its place is free again. */
export type TrialEnd = 'success' | 'failure' | 'nothing';

/** One step of the trials: the share of calls that is let through, and the number that has to end. */
export interface TrialStep {
  /** Percent, 1 to 100. */
  readonly share: number;
  readonly calls: number;
}

/** Shares of the strategy canary (G-009), each with the part of all trials that is done after it. */
const CANARY = [
  { share: 1, done: 0.1 },
  { share: 10, done: 0.3 },
  { share: 50, done: 0.6 },
  { share: 100, done: 1 },
] as const;

/** The steps of a half-open circuit, in order. Their numbers of calls add up to `trialCalls`; none is 0. */
export function trialSteps({ halfOpenStrategy, trialCalls }: CircuitTerms): readonly TrialStep[] {
  if (halfOpenStrategy === 'all_or_nothing') return [{ share: 100, calls: trialCalls }];
  let done = 0;
  return CANARY.flatMap((step) => {
    const calls = Math.ceil(trialCalls * step.done) - done;
    done += calls;
    return calls === 0 ? [] : [{ share: step.share, calls }];
  });
}

/** The trial calls of a half-open circuit. */
export interface Trials {
  readonly steps: readonly TrialStep[];
  /** Index of the present step. */
  at: number;
  /** Calls that asked during this step. */
  asked: number;
  /** The calls that were let through, without those given up. */
  passed: number;
  /** The let-through calls that ended. */
  ended: number;
  failures: number;
  slowCalls: number;
  /** Trials of all steps that succeeded. */
  succeeded: number;
  /** Latest time at which each running trial gives its place back, monotonic ms, by number. */
  readonly underWay: Map<number, number>;
  lastNumber: number;
}

/** Creates trials, none of which has begun. */
export function newTrials(terms: CircuitTerms): Trials {
  return {
    steps: trialSteps(terms),
    at: 0,
    asked: 0,
    passed: 0,
    ended: 0,
    failures: 0,
    slowCalls: 0,
    succeeded: 0,
    underWay: new Map(),
    lastNumber: 0,
  };
}

/** Lets a call through as a trial, or returns undefined. The first call of a step is always let through. */
export function beginTrial(trials: Trials, nowMs: number, heldMsMax: number): number | undefined {
  const step = trials.steps[trials.at] as TrialStep;
  trials.asked += 1;
  if (trials.ended + trials.underWay.size >= step.calls) freeLeaked(trials, nowMs);
  const hasRoom = trials.ended + trials.underWay.size < step.calls;
  if (!hasRoom || trials.passed >= Math.ceil((trials.asked * step.share) / 100)) return undefined;
  trials.passed += 1;
  trials.lastNumber += 1;
  trials.underWay.set(trials.lastNumber, nowMs + heldMsMax);
  return trials.lastNumber;
}

/** Frees the places of trials whose end was not reported in time. */
function freeLeaked(trials: Trials, nowMs: number): void {
  for (const [number, until] of trials.underWay) {
    if (until > nowMs) continue;
    trials.underWay.delete(number);
    trials.passed -= 1;
  }
}

/** The verdict after a trial ended: `failed` and `slow` open the circuit again, `succeeded` closes it. */
export type TrialVerdict = 'goes_on' | 'failed' | 'slow' | 'succeeded';

/** Counts the end of a trial. A trial that is no longer known counts nothing. */
export function endTrial(
  trials: Trials,
  terms: CircuitTerms,
  number: number,
  { end, slow }: { readonly end: TrialEnd; readonly slow: boolean },
): TrialVerdict {
  if (!trials.underWay.delete(number)) return 'goes_on';
  if (end === 'nothing') {
    trials.passed -= 1;
    return 'goes_on';
  }
  trials.ended += 1;
  if (end === 'failure') trials.failures += 1;
  else trials.succeeded += 1;
  if (slow) trials.slowCalls += 1;
  return judge(trials, terms);
}

/** Decides as soon as the rest of the step cannot change the verdict. */
function judge(trials: Trials, terms: CircuitTerms): TrialVerdict {
  const { calls } = trials.steps[trials.at] as TrialStep;
  const { failures, slowCalls } = trials;
  if (failures > 0 && failures * 100 >= terms.failureRateThreshold * calls) return 'failed';
  if (slowCalls > 0 && slowCalls * 100 >= terms.slowCallRateThreshold * calls) return 'slow';
  if (trials.ended < calls) return 'goes_on';
  if (trials.at + 1 === trials.steps.length) return 'succeeded';
  trials.at += 1;
  trials.asked = 0;
  trials.passed = 0;
  trials.ended = 0;
  trials.failures = 0;
  trials.slowCalls = 0;
  return 'goes_on';
}
