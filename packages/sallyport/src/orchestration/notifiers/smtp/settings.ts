import { integer, list, oneOf, text } from '../../../domain/settings/rows.ts';
import type { ValuesOf } from '../../../domain/settings/setting.ts';

/** Settings of mail about approvals. */
export const SMTP_SETTINGS = {
  host: text('notifiers.smtp_host', { default: '', sentence: 'Mail server.' }),
  port: integer('notifiers.smtp_port', {
    minimum: 1,
    maximum: 65_535,
    default: 587,
    sentence: 'Port of the mail server.',
  }),
  security: oneOf('notifiers.smtp_security', ['tls', 'starttls', 'none'], {
    default: 'starttls',
    sentence: 'TLS from the first byte, STARTTLS before anything else, or none at a loopback address.',
  }),
  from: text('notifiers.smtp_from', { default: '', sentence: 'Address that mail comes from.' }),
  to: list('notifiers.smtp_to', {
    default: [],
    sentence: 'Addresses that get every notice, without answer tokens, beside the approvers that are addresses.',
  }),
  userSecret: text('notifiers.smtp_user_secret', {
    default: '',
    sentence: 'Name of the secret that holds the user for the mail server; empty signs in as nobody.',
  }),
  passwordSecret: text('notifiers.smtp_password_secret', {
    default: '',
    sentence: 'Name of the secret that holds the password.',
  }),
  answerUrl: text('notifiers.answer_url', {
    default: '',
    sentence: 'Page on which people answer with the token after its #; mail names the token alone when it is empty.',
  }),
};

/** Settings of mail about approvals. */
export type SmtpSettings = ValuesOf<typeof SMTP_SETTINGS>;
