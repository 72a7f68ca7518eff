import type { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';
import type { ConfirmationReason } from '../domain/invocation/waiting-call.ts';

/** A person or group that may answer. */
export interface NotifiedApprover {
  /** A DID, an address such as `mailto:ops@example.com`, or `role:approver`. */
  readonly id: string;
  /** A one-time right to answer in this approver's name until the approval ends: a secret for this approver only. */
  readonly answerToken?: string;
}

/** Notice of one approval for people (ORC-03). All its text that came from an agent or a tool is untrusted. */
export interface ApprovalNotice {
  readonly kind: 'asked' | 'escalated' | 'decided' | 'expired';
  readonly tenantId: string;
  readonly approvalId: string;
  readonly invocationId: string;
  readonly toolId: string;
  readonly toolVersion: string;
  readonly agentDid: string;
  readonly userDid?: string;
  readonly sideEffect?: SideEffectPolicy;
  readonly reason: ConfirmationReason;
  /** The executor's question about this call, in the layer's words. */
  readonly question?: string;
  /** Text of the manifest or the activation. */
  readonly prompt?: string;
  /** The arguments as JSON, redacted and cut; absent when the layer shows none to notifiers. */
  readonly argumentsText?: string;
  /** Full length in characters, when `argumentsText` is cut. */
  readonly argumentsLength?: number;
  /** SHA-256, hex, of what an approval is bound to. */
  readonly bindingDigest: string;
  /** Epoch ms. */
  readonly requestedAt: number;
  /** Epoch ms. */
  readonly expiresAt: number;
  /** 0 for the first people who are asked, plus one for each escalation. */
  readonly level: number;
  /** Who may answer now; never empty for `asked` and `escalated`. */
  readonly approvers: readonly NotifiedApprover[];
  /** Present with `decided` and `expired`. */
  readonly decision?: {
    readonly outcome: 'approved' | 'denied' | 'expired' | 'withdrawn';
    readonly by: string;
    readonly reason?: string;
  };
}

/** How a notice ended: nothing is left to do, or it was not delivered because the layer stops. */
export type NoticeEnd = 'over' | 'left';

/** One channel by which people are notified of approvals. */
export interface Notifier {
  /** Name for the log. */
  readonly name: string;
  /**
   * Notifies people. Each notice comes once, and again after a crash that happened before this has settled. Nobody
   * waits for it; a failure is logged, and never changes how a call ends.
   */
  notify(notice: ApprovalNotice): void | Promise<void> | Promise<NoticeEnd>;
}
