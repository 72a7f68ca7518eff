import { type CircuitTerms, isSameTerms } from './circuit-terms.ts';
import { type CallCounts, type SlidingWindow, slidingWindow } from './sliding-window.ts';
import { beginTrial, endTrial, newTrials, type TrialStep, type Trials } from './trials.ts';

/** `forced_open` and `disabled` are set by people, and stay until somebody sets another. */
export type CircuitState = 'closed' | 'open' | 'half_open' | 'forced_open' | 'disabled';

/** What a person can set. `closed` begins anew. */
export type SetState = Extract<CircuitState, 'closed' | 'forced_open' | 'disabled'>;

/**
 * What the end of an attempt says of the service. `answered`: it is there and refused the request, which is no failure of
 * it; such a call counts in no window, and as a trial it succeeded. `nothing`: it says nothing, as if it had not been.
 */
export type AttemptEnd = 'success' | 'failure' | 'answered' | 'nothing';

/** An attempt may go. Data: it may travel, and means nothing in another epoch. */
export interface CircuitPermit {
  readonly permitted: true;
  /** Which time between two changes of the circuit it belongs to. */
  readonly epoch: number;
  /** Number of the trial; absent where the circuit is not half open. */
  readonly trial?: number;
  /** The circuit changed with it. */
  readonly change?: CircuitChange;
}

/** An attempt may not go, and nothing of it is held. */
export interface CircuitRefusal {
  readonly permitted: false;
  readonly state: CircuitState;
  /** Until calls are let through again; absent when nobody knows. */
  readonly waitMs?: number;
}

/** Whether an attempt may go. */
export type CircuitAnswer = CircuitPermit | CircuitRefusal;

/** Why a circuit changed. */
export type ChangeCause =
  | 'failure_rate'
  | 'slow_call_rate'
  | 'waited'
  | 'trials_failed'
  | 'trials_slow'
  | 'trials_succeeded'
  | 'set';

/** One change of a circuit, as it is audited. */
export interface CircuitChange {
  readonly from: CircuitState;
  readonly to: CircuitState;
  readonly cause: ChangeCause;
  /** Of the window, or of the step of the trials, that decided. */
  readonly counts: CallCounts;
  /** Trials that succeeded, where there were any. */
  readonly trialsSucceeded?: number;
  readonly terms: CircuitTerms;
}

/** Numbers that no two times of any circuit share; one for each store. */
export interface Epochs {
  last: number;
}

/** One circuit; only the functions of this file change it. */
export interface Circuit {
  terms: CircuitTerms;
  state: CircuitState;
  readonly epochs: Epochs;
  /** What calls get while the state is closed or disabled; one for all of them. */
  permit: CircuitPermit;
  window: SlidingWindow;
  trials: Trials | undefined;
  /** What was in the window, or the step, when it opened. */
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
  /** Of the window; of what opened it while it is open; of the step while it is half open. */
  readonly counts: CallCounts;
  readonly waitMs?: number;
  readonly trials?: TrialStep & { readonly ended: number; readonly underWay: number; readonly succeeded: number };
  readonly terms: CircuitTerms;
}

/** What a half-open circuit advises whom it does not let through: its trials end when they end. */
const TRIAL_RETRY_MS = 1_000;

/** A closed circuit of which nothing is known yet. */
export function newCircuit(terms: CircuitTerms, epochs: Epochs, nowMs: number): Circuit {
  return {
    terms,
    state: 'closed',
    epochs,
    permit: nextPermit(epochs),
    window: slidingWindow(terms),
    trials: undefined,
    opened: undefined,
    changedAt: nowMs,
    lastFailureAt: undefined,
  };
}

/** Terms that hold from now on. A window of another kind begins empty; the state stays. */
export function adoptTerms(circuit: Circuit, terms: CircuitTerms): void {
  if (isSameTerms(circuit.terms, terms)) return;
  const { windowType, windowSize } = circuit.terms;
  circuit.terms = terms;
  if (terms.windowType !== windowType || terms.windowSize !== windowSize) circuit.window = slidingWindow(terms);
}

/**
 * Whether an attempt may go.
 * @param heldMsMax after which time a trial gives its place back, whether or not its end was told
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

/** Counts the end of an attempt. One that began before the last change says nothing of the time after it. */
export function tellCircuit(
  circuit: Circuit,
  permit: CircuitPermit,
  { end, durationMs, nowMs }: { readonly end: AttemptEnd; readonly durationMs: number; readonly nowMs: number },
): CircuitChange | undefined {
  if (permit.epoch !== circuit.permit.epoch) return undefined;
  if (end === 'failure') circuit.lastFailureAt = nowMs;
  const slow = durationMs > circuit.terms.slowCallMs;
  if (circuit.state === 'half_open') return endOfTrial(circuit, permit, end, slow, nowMs);
  if (circuit.state !== 'closed' || end === 'nothing' || end === 'answered') return undefined;
  const { window, terms } = circuit;
  window.add(end === 'failure', slow, nowMs);
  const cause = reached(window.counts, terms);
  if (cause === undefined) return undefined;
  return opens(circuit, cause, { ...window.counts }, nowMs);
}

function reached({ calls, failures, slowCalls }: CallCounts, terms: CircuitTerms): ChangeCause | undefined {
  if (calls < terms.callsMin) return undefined;
  if (failures > 0 && failures * 100 >= terms.failureRateThreshold * calls) return 'failure_rate';
  return slowCalls > 0 && slowCalls * 100 >= terms.slowCallRateThreshold * calls ? 'slow_call_rate' : undefined;
}

function endOfTrial(
  circuit: Circuit,
  { trial = 0 }: CircuitPermit,
  told: AttemptEnd,
  slow: boolean,
  nowMs: number,
): CircuitChange | undefined {
  const trials = circuit.trials as Trials;
  const end = told === 'answered' ? 'success' : told;
  const verdict = endTrial(trials, circuit.terms, trial, { end, slow });
  if (verdict === 'goes_on') return undefined;
  const { ended: calls, failures, slowCalls, succeeded } = trials;
  const counts = { calls, failures, slowCalls };
  if (verdict !== 'succeeded')
    return opens(circuit, verdict === 'failed' ? 'trials_failed' : 'trials_slow', counts, nowMs, succeeded);
  circuit.opened = undefined;
  return changed(circuit, 'closed', 'trials_succeeded', counts, nowMs, succeeded);
}

function opens(circuit: Circuit, cause: ChangeCause, counts: CallCounts, nowMs: number, trials?: number) {
  circuit.opened = counts;
  return changed(circuit, 'open', cause, counts, nowMs, trials);
}

/** Does what a person says. To say the same again begins anew, and is a change too. */
export function setCircuit(circuit: Circuit, state: SetState, nowMs: number): CircuitChange {
  const counts = { ...viewOfCircuit(circuit, nowMs).counts };
  circuit.opened = undefined;
  return changed(circuit, state, 'set', counts, nowMs);
}

/** The circuit as it is now. */
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

/** A clock that was set back makes nobody wait longer than one whole time. */
function remainingMs(circuit: Circuit, nowMs: number): number {
  if (nowMs < circuit.changedAt) circuit.changedAt = nowMs;
  return Math.max(0, circuit.changedAt + circuit.terms.waitMs - nowMs);
}

/** Every change begins a new epoch with an empty window. */
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
  if (to !== 'half_open') circuit.trials = undefined;
  return { from, to, cause, counts, terms, ...(trialsSucceeded === undefined ? {} : { trialsSucceeded }) };
}

function nextPermit(epochs: Epochs): CircuitPermit {
  epochs.last += 1;
  return { permitted: true, epoch: epochs.last };
}
