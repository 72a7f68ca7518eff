import { boolean, text } from '../../../domain/settings/rows.ts';
import type { ValuesOf } from '../../../domain/settings/setting.ts';

/** Settings of the webhook for approvals. */
export const APPROVAL_WEBHOOK_SETTINGS = {
  url: text('notifiers.webhook_url', {
    default: '',
    sentence: 'Address of the webhook, over https, or over http at a loopback address.',
  }),
  secret: text('notifiers.webhook_secret', {
    default: '',
    sentence: 'Name of the secret that its messages are signed with, 24 bytes or more.',
  }),
  answerTokens: boolean('notifiers.webhook_answer_tokens', {
    default: false,
    sentence: 'Whether it is given the answer tokens of all approvers, to hand each to its own.',
  }),
};

/** One webhook for notices of approvals. */
export interface ApprovalWebhookSettings extends ValuesOf<typeof APPROVAL_WEBHOOK_SETTINGS> {
  /** Its name; the approver `webhook:<id>` of the approvals file is this webhook. */
  readonly id: string;
  /** 8 000 when absent. */
  readonly timeoutMs?: number;
}
