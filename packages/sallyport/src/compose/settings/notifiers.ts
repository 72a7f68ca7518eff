import type { Setting } from './setting.ts';

/** How people hear of approvals, and whether users confirm at their client. */
export const NOTIFIER_SETTINGS = [
  {
    key: 'approvals.elicitation',
    type: 'string',
    oneOf: ['off', 'confirmations'],
    default: 'confirmations',
    sentence:
      'Whether the user at an MCP client is asked to confirm calls there, where the client can; approvals always need an approver.',
  },
  {
    key: 'approvals.client_reasons',
    type: 'list',
    oneOf: ['requires_confirmation', 'trust', 'policy', 'executor'],
    default: ['requires_confirmation'],
    sentence:
      'Reasons for which the user whom the credential names may confirm a call at the own MCP client; for any other reason it waits for an approver.',
  },
  {
    key: 'approvals.elicitation_wait_seconds',
    type: 'integer',
    unit: 'seconds',
    minimum: 1,
    default: 300,
    sentence: 'Longest wait for that user; the call goes on waiting for an approver after it.',
  },
  {
    key: 'notifiers.enabled',
    type: 'list',
    default: ['log'],
    sentence: 'How people hear of approvals: console, log, webhook, smtp.',
  },
  {
    key: 'notifiers.webhook_url',
    type: 'string',
    default: '',
    sentence: 'Where the webhook is told, over https, or over http at a loopback address.',
  },
  {
    key: 'notifiers.webhook_secret',
    type: 'string',
    default: '',
    sentence: 'Name of the secret that its messages are signed with, 24 bytes or more.',
  },
  {
    key: 'notifiers.webhook_answer_tokens',
    type: 'boolean',
    default: false,
    sentence: 'Whether it is given the answer tokens of all approvers, to hand each to its own.',
  },
  {
    key: 'notifiers.smtp_host',
    type: 'string',
    default: '',
    sentence: 'Mail server.',
  },
  {
    key: 'notifiers.smtp_port',
    type: 'integer',
    minimum: 1,
    default: 587,
    sentence: 'Port of the mail server.',
  },
  {
    key: 'notifiers.smtp_security',
    type: 'string',
    oneOf: ['tls', 'starttls', 'none'],
    default: 'starttls',
    sentence: 'TLS from the first byte, STARTTLS before anything else, or none at a loopback address.',
  },
  {
    key: 'notifiers.smtp_from',
    type: 'string',
    default: '',
    sentence: 'Address that mail comes from.',
  },
  {
    key: 'notifiers.smtp_to',
    type: 'list',
    default: [],
    sentence: 'Addresses that get every notice, without answer tokens, beside the approvers that are addresses.',
  },
  {
    key: 'notifiers.smtp_user_secret',
    type: 'string',
    default: '',
    sentence: 'Name of the secret that holds the user for the mail server; empty signs in as nobody.',
  },
  {
    key: 'notifiers.smtp_password_secret',
    type: 'string',
    default: '',
    sentence: 'Name of the secret that holds the password.',
  },
  {
    key: 'notifiers.answer_url',
    type: 'string',
    default: '',
    sentence: 'Page on which people answer with the token behind its #; mail names the token alone when it is empty.',
  },
] as const satisfies readonly Setting[];
