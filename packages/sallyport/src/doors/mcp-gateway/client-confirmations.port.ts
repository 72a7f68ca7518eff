import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { ConfirmationReason } from '../../domain/invocation/waiting-call.ts';

/** The owner that a client speaks for, as its token says. */
export type Confirmer = CallOwner;

/** The question that the user at a client answers. All text in it is foreign. */
export interface ShownQuestion {
  readonly toolId: string;
  readonly toolVersion: string;
  readonly reason: ConfirmationReason;
  /** The executor's question about this call, in the layer's words. */
  readonly question?: string;
  /** Text of the manifest or the activation. */
  readonly prompt?: string;
  /** The arguments as JSON, without secrets and personal data. */
  readonly argumentsText?: string;
  /** Digest that an approval is bound to. */
  readonly bindingDigest: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/** The user's answer, and the question it belongs to. */
export interface ClientAnswer {
  readonly tenantId: string;
  readonly approvalId: string;
  readonly by: Confirmer;
  readonly accepted: boolean;
  /** Digest of the question that the user was shown. */
  readonly bindingDigest: string;
}

/**
 * The part of the approvals that the MCP gateway uses, in the name of the user who sits with the agent. It is no
 * operation: agents cannot reach it through any call.
 */
export interface ClientConfirmations {
  /** A waiting question; undefined when this client's user may not answer it, or when it is over. */
  shown(by: Confirmer, approvalId: string): Promise<ShownQuestion | undefined>;
  /**
   * Records the answer. An approved call passes every stage again, policy included; its outcome is on its record.
   * @throws ToolLayerError E3213 when the user may not decide, E3808 when the question expired, E3809 and E3817 when it
   *   no longer exists
   */
  confirm(answer: ClientAnswer): Promise<void>;
}
