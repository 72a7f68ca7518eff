import { type CircuitTerms, isSameTerms } from './circuit-terms.ts';
import { type CallCounts, type SlidingWindow, slidingWindow } from './sliding-window.ts';
import { beginTrial, endTrial, newTrials, type TrialStep, type Trials } from './trials.ts';

/** `forced_open` and `disabled` are set by people, and stay until a person sets another state. */
export type CircuitState = 'closed' | 'open' | 'half_open' | 'forced_open' | 'disabled';

/** States that a person can set. `closed` begins anew. */
export type SetState = Extract<CircuitState, 'closed' | 'forced_open' | 'disabled'>;

/**
 * What the end of an attempt says about the service. `answered`: the service works and refused the request, which is no
 * failure of it; such a call counts in no window, and as a trial it succeeded. `nothing`: the attempt is not counted at
 * all. `unhealthy`: the health probe in place of a trial failed, which opens the circuit whatever else was counted.
 */
export type AttemptEnd = 'success' | 'failure' | 'answered' | 'nothing' | 'unhealthy';

/** Lets an attempt through. Plain data: it may be sent elsewhere, and is void in another epoch. */
export interface CircuitPermit {
  readonly permitted: true;
  /** The period between two changes of the circuit that it belongs to. */
  readonly epoch: number;
  /** Number of the trial; absent unless the circuit is half open. */
  readonly trial?: number;
  /** The change of the circuit that this attempt caused. */
  readonly change?: CircuitChange;
}

/** Refuses an attempt, which then holds nothing. */
export interface CircuitRefusal {
  readonly permitted: false;
  readonly state: CircuitState;
  /** Ms until calls are let through again; absent when unknown. */
  readonly waitMs?: number;
}

/** The answer of a circuit to an attempt. */
export type CircuitAnswer = CircuitPermit | CircuitRefusal;

/** Why a circuit changed. */
export type ChangeCause =
  | 'failure_rate'
  | 'slow_call_rate'
  | 'consecutive_failures'
  | 'waited'
  | 'trials_failed'
  | 'trials_slow'
  | 'trials_succeeded'
  | 'probe_failed'
  | 'set';

/** One change of a circuit, as it is audited. */
export interface CircuitChange {
  readonly from: CircuitState;
  readonly to: CircuitState;
  readonly cause: ChangeCause;
  /** Counts of the window, or of the step of trials, that decided. */
  readonly counts: CallCounts;
  /** Trials that succeeded, if there were any. */
  readonly trialsSucceeded?: number;
  readonly terms: CircuitTerms;
}

/** A sequence of numbers in which no two periods of any circuits are the same; one for each store. */
export interface Epochs {
  last: number;
}

/** One circuit; only the functions of this file change it. */
export interface Circuit {
  terms: CircuitTerms;
  state: CircuitState;
  readonly epochs: Epochs;
  /** The permit while the state is closed or disabled; shared by all calls. */
  permit: CircuitPermit;
  window: SlidingWindow;
  /** Failures since the last change, or the last call in which the service worked. */
  failuresInRow: number;
  trials: Trials | undefined;
  /** Counts of the window, or the step, when the circuit opened. */
  opened: CallCounts | undefined;
  /** Monotonic ms. */
  changedAt: number;
  lastFailureAt: number | undefined;
}

/** A circuit as it is shown. Times are monotonic ms. */
export interface CircuitView {
  readonly state: CircuitState;
  readonly changedAt: number;
  readonly lastFailureAt?: number;
  /** Counts of the window; while open, of the window that opened it; while half open, of the step. */
  readonly counts: CallCounts;
  readonly waitMs?: number;
  readonly trials?: TrialStep & { readonly ended: number; readonly underWay: number; readonly succeeded: number };
  readonly terms: CircuitTerms;
}

/** Retry hint of a half-open circuit, ms: the end of its trials is not known in advance. */
const TRIAL_RETRY_MS = 1_000;

