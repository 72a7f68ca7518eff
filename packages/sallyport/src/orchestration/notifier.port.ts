import type { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';
import type { ConfirmationReason } from '../domain/invocation/waiting-call.ts';

/** Somebody who may answer. */
export interface NotifiedApprover {
  /** A DID, an address such as `mailto:ops@example.com`, or `role:approver`. */
  readonly id: string;
  /** Answers once, in this approver's name, until the approval ends: a secret, for this approver's eyes alone. */
  readonly answerToken?: string;
}

/** What people are told of one approval (ORC-03). Every word of it that came from an agent or a tool is foreign text. */
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
  /** What the executor asks about this call, in the words of the layer. */
  readonly question?: string;
  /** In the words of the manifest or the activation. */
  readonly prompt?: string;
  /** The arguments as JSON, without secrets and personal data, cut; absent when the layer shows none to notifiers. */
  readonly argumentsText?: string;
  /** Characters of them in all, where `argumentsText` is only how they begin. */
  readonly argumentsLength?: number;
  /** SHA-256, hex, of what a yes is bound to. */
  readonly bindingDigest: string;
  /** Epoch ms. */
  readonly requestedAt: number;
  /** Epoch ms. */
  readonly expiresAt: number;
  /** 0 for those who are asked first, then one more for each escalation. */
  readonly level: number;
  /** Who may answer now; never empty for `asked` and `escalated`. */
  readonly approvers: readonly NotifiedApprover[];
  /** With `decided` and `expired`. */
  readonly decision?: {
    readonly outcome: 'approved' | 'denied' | 'expired' | 'withdrawn';
    readonly by: string;
    readonly reason?: string;
  };
}

/** What became of a notice: nothing is left to be done, or it was left untold because the layer stops. */
export type NoticeEnd = 'over' | 'left';

/** One way in which people hear of approvals. */
export interface Notifier {
  /** For the log. */
  readonly name: string;
  /**
   * Tells people. Each notice comes once, and again after a crash that came before this has settled. Nobody waits for it;
   * what fails is logged, and never changes what becomes of a call.
   */
  notify(notice: ApprovalNotice): void | Promise<void> | Promise<NoticeEnd>;
}
