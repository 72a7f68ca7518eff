import type {
  AttemptEnd,
  CircuitAnswer,
  CircuitChange,
  CircuitPermit,
  CircuitState,
  SetState,
} from '../domain/circuit/circuit.ts';
import type { CircuitTerms } from '../domain/circuit/circuit-terms.ts';
import type { CallCounts } from '../domain/circuit/sliding-window.ts';

/** State of a circuit in its store. */
export interface KnownCircuit {
  readonly name: string;
  readonly state: CircuitState;
  /** Epoch ms of the last change, or of the first call when it never changed. */
  readonly since: number;
  /** Epoch ms. */
  readonly lastFailureAt?: number;
  /** Counts of the window; while open, those that opened it; while half open, those of the current step of trials. */
  readonly counts: CallCounts;
  /** While open: time until the next trial. */
  readonly waitMs?: number;
  /** While half open: the share of calls let through, in percent, and the trials. */
  readonly trials?: {
    readonly share: number;
    readonly calls: number;
    readonly ended: number;
    readonly underWay: number;
    readonly succeeded: number;
  };
  readonly terms: CircuitTerms;
}

/** The end of an attempt with a permit. */
export interface EndedAttempt {
  readonly end: AttemptEnd;
  readonly durationMs: number;
}

/** Selection of circuits for one page. */
export interface CircuitQuery {
  readonly limit: number;
  /** Cursor: the last name of the previous page. */
  readonly after?: string;
  readonly state?: CircuitState;
}

/**
 * Circuits by tenant and name (CIR-01, CIR-03). Any text is a name; an unknown one is closed. Each method is one atomic
 * step: among concurrent callers exactly the available trials are granted, one caller makes each change, and only that
 * caller gets it as a result. A store that does not know the state for sure throws (or rejects) within its own time
 * limit; it has then changed nothing, or does not know. Callers then treat the circuit as open, unless configured
 * otherwise (E3402). May answer synchronously or later.
 */
export interface CircuitStore {
  /**
   * Asks whether an attempt may start. An open circuit whose wait is over becomes half open by this call, and the
   * answer reports that in `change`.
   * @param terms terms of the circuit from now on
   * @param heldMsMax a trial not reported by then is released
   */
  permit(
    tenantId: string,
    name: string,
    terms: CircuitTerms,
    heldMsMax: number,
  ): CircuitAnswer | Promise<CircuitAnswer>;
  /**
   * Reports the end of an attempt. Attempts that began before the last change, or were reported before, do not count.
   * @returns the change that it caused; undefined when there was none
   */
  report(
    tenantId: string,
    name: string,
    permit: CircuitPermit,
    attempt: EndedAttempt,
  ): CircuitChange | undefined | Promise<CircuitChange | undefined>;
  /**
   * Applies an operator's command: `closed` starts afresh, `forced_open` lets nothing through and `disabled`
   * everything, until the next command. Setting the same state again is a change too. Such a circuit is kept for the
   * life of the store.
   * @returns undefined when there is no such circuit
   */
  set(tenantId: string, name: string, state: SetState): Promise<CircuitChange | undefined>;
  /** Undefined when there is no such circuit. */
  find(tenantId: string, name: string): Promise<KnownCircuit | undefined>;
  /** Circuits of the tenant in the order of their names, by UTF-16 units. */
  list(tenantId: string, query: CircuitQuery): Promise<readonly KnownCircuit[]>;
}
