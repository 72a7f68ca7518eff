import type { Role, TrustLevel } from '../../../api/schemas/capability-token.ts';

/** Who asks: an agent, a user or an operator, always of one tenant. */
export interface Principal {
  readonly tenantId: string;
  readonly agentDid: string;
  readonly userDid?: string;
  readonly sessionId?: string;
  readonly roles: readonly Role[];
  /** What its token, or the layer's settings, say of it; absent counts as untrusted (PRM-06). */
  readonly trust?: TrustLevel;
}

/** Which way the request came in. */
export type Door = 'rest' | 'mcp' | 'cli' | 'library';

/**
 * What a door knows of who is asking. `local` marks a caller that shares the layer's process or its data folder's owner;
 * it may use the operations of an operator without a token, but never a tool.
 */
export interface Caller {
  readonly door: Door;
  readonly token?: string;
  readonly local?: boolean;
  /** Tenant that a local caller acts for; the settings' default when absent. */
  readonly tenantId?: string;
  /** Ends with the caller: a closed connection cancels its synchronous calls. */
  readonly signal?: AbortSignal;
  /** W3C trace context header of the caller. */
  readonly traceparent?: string;
  /** Told of the tool's progress, at most as often as the tool reports it. */
  readonly onProgress?: (progress: Progress) => void;
}

/** How far a call is. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
