import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import { HEADER, keyOf, signatureOf } from '../../../hooks/webhook-signature.ts';
import { ANSWER_TOKEN, noticeOf } from '../../../orchestration/conformance/notifier.conformance.ts';
import { startSmtpServer } from '../../../orchestration/notifiers/smtp/smtp-server.fixture.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { readSettings } from '../../read-settings.ts';
import type { Settings } from '../../settings.ts';
import { openNotifiers } from './open-notifiers.ts';

const SMTP = { 'notifiers.smtp_host': 'mail.example', 'notifiers.smtp_from': 'layer@example.com' };
const WEBHOOK = { 'notifiers.webhook_url': 'https://hooks.example/a', 'notifiers.webhook_secret': 'KEY' };
const SECRET = 'k'.repeat(32);

/** Secrets of the tenant `own`. */
const SECRETS: readonly (readonly [string, string])[] = [
  ['KEY', SECRET],
  ['USER', 'user'],
  ['PASSWORD', 'secret'],
];
const secrets: SecretStore = { read: async (tenantId) => new Map(tenantId === 'own' ? SECRETS : []) };

function open(given: Partial<Settings>) {
  const opened = new AsyncDisposableStack();
  onTestFinished(() => opened.disposeAsync());
  const settings = readSettings({ environment: {}, given: { 'tenant.default': 'own', ...given } });
  return openNotifiers(opened, { settings, log: silentLog, secrets });
}

test('ORC-03 those that are named are opened, in their order, with what they need', () => {
  const all = { 'notifiers.enabled': ['log', 'console', 'webhook', 'smtp'], ...SMTP, ...WEBHOOK };
  expect(open(all).map(({ name }) => name)).toEqual(['log', 'console', 'webhook:approvals', 'smtp']);
  expect(open({ 'notifiers.enabled': [] })).toEqual([]);
});

test.each<[Partial<Settings>, string]>([
  [{ 'notifiers.enabled': ['pager'] }, 'names "pager"; there are console, log, webhook, smtp'],
  [{ 'notifiers.enabled': ['toString'] }, 'names "toString"'],
  [{ ...WEBHOOK, 'notifiers.enabled': ['webhook'], 'notifiers.webhook_url': '' }, 'needs notifiers.webhook_url'],
  [{ ...WEBHOOK, 'notifiers.enabled': ['webhook'], 'notifiers.webhook_secret': '' }, 'needs notifiers.webhook_secret'],
  [{ ...SMTP, 'notifiers.enabled': ['smtp'], 'notifiers.smtp_host': '' }, 'needs notifiers.smtp_host'],
  [{ ...SMTP, 'notifiers.enabled': ['smtp'], 'notifiers.smtp_from': '' }, 'needs notifiers.smtp_from'],
])('ORC-03 %j is refused', (given, message) => {
  expect(() => open(given)).toThrow(
    expect.objectContaining({ code: 'E3801', message: expect.stringContaining(message) }),
  );
});

test('ORC-03 a mail is sent as the user of the settings, with the page on which approvers answer', async () => {
  const server = await startSmtpServer();
  onTestFinished(() => server.close());
  const given = {
    ...{ ...SMTP, 'notifiers.enabled': ['smtp'], 'notifiers.smtp_host': '127.0.0.1' },
    ...{ 'notifiers.smtp_port': server.port, 'notifiers.smtp_security': 'none' as const },
    ...{ 'notifiers.smtp_user_secret': 'USER', 'notifiers.smtp_password_secret': 'PASSWORD' },
    'notifiers.answer_url': 'https://tools.example.com/answer',
  };
  const [notifier] = open(given);
  await notifier?.notify(noticeOf());
  const { 'notifiers.smtp_user_secret': _user, 'notifiers.smtp_password_secret': _password, ...nobody } = given;
  await open({ ...nobody, 'notifiers.answer_url': '' })[0]?.notify(noticeOf());
  const [signed, plain] = server.mails.map(({ from, signedIn, text: body }) => ({
    ...{ from, signedIn },
    body: body.replaceAll(/=\n/g, ''),
  }));
  expect(signed).toMatchObject({ from: 'layer@example.com', signedIn: 'user:secret' });
  expect(signed?.body).toContain(`https://tools.example.com/answer#${ANSWER_TOKEN}`);
  expect(plain?.signedIn).toBeUndefined();
  expect(plain?.body).toMatch(new RegExp(`^ {2}${ANSWER_TOKEN}$`, 'm'));
});

test('ORC-03 a webhook is signed with the secret of the own tenant', async () => {
  const asked: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    asked.push({ headers: request.headers, body: await text(request) });
    response.end();
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await open({ ...WEBHOOK, 'notifiers.enabled': ['webhook'], 'notifiers.webhook_url': url })[0]?.notify(noticeOf());
  const [{ headers, body } = { headers: {}, body: '' }] = asked;
  const signature = signatureOf(keyOf(SECRET), String(headers[HEADER.id]), Number(headers[HEADER.timestamp]), body);
  expect(headers[HEADER.signature]).toBe(signature);
});
