import type { TrustLevel } from '../../../api/schemas/capability-token.ts';
import type { ExecutionMetadata, InvocationPhase, LifecycleState, Warning } from '../../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import type { Failure } from '../error/failure.ts';
import type { Door } from '../principal/principal.ts';
import type { GateDecision } from './gate-decision.ts';
import type { WaitingCall } from './waiting-call.ts';

/** The durable row of an invocation. Unique by tenant and invocation id; the newest write of a row wins. */
export interface InvocationRecord {
  readonly invocationId: string;
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
  readonly outputHash?: string;
  readonly result?: unknown;
  readonly failure?: Omit<Failure, 'cause'>;
  readonly warnings: readonly Warning[];
  /** Epoch ms. */
  readonly acceptedAt: number;
  readonly metadata?: ExecutionMetadata;
  /** What is needed to run it later; gone from the row once it is final. */
  readonly waiting?: WaitingCall;
}
