import type { Failure } from '@sallyport/std/error/failure';
import type { TrustLevel } from '../../../api/schemas/capability-token.ts';
import type { ExecutionMetadata, InvocationPhase, LifecycleState, Warning } from '../../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import type { HeldEvents } from '../event/held-events.ts';
import type { Door } from '../principal/principal.ts';
import type { CompensationPlan } from './compensation-plan.ts';
import type { GateDecision } from './gate-decision.ts';
import { isFinal } from './lifecycle.ts';
import { keepMembers, namesOnly } from './result-members.ts';
import type { WaitFor, WaitingCall } from './waiting-call.ts';

/**
 * The durable row of an invocation. Unique by tenant and invocation id. The newest write of a row wins; only the call
 * that wrote it first writes it (`nonceOf`).
 */
export interface InvocationRecord {
  readonly invocationId: string;
  /** Nonce of the call, when its caller chose the id. */
  readonly nonce?: string;
  readonly tenantId: string;
  readonly agentDid: string;
  readonly userDid?: string;
  readonly sessionId?: string;
  readonly toolId: string;
  /** The name by which the caller knows the tool, when a view renames it. */
  readonly calledAs?: string;
  readonly toolVersion?: string;
  readonly contentHash?: string;
  readonly door: Door;
  readonly sideEffect?: SideEffectPolicy;
  /** As the caller stated it; never guessed (PRM-09). */
  readonly phase?: InvocationPhase;
  /** Origin of the arguments' content, in the words of the caller. */
  readonly claimSource?: string;
  /** The lower of the trust in the agent and in the tool's source; absent when the call was not authorised. */
  readonly trust?: TrustLevel;
  readonly gateDecision?: GateDecision;
  readonly state: LifecycleState;
  /** Instance that runs it, for recovery. */
  readonly instanceId: string;
  readonly inputHash?: string;
  /** SHA-256 over the canonical result before any cut, hex. */
  readonly outputHash?: string;
  /** The same hash of the part that the row keeps of a cut result. */
  readonly outputKeptHash?: string;
  readonly result?: unknown;
  /** Epoch ms at which the result was deleted, after its retention time. */
  readonly resultForgottenAt?: number;
  readonly failure?: Omit<Failure, 'cause'>;
  readonly warnings: readonly Warning[];
  /** Epoch ms. */
  readonly acceptedAt: number;
  readonly metadata?: ExecutionMetadata;
  /** The turn group of the call: the attempt at answering the user that it belongs to (VIS-04). */
  readonly turnGroupId?: string;
  /** The key under which it runs once; for calls that may have a side effect. */
  readonly idempotencyKey?: string;
  /** The earlier call whose answer this one got; nothing of this one ran. */
  readonly answeredBy?: string;
  /** What it ran with; present when it completed and its tool is pure and claims to be deterministic (PIPE-10). */
  readonly inputs?: RecordedInputs;
  /**
   * Plan for its compensation; present when it completed, runs, or its outcome is unknown, and its tool names one
   * (VIS-03).
   */
  readonly compensation?: CompensationPlan;
  /** The call that this one takes back. */
  readonly compensates?: string;
  /** The call was answered before it was over, because it waited: MCP clients know it as a task. Stays in the row. */
  readonly deferred?: true;
  /** What is needed to run it later; removed from the row once it is final. */
  readonly waiting?: WaitingCall;
  /** Events of a running call that are not in the chain yet (system design §4). Only the ledger writes it. */
  readonly heldEvents?: HeldEvents;
  /** Number of its writer's lease; a row under a later lease is not replaced by one under an earlier. 0 when absent. */
  readonly fence?: number;
}

/** Everything that determines the output of a deterministic tool. */
export interface RecordedInputs {
  /** As they were validated, with the changes of hooks and defaults. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Distinguishes calls that were made under one id: the layer makes one for each call (adr/0013). */
export const nonceOf = ({ nonce, invocationId }: Pick<InvocationRecord, 'nonce' | 'invocationId'>): string =>
  nonce ?? invocationId;

/** Epoch ms at which a call ended; its acceptance when its record names no end. */
export function completedAt({ metadata, acceptedAt }: Pick<InvocationRecord, 'metadata' | 'acceptedAt'>): number {
  return metadata?.completed_at === undefined ? acceptedAt : Date.parse(metadata.completed_at);
}

/**
 * The row of a call without its result, which is no longer kept: the rest stays, also the hash of the result (PIPE-07),
 * and the names of its members where a compensation may ask for them.
 */
export function withoutResult(record: InvocationRecord, at: number): InvocationRecord {
  if (!('result' in record)) return record;
  const { result, inputs: _inputs, compensation, ...kept } = record;
  const forgotten = { ...kept, resultForgottenAt: at };
  if (compensation === undefined) return forgotten;
  const resultMembers = namesOnly(compensation.resultMembers ?? keepMembers(result));
  return { ...forgotten, compensation: { ...compensation, resultMembers } };
}

/**
 * True when a worker may take up a call whose run was cut off: its tool may run again, or its server runs it as a task
 * that can be asked for.
 */
export function mayGoOn({ sideEffect, waiting }: Pick<InvocationRecord, 'sideEffect' | 'waiting'>): boolean {
  return sideEffect === 'pure' || sideEffect === 'idempotent' || waiting?.serverTask !== undefined;
}

/** Who has to act before the call is over: a person, or a worker that runs it, for the first time or again. */
export function waitsFor({ state, waiting }: Pick<InvocationRecord, 'state' | 'waiting'>): WaitFor['for'] | undefined {
  if (waiting === undefined || isFinal(state)) return undefined;
  return state === 'EXECUTING' ? 'worker' : waiting.wait.for;
}

/**
 * True when a call failed before anything of it ran. A call whose outcome is unknown may have run: what was counted of it
 * ended with its instance.
 */
export const leftNothing = ({ state, failure, metadata }: InvocationRecord): boolean =>
  isFinal(state) && failure !== undefined && failure.code !== 'E3804' && metadata?.attempts === 0;

/**
 * True when a call waited, and then expired or was cancelled before anything of it ran. Its row frees its names: whatever
 * ended it needs no second step that a crash could prevent. A denial is a person's answer to the request and keeps them.
 */
export const waitedInVain = (record: InvocationRecord): boolean =>
  record.deferred === true && leftNothing(record) && record.failure?.code !== 'E3807';
