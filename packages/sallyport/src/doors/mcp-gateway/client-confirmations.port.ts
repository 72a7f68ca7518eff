import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { ConfirmationReason } from '../../domain/invocation/waiting-call.ts';

/** For whom a client speaks, as its token says. */
export type Confirmer = CallOwner;

/** What the user at a client says yes or no to. All text in it is foreign. */
export interface ShownQuestion {
  readonly toolId: string;
  readonly toolVersion: string;
  readonly reason: ConfirmationReason;
  /** What the executor asks about this call, in the words of the layer. */
  readonly question?: string;
  /** In the words of the manifest or the activation. */
  readonly prompt?: string;
  /** The arguments as JSON, without secrets and personal data. */
  readonly argumentsText?: string;
  /** What a yes is bound to, in one word. */
  readonly bindingDigest: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/** What the user said, and to what. */
export interface ClientAnswer {
  readonly tenantId: string;
  readonly approvalId: string;
  readonly by: Confirmer;
  readonly accepted: boolean;
  /** Of the question that the user was shown. */
  readonly bindingDigest: string;
}

/**
 * The part of the approvals that the MCP gateway answers to, in the name of the user who sits with the agent. It is no
 * operation: nothing that an agent can call leads here.
 */
export interface ClientConfirmations {
  /** A question that waits; undefined when this client's user may not answer it, or nobody can any more. */
  shown(by: Confirmer, approvalId: string): Promise<ShownQuestion | undefined>;
  /**
   * Gives the answer. A yes has the call taken through every stage again, policy too; what becomes of it is on its record.
   * @throws ToolLayerError E3213 for who may not decide, E3808 when it expired, E3809 and E3817 when there is no such question any more
   */
  confirm(answer: ClientAnswer): Promise<void>;
}
