import type { ExecutionMetadata, LifecycleState, Warning } from '../../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import type { Failure } from '../error/failure.ts';
import type { Door } from '../principal/principal.ts';

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
}