/** A closed circuit without any calls yet. */
export function newCircuit(terms: CircuitTerms, epochs: Epochs, nowMs: number): Circuit {
  return {
    terms,
    state: 'closed',
    epochs,
    permit: nextPermit(epochs),
    window: slidingWindow(terms),
    failuresInRow: 0,
    trials: undefined,
    opened: undefined,
    changedAt: nowMs,
    lastFailureAt: undefined,
  };
}

/** Adopts new terms. A window of another kind begins empty; the state stays. */
export function adoptTerms(circuit: Circuit, terms: CircuitTerms): void {
  if (isSameTerms(circuit.terms, terms)) return;
  const { windowType, windowSize } = circuit.terms;
  circuit.terms = terms;
  if (terms.windowType !== windowType || terms.windowSize !== windowSize) circuit.window = slidingWindow(terms);
}

/**
 * Decides whether an attempt may go.
 * @param heldMsMax ms after which a trial gives its place back, even if its end was not reported
 */
export function askCircuit(circuit: Circuit, nowMs: number, heldMsMax: number): CircuitAnswer {
  switch (circuit.state) {
    case 'closed':
    case 'disabled':
      return circuit.permit;
    case 'forced_open':
      return { permitted: false, state: 'forced_open' };
    case 'open': {
      const waitMs = remainingMs(circuit, nowMs);
      if (waitMs > 0) return { permitted: false, state: 'open', waitMs };
      const { opened = NO_CALLS } = circuit;
      circuit.trials = newTrials(circuit.terms);
      const change = changed(circuit, 'half_open', 'waited', opened, nowMs);
      return tried(circuit, nowMs, heldMsMax, change);
    }
    case 'half_open':
      return tried(circuit, nowMs, heldMsMax);
  }
}

function tried(circuit: Circuit, nowMs: number, heldMsMax: number, change?: CircuitChange): CircuitAnswer {
  const trial = beginTrial(circuit.trials as Trials, nowMs, heldMsMax);
  if (trial === undefined) return { permitted: false, state: 'half_open', waitMs: TRIAL_RETRY_MS };
  return { permitted: true, epoch: circuit.permit.epoch, trial, ...(change === undefined ? {} : { change }) };
}

/** Counts the end of an attempt. An attempt that began before the last change says nothing about the time after it. */
export function reportToCircuit(
  circuit: Circuit,
  permit: CircuitPermit,
  { end, durationMs, nowMs }: { readonly end: AttemptEnd; readonly durationMs: number; readonly nowMs: number },
): CircuitChange | undefined {
  if (permit.epoch !== circuit.permit.epoch) return undefined;
  if (end === 'failure' || end === 'unhealthy') circuit.lastFailureAt = nowMs;
  const slow = durationMs > circuit.terms.slowCallMs;
  if (circuit.state === 'half_open') return endOfTrial(circuit, permit, end, slow, nowMs);
  if (circuit.state !== 'closed' || end === 'nothing' || end === 'unhealthy') return undefined;
  circuit.failuresInRow = end === 'failure' ? circuit.failuresInRow + 1 : 0;
  if (end === 'answered') return undefined;
  const { window, terms } = circuit;
  window.add(end === 'failure', slow, nowMs);
  const cause = reached(window.counts, terms) ?? reachedInRow(circuit);
  if (cause === undefined) return undefined;
  return opens(circuit, cause, { ...window.counts }, nowMs);
}

function reached({ calls, failures, slowCalls }: CallCounts, terms: CircuitTerms): ChangeCause | undefined {
  if (calls < terms.callsMin) return undefined;
  if (failures > 0 && failures * 100 >= terms.failureRateThreshold * calls) return 'failure_rate';
  return slowCalls > 0 && slowCalls * 100 >= terms.slowCallRateThreshold * calls ? 'slow_call_rate' : undefined;
}

const reachedInRow = ({ failuresInRow, terms }: Circuit): ChangeCause | undefined =>
  terms.failuresInRow > 0 && failuresInRow >= terms.failuresInRow ? 'consecutive_failures' : undefined;

