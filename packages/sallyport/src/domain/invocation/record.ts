import type { Failure } from '@sallyport/std/error/failure';
import type { TrustLevel } from '../../../api/schemas/capability-token.ts';
import type { ExecutionMetadata, InvocationPhase, LifecycleState, Warning } from '../../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import type { HeldEvents } from '../event/held-events.ts';
import type { Door } from '../principal/principal.ts';
import type { CompensationPlan } from './compensation-plan.ts';
import type { GateDecision } from './gate-decision.ts';
import { isFinal } from './lifecycle.ts';
import type { WaitFor, WaitingCall } from './waiting-call.ts';

/**
 * The durable row of an invocation. Unique by tenant and invocation id. The newest write of a row wins; only the call that
 * wrote it first writes it (`nonceOf`).
 */
export interface InvocationRecord {
  readonly invocationId: string;
  /** Of the call, where its caller chose the id. */
  readonly nonce?: string;
  readonly tenantId: string;
  readonly agentDid: string;
  readonly userDid?: string;
  readonly sessionId?: string;
  readonly toolId: string;
  /** The name that the caller knows the tool by, where a view gave it another. */
  readonly calledAs?: string;
  readonly toolVersion?: string;
  readonly contentHash?: string;
  readonly door: Door;
  readonly sideEffect?: SideEffectPolicy;
  /** As the caller stated it; never guessed (PRM-09). */
  readonly phase?: InvocationPhase;
  /** Where the content of the arguments came from, in the words of the caller. */
  readonly claimSource?: string;
  /** Least of what the agent and the tool's source are trusted; absent when the call was not authorised. */
  readonly trust?: TrustLevel;
  readonly gateDecision?: GateDecision;
  readonly state: LifecycleState;
  /** Instance that runs it, for recovery. */
  readonly instanceId: string;
  readonly inputHash?: string;
  /** SHA-256 over the canonical result before any cut, hex. */
  readonly outputHash?: string;
  /** The same of what the row keeps of a result that was cut. */
  readonly outputKeptHash?: string;
  readonly result?: unknown;
  /** Epoch ms at which the result was forgotten, which was kept until then. */
  readonly resultForgottenAt?: number;
  readonly failure?: Omit<Failure, 'cause'>;
  readonly warnings: readonly Warning[];
  /** Epoch ms. */
  readonly acceptedAt: number;
  readonly metadata?: ExecutionMetadata;
  /** The attempt at answering the user that it belongs to (VIS-04). */
  readonly turnGroupId?: string;
  /** The key under which it runs once, of calls that may leave something behind. */
  readonly idempotencyKey?: string;
  /** The earlier call whose answer this one got; nothing of this one ran. */
  readonly answeredBy?: string;
  /** What it ran with; present when it went well and its tool is pure and says that it is deterministic (PIPE-10). */
  readonly inputs?: RecordedInputs;
  /** How it is taken back; present when it went well, runs, or nobody knows what it did, and its tool says how (VIS-03). */
  readonly compensation?: CompensationPlan;
  /** The call that this one takes back. */
  readonly compensates?: string;
  /** What is needed to run it later; gone from the row once it is final. */
  readonly waiting?: WaitingCall;
  /** Of a call that runs: what is not in the chain yet (system design §4). Only the ledger writes it. */
  readonly heldEvents?: HeldEvents;
  /** Number of the lease that its writer held; a row of a later lease is not replaced by one of an earlier. 0 when absent. */
  readonly fence?: number;
}

/** Everything that decides what a deterministic tool gives. */
export interface RecordedInputs {
  /** As they were judged, hooks and defaults included. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** What tells the calls apart that were made under one id: the layer makes one for each call (adr/0013). */
export const nonceOf = ({ nonce, invocationId }: Pick<InvocationRecord, 'nonce' | 'invocationId'>): string =>
  nonce ?? invocationId;

/** Epoch ms at which a call came to its end; of one that names no end, when it was accepted. */
export function completedAt({ metadata, acceptedAt }: Pick<InvocationRecord, 'metadata' | 'acceptedAt'>): number {
  return metadata?.completed_at === undefined ? acceptedAt : Date.parse(metadata.completed_at);
}

/** The row of a call whose result is not kept any longer: all else stands, the hash of the result too (PIPE-07). */
export function withoutResult(record: InvocationRecord, at: number): InvocationRecord {
  if (!('result' in record)) return record;
  const { result: _result, inputs: _inputs, ...kept } = record;
  return { ...kept, resultForgottenAt: at };
}

/** Who has to do something before the call is over: a person, or a worker that runs it, for the first time or again. */
export function waitsFor({ state, waiting }: Pick<InvocationRecord, 'state' | 'waiting'>): WaitFor['for'] | undefined {
  if (waiting === undefined || isFinal(state)) return undefined;
  return state === 'EXECUTING' ? 'worker' : waiting.wait.for;
}
