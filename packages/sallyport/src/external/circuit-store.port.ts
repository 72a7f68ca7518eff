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

/** A circuit as a store shows it. */
export interface KnownCircuit {
  readonly name: string;
  readonly state: CircuitState;
  /** Epoch ms of the last change; of its first call when it never changed. */
  readonly since: number;
  /** Epoch ms. */
  readonly lastFailureAt?: number;
  /** Of the window; of what opened it while it is open; of the step of the trials while it is half open. */
  readonly counts: CallCounts;
  /** While it is open: until the next trial. */
  readonly waitMs?: number;
  /** While it is half open: the share of the calls that is let through, in percent, and its trials. */
  readonly trials?: {
    readonly share: number;
    readonly calls: number;
    readonly ended: number;
    readonly underWay: number;
    readonly succeeded: number;
  };
  readonly terms: CircuitTerms;
}

/** The end of an attempt that had a permit. */
export interface EndedAttempt {
  readonly end: AttemptEnd;
  readonly durationMs: number;
}

/** Which circuits a page shows. */
export interface CircuitQuery {
  readonly limit: number;
  /** The page begins behind this name. */
  readonly after?: string;
  readonly state?: CircuitState;
}

/**
 * Circuits by tenant and name (CIR-01, CIR-03). Any text is a name; one not seen before is closed. Each method is one
 * atomic step: of callers at the same time as many get a trial as there are, one makes each change, and only that one is
 * told of it. A store that does not know the state for sure throws (or rejects) within a bound of its own, and has changed
 * nothing or does not know it; its callers then count the circuit as open, unless they are set otherwise (E3402). May
 * answer at once or later.
 */
export interface CircuitStore {
  /**
   * Whether an attempt may go. An open circuit whose wait is over becomes half open by this very question, and the answer
   * says so in `change`.
   * @param terms those of the circuit from now on
   * @param heldMsMax a trial whose end was not told by then gives its place back
   */
  permit(
    tenantId: string,
    name: string,
    terms: CircuitTerms,
    heldMsMax: number,
  ): CircuitAnswer | Promise<CircuitAnswer>;
  /**
   * Counts the end of an attempt. One that began before the last change, or was told before, counts nothing.
   * @returns the change that it brought about; undefined when there was none
   */
  report(
    tenantId: string,
    name: string,
    permit: CircuitPermit,
    attempt: EndedAttempt,
  ): CircuitChange | undefined | Promise<CircuitChange | undefined>;
  /**
   * Does what a person says: `closed` begins anew, `forced_open` lets nothing through and `disabled` everything, until
   * another is set. To set the same again is a change too. Such a circuit is never forgotten while the store lives.
   * @returns undefined when there is no such circuit
   */
  set(tenantId: string, name: string, state: SetState): Promise<CircuitChange | undefined>;
  /** Undefined when there is no such circuit. */
  find(tenantId: string, name: string): Promise<KnownCircuit | undefined>;
  /** Circuits of the tenant in the order of their names, by UTF-16 units. */
  list(tenantId: string, query: CircuitQuery): Promise<readonly KnownCircuit[]>;
}