function endOfTrial(
  circuit: Circuit,
  { trial = 0 }: CircuitPermit,
  reported: AttemptEnd,
  slow: boolean,
  nowMs: number,
): CircuitChange | undefined {
  const trials = circuit.trials as Trials;
  const end = reported === 'answered' ? 'success' : reported === 'unhealthy' ? 'failure' : reported;
  const verdict = endTrial(trials, circuit.terms, trial, { end, slow });
  if (verdict === 'goes_on' && reported !== 'unhealthy') return undefined;
  const { ended: calls, failures, slowCalls, succeeded } = trials;
  const counts = { calls, failures, slowCalls };
  if (reported === 'unhealthy') return opens(circuit, 'probe_failed', counts, nowMs, succeeded);
  if (verdict !== 'succeeded')
    return opens(circuit, verdict === 'failed' ? 'trials_failed' : 'trials_slow', counts, nowMs, succeeded);
  circuit.opened = undefined;
  return changed(circuit, 'closed', 'trials_succeeded', counts, nowMs, succeeded);
}

function opens(circuit: Circuit, cause: ChangeCause, counts: CallCounts, nowMs: number, trials?: number) {
  circuit.opened = counts;
  return changed(circuit, 'open', cause, counts, nowMs, trials);
}

/** Sets the state by hand. Setting the same state again begins anew, and is a change too. */
export function setCircuit(circuit: Circuit, state: SetState, nowMs: number): CircuitChange {
  const counts = { ...viewOfCircuit(circuit, nowMs).counts };
  circuit.opened = undefined;
  return changed(circuit, state, 'set', counts, nowMs);
}

/** The present view of the circuit. */
export function viewOfCircuit(circuit: Circuit, nowMs: number): CircuitView {
  const { state, changedAt, lastFailureAt, terms, trials, opened, window } = circuit;
  window.expire(nowMs);
  return {
    state,
    changedAt,
    terms,
    counts: trials === undefined ? { ...(opened ?? window.counts) } : { ...stepCounts(trials) },
    ...(lastFailureAt === undefined ? {} : { lastFailureAt }),
    ...(state === 'open' ? { waitMs: remainingMs(circuit, nowMs) } : {}),
    ...(trials === undefined ? {} : { trials: trialsShown(trials) }),
  };
}

const stepCounts = ({ ended: calls, failures, slowCalls }: Trials): CallCounts => ({ calls, failures, slowCalls });

const trialsShown = ({ steps, at, ended, underWay, succeeded }: Trials): NonNullable<CircuitView['trials']> => ({
  ...(steps[at] as TrialStep),
  ended,
  underWay: underWay.size,
  succeeded,
});

const NO_CALLS: CallCounts = { calls: 0, failures: 0, slowCalls: 0 };

/** Limited, so that after a clock was set back nobody waits longer than one full time. */
function remainingMs(circuit: Circuit, nowMs: number): number {
  if (nowMs < circuit.changedAt) circuit.changedAt = nowMs;
  return Math.max(0, circuit.changedAt + circuit.terms.waitMs - nowMs);
}

/** Every change begins a new epoch with an empty window, and counts failures in a row anew. */
function changed(
  circuit: Circuit,
  to: CircuitState,
  cause: ChangeCause,
  counts: CallCounts,
  nowMs: number,
  trialsSucceeded?: number,
): CircuitChange {
  const { state: from, terms } = circuit;
  circuit.state = to;
  circuit.changedAt = nowMs;
  circuit.permit = nextPermit(circuit.epochs);
  circuit.window = slidingWindow(terms);
  circuit.failuresInRow = 0;
  if (to !== 'half_open') circuit.trials = undefined;
  return { from, to, cause, counts, terms, ...(trialsSucceeded === undefined ? {} : { trialsSucceeded }) };
}

function nextPermit(epochs: Epochs): CircuitPermit {
  epochs.last += 1;
  return { permitted: true, epoch: epochs.last };
}
