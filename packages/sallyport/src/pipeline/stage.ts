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

/** The call goes on later: it waits on record for a person or a worker, and this caller gets no more than that. */
export interface Waits {
  readonly waits: WaitFor;
}

/** A refusal that comes with what was established before it: the record says that too. */
export interface Refused<Adds> {
  readonly refused: Failure;
  readonly established: Partial<Adds>;
}

/** What a stage throws once it has established something: the refusal, and that. */
export const refusedBy = <Adds>(thrown: unknown, established: Partial<Adds>): Refused<Adds> => ({
  refused: failureOf(thrown),
  established,
});

/** What a stage may end with: what it establishes, a refusal, an answer that is there already, or a wait. */
export type StageEnd<Adds> = Adds | Failure | Refused<Adds> | EarlierAnswer | Waits;

/**
 * One step of a call: takes what earlier stages established, returns what it establishes. It writes neither into `call` nor
 * into `ongoing`; the runner adds what it returns.
 */
export interface Stage<Needs, Adds> {
  readonly name: string;
  /** Lifecycle state that begins before this stage runs. */
  readonly begins?: LifecycleState;
  /** Lifecycle state that is reached when this stage is through. */
  readonly reaches?: LifecycleState;
  /** What this stage takes or changes, in words: a dry run passes it by and says so (PIPE-15). */
  readonly takes?: string;
  run(call: Needs, ongoing: OngoingCall): Promise<StageEnd<Adds>>;
}

/** A stage of a list that is typed as a whole, where what it needs is known to be there. */
export type AnyStage = Stage<never, object>;

/** Whether a stage refuses the call and says what it had established. */
export function isRefused(end: object): end is Refused<object> {
  return 'refused' in end;
}

/** Whether a stage sets the call aside. */
export function isWaits(end: object): end is Waits {
  return 'waits' in end;
}

/** Whether a stage found an answer that ends the call. */
export function isEarlierAnswer(end: object): end is EarlierAnswer {
  return 'answered' in end;
}
