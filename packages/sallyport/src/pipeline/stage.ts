import type { Failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { LifecycleState } from '../../api/schemas/invocation.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import type { WaitFor } from '../domain/invocation/waiting-call.ts';
import type { OngoingCall } from './ongoing/ongoing-call.ts';

/** An answer that an earlier call gave already; it ends this call at once (PIPE-09). */
export interface EarlierAnswer {
  readonly answered: InvocationRecord;
}

/** The call is set aside: it waits on record for a person or a worker, and this caller gets no further answer. */
export interface Waits {
  readonly waits: WaitFor;
}

/** A refusal, with what the stage established before it: the record holds that too. */
export interface Refused<Adds> {
  readonly refused: Failure;
  readonly established: Partial<Adds>;
}

/** The refusal by what a stage threw, with what it had established. */
export const refusedBy = <Adds>(thrown: unknown, established: Partial<Adds>): Refused<Adds> => ({
  refused: failureOf(thrown),
  established,
});

/** What a stage may end with: what it establishes, a refusal, an earlier answer, or a wait. */
export type StageEnd<Adds> = Adds | Failure | Refused<Adds> | EarlierAnswer | Waits;

/**
 * One step of a call: takes what earlier stages established, returns what it establishes. It writes neither into `call`
 * nor into `ongoing`; the runner adds what it returns.
 */
export interface Stage<Needs, Adds> {
  readonly name: string;
  /** Lifecycle state that begins before this stage runs. */
  readonly begins?: LifecycleState;
  /** Lifecycle state that is reached when this stage is through. */
  readonly reaches?: LifecycleState;
  /** What this stage takes or changes, in words: a dry run skips the stage and says so (PIPE-15). */
  readonly takes?: string;
  run(call: Needs, ongoing: OngoingCall): Promise<StageEnd<Adds>>;
}

/** A stage in a list whose order is checked by its type, so what the stage needs is there. */
export type AnyStage = Stage<never, object>;

/** True when a stage refuses the call and says what it had established. */
export function isRefused(end: object): end is Refused<object> {
  return 'refused' in end;
}

/** True when a stage sets the call aside. */
export function isWaits(end: object): end is Waits {
  return 'waits' in end;
}

/** True when a stage found an answer that ends the call. */
export function isEarlierAnswer(end: object): end is EarlierAnswer {
  return 'answered' in end;
}
