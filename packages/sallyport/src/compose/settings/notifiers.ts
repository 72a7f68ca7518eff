import { boolean, integer, list, oneOf, someOf, text } from '../../domain/settings/rows.ts';

/** How people hear of approvals, and whether users confirm at their client. */
export const NOTIFIER_SETTINGS = [
  someOf('approvals.client_reasons', ['requires_confirmation', 'trust', 'policy', 'executor'], {
    default: ['requires_confirmation'],
    sentence:
      'Reasons for which the user whom the credential names may confirm a call at the own MCP client; for any other reason it waits for an approver.',
  }),
  list('notifiers.enabled', {
    default: ['log'],
    sentence: 'How people hear of approvals: console, log, webhook, smtp.',
  }),
  text('notifiers.webhook_url', {
    default: '',
    sentence: 'Where the webhook is told, over https, or over http at a loopback address.',
  }),
  text('notifiers.webhook_secret', {
    default: '',
    sentence: 'Name of the secret that its messages are signed with, 24 bytes or more.',
  }),
  boolean('notifiers.webhook_answer_tokens', {
    default: false,
    sentence: 'Whether it is given the answer tokens of all approvers, to hand each to its own.',
  }),
  text('notifiers.smtp_host', { default: '', sentence: 'Mail server.' }),
  integer('notifiers.smtp_port', { minimum: 1, default: 587, sentence: 'Port of the mail server.' }),
  oneOf('notifiers.smtp_security', ['tls', 'starttls', 'none'], {
    default: 'starttls',
    sentence: 'TLS from the first byte, STARTTLS before anything else, or none at a loopback address.',
  }),
  text('notifiers.smtp_from', { default: '', sentence: 'Address that mail comes from.' }),
  list('notifiers.smtp_to', {
    default: [],
    sentence: 'Addresses that get every notice, without answer tokens, beside the approvers that are addresses.',
  }),
  text('notifiers.smtp_user_secret', {
    default: '',
    sentence: 'Name of the secret that holds the user for the mail server; empty signs in as nobody.',
  }),
  text('notifiers.smtp_password_secret', { default: '', sentence: 'Name of the secret that holds the password.' }),
  text('notifiers.answer_url', {
    default: '',
    sentence: 'Page on which people answer with the token behind its #; mail names the token alone when it is empty.',
  }),
];
