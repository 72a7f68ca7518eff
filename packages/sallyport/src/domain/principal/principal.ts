import type { Role, TrustLevel } from '../../../api/schemas/capability-token.ts';
import type { LogListener } from '../invocation/log-message.ts';
import type { PresentedProof } from './presented-proof.ts';

/** The asker: an agent, a user or an operator, always of one tenant. */
export interface Principal {
  readonly tenantId: string;
  readonly agentDid: string;
  readonly userDid?: string;
  readonly sessionId?: string;
  readonly roles: readonly Role[];
  /** Trust from its token, or from the layer's settings; absent counts as untrusted (PRM-06). */
  readonly trust?: TrustLevel;
}

/** The door by which the request came in. */
export type Door = 'rest' | 'mcp' | 'cli' | 'library';

/**
 * What a door knows of its caller. `local` marks a caller that shares the layer's process or its data folder's owner;
 * it may use the operations of an operator without a token, but never a tool.
 */
export interface Caller {
  readonly door: Door;
  readonly token?: string;
  /** Proof of the token's key; absent when the token came as a bearer token. Checked once for all that ask with it. */
  readonly proof?: PresentedProof;
  readonly local?: boolean;
  /** The upstream at whose own address of the gateway the caller asks; absent: at any other. */
  readonly server?: string;
  /** Tenant that a local caller acts for; the settings' default when absent. */
  readonly tenantId?: string;
  /** Aborted when the caller goes away: a closed connection cancels its synchronous calls. */
  readonly signal?: AbortSignal;
  /** W3C trace context header of the caller. */
  readonly traceparent?: string;
  /** Members of `_meta` of the client's request that are for the MCP server of the tool; others ignore them. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Called with the tool's progress, at most as often as the tool reports it. */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Questions that the caller's client can be asked while the call runs and nobody waits for its answer, as its MCP
   * capabilities state them; absent: none.
   */
  readonly questions?: Readonly<Record<string, unknown>>;
  /** The caller's client takes a task in place of an answer: its call may be set aside while it runs. */
  readonly takesTasks?: true;
  /** Receives the tool's log messages; absent: nobody wants them. */
  readonly logs?: LogListener;
}

/** Progress of a call. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
