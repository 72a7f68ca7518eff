import { systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import { isLoopback } from '@sallyport/std/web/loopback';
import { HEADER, keyOf, signatureOf } from '../../../hooks/webhook-signature.ts';
import { NoticeRefused } from '../../notices/notice-queue.ts';
import { visibleNotice } from '../../notices/notice-text.ts';
import type { ApprovalNotice, Notifier } from '../../notifier.port.ts';
import type { ApprovalWebhookSettings } from './settings.ts';

const TIMEOUT_MS = 8_000;
/** Shortest key that is accepted, in bytes. */
const KEY_BYTES_MIN = 24;
/** Statuses of a receiver that are retried, besides those of 500 and above. */
const TRY_AGAIN: ReadonlySet<number> = new Set([408, 425, 429]);

/** Dependencies of the adapter, besides its settings. */
export interface ApprovalWebhookParts {
  /** Value of a secret by its name, read again for each message. */
  readonly secret: (name: string) => Promise<string>;
}

/**
 * Notifies an HTTP server of approvals, with one signed POST for each notice, according to Standard Webhooks. The same
 * notice always has the same `webhook-id`.
 * @throws ToolLayerError E3801 for an address that messages may not go to
 */
export function createWebhookNotifier(settings: ApprovalWebhookSettings, { secret }: ApprovalWebhookParts): Notifier {
  const { id, secret: secretName, timeoutMs = TIMEOUT_MS } = settings;
  const url = addressOf(settings);
  return {
    name: `webhook:${id}`,
    async notify(notice) {
      const key = keyOf(await secret(secretName));
      if (key.length < KEY_BYTES_MIN)
        throw new NoticeRefused(`The secret ${secretName} is shorter than ${KEY_BYTES_MIN} bytes.`);
      const body = JSON.stringify(messageOf(visibleNotice(notice), settings));
      const messageId = messageIdOf(id, notice);
      const timestamp = Math.floor(systemClock.now() / 1000);
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          [HEADER.id]: messageId,
          [HEADER.timestamp]: String(timestamp),
          [HEADER.signature]: signatureOf(key, messageId, timestamp, body),
        },
        body,
        // A redirect would send the notice elsewhere.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      if (response.ok) return;
      const what = `The webhook ${id} answered with status ${response.status}.`;
      throw response.status >= 500 || TRY_AGAIN.has(response.status) ? new Error(what) : new NoticeRefused(what);
    },
  };
}

function addressOf({ id, url }: ApprovalWebhookSettings): URL {
  const parsed = URL.parse(url);
  const isPlainHere = parsed?.protocol === 'http:' && isLoopback(parsed.hostname);
  if (
    parsed !== null &&
    (parsed.protocol === 'https:' || isPlainHere) &&
    parsed.username === '' &&
    parsed.password === ''
  )
    return parsed;
  const message = `The webhook ${id} needs an https address without a password in it, or http to a loopback address.`;
  throw new ToolLayerError('E3801', message);
}

/** The same id for the same notice, from any instance and at any time. */
const messageIdOf = (id: string, { tenantId, approvalId, kind, level }: ApprovalNotice): string =>
  `msg_${sha256(canonicalJson([id, tenantId, approvalId, kind, level]))}`;

function messageOf(notice: ApprovalNotice, { id, answerTokens }: ApprovalWebhookSettings): object {
  const { approvers, decision } = notice;
  return {
    type: `approval.${notice.kind}`,
    notifier: id,
    tenant_id: notice.tenantId,
    approval_id: notice.approvalId,
    invocation_id: notice.invocationId,
    tool_id: notice.toolId,
    tool_version: notice.toolVersion,
    agent_did: notice.agentDid,
    user_did: notice.userDid,
    side_effect_policy: notice.sideEffect,
    reason: notice.reason,
    question: notice.question,
    prompt: notice.prompt,
    arguments_text: notice.argumentsText,
    arguments_length: notice.argumentsLength,
    binding_digest: notice.bindingDigest,
    requested_at: new Date(notice.requestedAt).toISOString(),
    expires_at: new Date(notice.expiresAt).toISOString(),
    level: notice.level,
    approvers: approvers.map((approver) => ({
      id: approver.id,
      // A token answers in its approver's name, so only that approver gets it.
      ...(answerTokens || approver.id === `webhook:${id}` ? { answer_token: approver.answerToken } : {}),
    })),
    decision,
  };
}
