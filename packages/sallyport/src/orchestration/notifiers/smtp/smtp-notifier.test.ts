import { expect, test } from 'vitest';
import { createAuthority } from '../../../../../sandbox/src/drivers/kubernetes/fake/certificates.fixture.ts';
import { defaultsOf } from '../../../domain/settings/setting.ts';
import { ANSWER_TOKEN, noticeOf, notifierConformance } from '../../conformance/notifier.conformance.ts';
import { NoticeRefused } from '../../notices/notice-queue.ts';
import { addressOf } from './mail-address.ts';
import { SMTP_SETTINGS, type SmtpSettings } from './settings.ts';
import { createSmtpNotifier } from './smtp-notifier.ts';
import { type ReceivedMail, type SmtpServerOptions, startSmtpServer } from './smtp-server.fixture.ts';

const authority = createAuthority();
const tls = authority.issue('127.0.0.1');
const secrets: Record<string, string> = { USER: 'user', PASSWORD: 'secret', WRONG: 'other' };

async function open(options: SmtpServerOptions = {}, more: Partial<SmtpSettings> = {}, ca?: string) {
  const server = await startSmtpServer(options);
  const settings = {
    ...defaultsOf(SMTP_SETTINGS),
    host: '127.0.0.1',
    port: server.port,
    security: 'none' as const,
    from: 'tools@example.com',
    ...more,
  };
  const secret = async (name: string) => secrets[name] ?? '';
  const notifier = createSmtpNotifier(settings, { secret, ...(ca === undefined ? {} : { ca }) });
  return { notifier, server, said: () => server.mails.map(readable), close: server.close };
}

/** Headers and body as a mail program shows them. */
function readable({ text }: ReceivedMail): string {
  const end = text.indexOf('\n\n');
  const head = text.slice(0, end);
  const body = text.slice(end + 2);
  if (/^content-transfer-encoding: base64/im.test(head)) return `${head}\n\n${Buffer.from(body, 'base64').toString()}`;
  if (!/^content-transfer-encoding: quoted-printable/im.test(head)) return text;
  const bytes = body
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return `${head}\n\n${Buffer.from(bytes, 'latin1').toString('utf8')}`;
}

const told = { to: ['all@example.com'] };
const one = { approvers: [{ id: 'mailto:ops@example.com', answerToken: ANSWER_TOKEN }] };

test.each(['asked', 'decided'] as const)(
  'the addresses that hear of everything get %s, without a token',
  async (kind) => {
    const { notifier, server, said, close } = await open({}, told);
    await notifier.notify(noticeOf({ kind, approvers: [] }));
    expect(server.mails.map(({ to }) => to)).toEqual([['all@example.com']]);
    expect(said().join()).not.toContain('spa_');
    await close();
  },
);

notifierConformance(
  test,
  'smtp',
  async () => {
    const opened = await open();
    // Approvers are not notified of decisions, so the suite reads the mail to an address that receives every notice.
    const everything = await open({}, told);
    return {
      notifier: {
        name: 'smtp',
        notify: (notice) =>
          (notice.approvers.length > 0 && notice.kind === 'asked' ? opened : everything).notifier.notify(
            notice.kind === 'asked' ? notice : { ...notice, approvers: [] },
          ),
      },
      said: () => [...opened.said(), ...everything.said()],
      close: async () => {
        await opened.close();
        await everything.close();
      },
    };
  },
  { notifiesApproverAlone: true, showsCalls: true },
);

test('ORC-03 a mail is plain text, from and to plain addresses, with an id of its own', async () => {
  const { notifier, server, close } = await open();
  await notifier.notify(noticeOf(one));
  await notifier.notify(noticeOf(one));
  const [mail, again] = server.mails;
  expect(mail).toMatchObject({ from: 'tools@example.com', to: ['ops@example.com'] });
  expect(mail?.text).toMatch(/^Content-Type: text\/plain/m);
  expect(mail?.text).toMatch(/^Auto-Submitted: auto-generated/m);
  const idOf = (each?: ReceivedMail) => /^Message-ID:\s+<(.*)>/m.exec(each?.text ?? '')?.[1];
  expect(idOf(mail)).toMatch(/^[0-9a-f]{64}@example\.com$/);
  expect(idOf(again)).toBe(idOf(mail));
  await close();
});

test('an answer page is named with the token behind its #, where no server logs it', async () => {
  const { notifier, said, close } = await open({}, { answerUrl: 'https://tools.example.com/answer' });
  await notifier.notify(noticeOf(one));
  expect(said()[0]).toContain(`https://tools.example.com/answer#${ANSWER_TOKEN}`);
  await close();
});

