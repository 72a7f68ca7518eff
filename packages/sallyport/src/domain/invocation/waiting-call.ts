import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';

/** Why a call cannot go on without a person. */
export type ConfirmationReason =
  | 'requires_approval'
  | 'require_approval'
  | 'requires_confirmation'
  | 'policy'
  | 'trust'
  | 'executor';

/** What a yes is given to: this very call and no other (ORC-05). */
export interface ApprovalBinding {
  readonly tenantId: string;
  readonly agentDid: string;
  readonly userDid?: string;
  readonly toolId: string;
  readonly toolVersion: string;
  /** SHA-256 of the tool's definition, hex. */
  readonly contentHash: string;
  /** SHA-256 over the canonical arguments, hex. */
  readonly inputHash: string;
  /** Version of the policies under which it was asked for. */
  readonly policyVersion: string;
  /** What the executor asked about the call; a yes does not answer another question of it. */
  readonly question?: string;
}

/** A question to a person. What became of it stands elsewhere: this never changes. */
export interface ApprovalRequest {
  readonly approvalId: string;
  readonly reason: ConfirmationReason;
  /** What the person is asked, in the words of the tool's manifest or activation. */
  readonly prompt?: string;
  readonly binding: ApprovalBinding;
  /** Epoch ms. */
  readonly requestedAt: number;
  /** Epoch ms; then nobody can say yes any more. */
  readonly expiresAt: number;
}

/** A yes, as the one who resumes a call brings it. */
export interface GivenApproval {
  readonly approvalId: string;
  readonly binding: ApprovalBinding;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/** What a waiting call waits for: a person's yes, or a worker, with the question of the executor that was answered. */
export type WaitFor =
  | { readonly for: 'approval'; readonly approval: ApprovalRequest }
  | { readonly for: 'worker'; readonly confirmed: boolean; readonly question?: string };

/**
 * A call that was accepted and is run later, with all that is needed for it. It stands in the row of the call until that
 * is final, so that accepting it is one write (system design §4).
 */
export interface WaitingCall {
  /** As it came, without its token; the version is the one that was found, the parameters those that were judged. */
  readonly request: ToolInvokeRequest;
  /** Who asked. The token itself is not kept. */
  readonly claims: CapabilityClaims;
  readonly wait: WaitFor;
  /** The call that this one takes back. */
  readonly compensates?: string;
  /** Epoch ms since which it waits. */
  readonly since: number;
}
