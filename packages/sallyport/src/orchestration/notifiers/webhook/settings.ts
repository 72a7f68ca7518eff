/** One webhook that hears of approvals. */
export interface ApprovalWebhookSettings {
  /** Its name; the approver `webhook:<id>` of the approvals file is this webhook. */
  readonly id: string;
  /** https, or http to a loopback address. */
  readonly url: string;
  /** Name of the secret that messages are signed with: `whsec_` and base64, or any text; 24 bytes at least. */
  readonly secret: string;
  /** Whether it is given the answer tokens of all approvers, to hand each to its own. Default false: only its own. */
  readonly answerTokens?: boolean;
  /** 8 000 when absent. */
  readonly timeoutMs?: number;
}