test.each([
  ['STARTTLS', { ...tls }, 'starttls' as const],
  ['TLS', { ...tls, implicit: true }, 'tls' as const],
])('over %s the mail goes out encrypted, signed in with secrets', async (_how, serverTls, security) => {
  const names = { userSecret: 'USER', passwordSecret: 'PASSWORD' };
  const { notifier, server, close } = await open({ tls: serverTls }, { security, ...names }, authority.cert);
  await notifier.notify(noticeOf(one));
  expect(server.mails).toMatchObject([{ secured: true, signedIn: 'user:secret' }]);
  await close();
});

test('a server without STARTTLS gets neither a password nor a mail', async () => {
  const names = { userSecret: 'USER', passwordSecret: 'PASSWORD' };
  const { notifier, server, close } = await open({}, { security: 'starttls', ...names });
  await expect(notifier.notify(noticeOf(one))).rejects.toThrow(/not sent/);
  expect(server.commands.filter((line) => /^(?:AUTH|MAIL)/.test(line))).toEqual([]);
  expect(server.mails).toEqual([]);
  await close();
});

test('a certificate of nobody known is not taken', async () => {
  const { notifier, server, close } = await open({ tls: { ...tls, implicit: true } }, { security: 'tls' });
  await expect(notifier.notify(noticeOf(one))).rejects.toThrow(/not sent/);
  expect(server.mails).toEqual([]);
  await close();
});

test('a wrong password is final, and is not in the error', async () => {
  const names = { userSecret: 'USER', passwordSecret: 'WRONG' };
  const { notifier, close } = await open({}, names);
  const thrown = await Promise.resolve(notifier.notify(noticeOf(one))).catch((each: unknown) => each);
  expect(thrown).toBeInstanceOf(NoticeRefused);
  expect(String(thrown)).not.toContain('other');
  await close();
});

test('another attempt sends what failed, and nothing twice', async () => {
  let busy = true;
  const toRecipient = (address: string) => (busy && address === 'b@example.com' ? '450 later' : undefined);
  const { notifier, server, close } = await open({ toRecipient });
  const notice = noticeOf({ approvers: [{ id: 'mailto:a@example.com' }, { id: 'mailto:b@example.com' }] });
  const thrown = await Promise.resolve(notifier.notify(notice)).catch((each: unknown) => each);
  expect(thrown).toBeInstanceOf(Error);
  expect(thrown).not.toBeInstanceOf(NoticeRefused);
  busy = false;
  await notifier.notify(notice);
  expect(server.mails.map(({ to }) => to[0])).toEqual(['a@example.com', 'b@example.com']);
  await close();
});

test.each([
  ['mailto:ops@example.com', 'ops@example.com'],
  ['mailto:a.b+c@example-1.com', 'a.b+c@example-1.com'],
  ['did:user:u', undefined],
  ['role:approver', undefined],
  ['mailto:ops@example.com?bcc=evil@example.com', undefined],
  ['mailto:a@example.com,b@example.com', undefined],
  ['mailto:a@example.com\r\nRCPT TO:<evil@example.com>', undefined],
  ['mailto:<a@example.com>', undefined],
  ['mailto:"a b"@example.com', undefined],
  [`mailto:${'a'.repeat(65)}@example.com`, undefined],
  [`mailto:a@${'b'.repeat(260)}.com`, undefined],
])('mail for %j goes to %s', (id, address) => expect(addressOf(id)).toBe(address));

test.each([
  [{ security: 'none' as const, host: 'mail.example.com' }],
  [{ from: 'no address' }],
  [{ from: 'a@example.com\r\nBcc: b@example.com' }],
  [{ to: ['x'] }],
  [{ userSecret: 'USER' }],
  [{ passwordSecret: 'PASSWORD' }],
])('settings with %j are refused', (more) => {
  const own = { host: '127.0.0.1', port: 25, security: 'none' as const, from: 'a@example.com' };
  const settings = { ...defaultsOf(SMTP_SETTINGS), ...own, ...more };
  expect(() => createSmtpNotifier(settings, { secret: async () => '' })).toThrow(
    expect.objectContaining({ code: 'E3801' }),
  );
});

test.each([
  [{ security: 'none' as const, host: 'localhost' }],
  [{ security: 'none' as const, host: '::1' }],
  [{ security: 'tls' as const, host: 'mail.example.com' }],
  [{ security: 'starttls' as const, host: 'mail.example.com', userSecret: 'USER', passwordSecret: 'PASSWORD' }],
])('settings with %j are taken', (more) => {
  const settings = { ...defaultsOf(SMTP_SETTINGS), port: 25, from: 'a@example.com', to: ['b@example.com'], ...more };
  expect(createSmtpNotifier(settings, { secret: async () => '' }).name).toBe('smtp');
});
