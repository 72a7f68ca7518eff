import { isIP } from 'node:net';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { SendMailOptions, Transporter } from 'nodemailer';
import { NoticeRefused } from '../../notices/notice-queue.ts';
import { noticeSubject, noticeText } from '../../notices/notice-text.ts';
import type { ApprovalNotice, NotifiedApprover, Notifier } from '../../notifier.port.ts';
import { addressOf, isMailAddress } from './mail-address.ts';
import type { SmtpSettings } from './settings.ts';

/** Limits of one mail, in ms. */
const CONNECT_MS = 4_000;
const SILENCE_MS = 5_000;
/** Most mails of one notice. */
const MAILS_MAX = 50;
const SUBJECT_CHARACTERS_MAX = 200;

/** Dependencies of the adapter, besides its settings. */
export interface SmtpParts {
  /** Value of a secret by its name, read again for each notice. */
  readonly secret: (name: string) => Promise<string>;
  /** PEM of trusted authorities, instead of Node's. */
  readonly ca?: string;
}

interface Mail {
  readonly to: string;
  readonly answerToken?: string;
}

/**
 * Notifies approvers by mail: each gets their own, as plain text, with their own answer token. When some of the mails
 * of a notice fail, a retry sends only those.
 * @throws ToolLayerError E3801 for settings under which mail could be read or forged
 */
export function createSmtpNotifier(settings: SmtpSettings, parts: SmtpParts): Notifier {
  checkSettings(settings);
  const sent = new WeakMap<ApprovalNotice, Set<string>>();
  return {
    name: 'smtp',
    async notify(notice) {
      const done = sent.get(notice) ?? new Set<string>();
      sent.set(notice, done);
      const mails = mailsOf(notice, settings).filter(({ to }) => !done.has(to));
      if (mails.length === 0) return;
      const transport = await openTransport(settings, parts);
      const failed: unknown[] = [];
      try {
        for (const mail of mails) {
          await transport.sendMail(messageOf(mail, notice, settings)).then(
            () => done.add(mail.to),
            (thrown: unknown) => failed.push(thrown),
          );
        }
      } finally {
        transport.close();
      }
      if (failed.length > 0) throw failureOf(failed, mails.length);
    },
  };
}

function checkSettings({ host, security, from, to, userSecret, passwordSecret }: SmtpSettings): void {
  const isLoopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  const wrong = [from, ...to].find((address) => !isMailAddress(address));
  const fault =
    wrong !== undefined
      ? `"${wrong.slice(0, 100)}" is no plain mail address`
      : security === 'none' && !isLoopback
        ? 'mail without TLS goes to a loopback address only'
        : (userSecret === '') !== (passwordSecret === '')
          ? 'a sign-in needs both a user and a password'
          : undefined;
  if (fault !== undefined)
    throw new ToolLayerError('E3801', `The settings of mail for approvals cannot be used: ${fault}.`);
}

/** One mail for each address: the approvers with their tokens first, then the addresses that get every notice. */
function mailsOf({ approvers }: ApprovalNotice, { to }: SmtpSettings): readonly Mail[] {
  const mails = new Map<string, Mail>();
  for (const approver of approvers) {
    const mail = mailTo(approver);
    if (mail !== undefined) mails.set(mail.to, mail);
  }
  for (const address of to) if (!mails.has(address)) mails.set(address, { to: address });
  return [...mails.values()].slice(0, MAILS_MAX);
}

function mailTo({ id, answerToken }: NotifiedApprover): Mail | undefined {
  const to = addressOf(id);
  if (to === undefined) return undefined;
  return answerToken === undefined ? { to } : { to, answerToken };
}

/** Loaded when the first mail is sent, so a layer without mail never loads it. */
async function openTransport(
  { host, port, security, ...names }: SmtpSettings,
  { secret, ca }: SmtpParts,
): Promise<Transporter> {
  const { userSecret, passwordSecret } = names;
  const { createTransport } = await import('nodemailer');
  const auth =
    userSecret === '' ? {} : { auth: { user: await secret(userSecret), pass: await secret(passwordSecret) } };
  return createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...auth,
  });
}

function messageOf(
  { to, answerToken }: Mail,
  notice: ApprovalNotice,
  { from, answerUrl }: SmtpSettings,
): SendMailOptions {
  const { tenantId, approvalId, kind, level } = notice;
  const id = sha256(canonicalJson([tenantId, approvalId, kind, level, to]));
  return {
    from: { name: 'Sallyport', address: from },
    to: { name: '', address: to },
    subject: noticeSubject(notice).slice(0, SUBJECT_CHARACTERS_MAX),
    text:
      answerToken === undefined
        ? noticeText(notice)
        : `${noticeText(notice)}\n\n${answerLines(answerToken, answerUrl)}`,
    // The same for the same notice, so that a mail that arrives twice is recognised as one.
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    // Keeps automatic replies away (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function answerLines(answerToken: string, answerUrl: string): string {
  return [
    'This token answers once, in your name, until the approval ends. It is for you alone.',
    `  ${answerUrl === '' ? answerToken : `${answerUrl}#${answerToken}`}`,
  ].join('\n');
}

/** A server's permanent refusal of every mail is final; all other failures are retried. */
function failureOf(failed: readonly unknown[], mails: number): Error {
  const isFinal = failed.every((thrown) => {
    const { responseCode = 0 } = thrown as { responseCode?: number };
    return responseCode >= 500 && responseCode < 600;
  });
  const [first] = failed;
  // A server's text may repeat addresses; its code says enough.
  const { code = 'error', responseCode } = first as { code?: string; responseCode?: number };
  const what = `${failed.length} of ${mails} mails were not sent: ${code}${responseCode === undefined ? '' : ` ${responseCode}`}.`;
  return isFinal ? new NoticeRefused(what) : new Error(what);
}
