import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { keyOf, signatureFault } from '../../../hooks/webhook-signature.ts';
import { ANSWER_TOKEN, noticeOf, notifierConformance } from '../../conformance/notifier.conformance.ts';
import { NoticeRefused } from '../../notices/notice-queue.ts';
import type { ApprovalWebhookSettings } from './settings.ts';
import { createWebhookNotifier } from './webhook-notifier.ts';

const SECRET = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`;
const nowSeconds = () => Math.floor(Date.now() / 1000);

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function open(
  more: Partial<ApprovalWebhookSettings> = {},
  reply: (response: ServerResponse) => unknown = (response) => response.end(),
  secret = SECRET,
) {
  const received: Received[] = [];
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    received.push({ headers: incoming.headers, body: Buffer.concat(parts).toString() });
    reply(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/approvals`;
  const settings = { id: 'pager', url, secret: 'KEY', answerTokens: false, ...more };
  const notifier = createWebhookNotifier(settings, { secret: async () => secret });
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { notifier, received, said: () => received.map(({ body }) => body), close };
}

notifierConformance(test, 'webhook', () => open(), { notifiesApproverAlone: false, showsCalls: true });

test('ORC-03 a message is signed as Standard Webhooks say, and the same notice has the same id', async () => {
  const { notifier, received, close } = await open();
  await notifier.notify(noticeOf());
  await notifier.notify(noticeOf());
  await notifier.notify(noticeOf({ kind: 'escalated', level: 1 }));
  const ids = received.map(({ headers }) => String(headers['webhook-id']));
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
  const [{ headers, body } = { headers: {}, body: '' }] = received;
  const message = {
    id: ids[0] ?? '',
    timestamp: String(headers['webhook-timestamp']),
    signature: String(headers['webhook-signature']),
    body,
  };
  expect(signatureFault(keyOf(SECRET), message, message.id, nowSeconds())).toBeUndefined();
  expect(signatureFault(keyOf(SECRET), { ...message, body: `${body} ` }, message.id, nowSeconds())).toContain('key');
  expect(JSON.parse(body)).toMatchObject({ type: 'approval.asked', tenant_id: 'acme', reason: 'requires_approval' });
  await close();
});

test('ORC-03 a token goes to its own webhook, and to others only where the operator says so', async () => {
  const own = await open();
  await own.notifier.notify(noticeOf({ approvers: [{ id: 'webhook:pager', answerToken: ANSWER_TOKEN }] }));
  expect(own.said()[0]).toContain(ANSWER_TOKEN);
  await own.close();
  const all = await open({ answerTokens: true });
  await all.notifier.notify(noticeOf());
  expect(all.said()[0]).toContain(ANSWER_TOKEN);
  await all.close();
});

test.each([
  ['a redirect', 307, true],
  ['a refusal', 400, true],
  ['an address that is gone', 410, true],
  ['too many requests', 429, false],
  ['a server that is down', 503, false],
])('%s fails, for good: %s %s', async (_what, status, isFinal) => {
  const { notifier, received, close } = await open({}, (response) =>
    response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(),
  );
  const thrown = await Promise.resolve(notifier.notify(noticeOf())).catch((each: unknown) => each);
  expect(thrown).toBeInstanceOf(Error);
  expect(thrown instanceof NoticeRefused).toBe(isFinal);
  expect(received).toHaveLength(1);
  await close();
});

test('a receiver that says nothing is not waited for longer than its time', async () => {
  const { notifier, close } = await open({ timeoutMs: 50 }, () => undefined);
  await expect(notifier.notify(noticeOf())).rejects.toThrow(/timeout/i);
  await close();
});

test('an endless answer is not read', async () => {
  const { notifier, close } = await open({}, (response) => response.write(Buffer.alloc(1_000_000)));
  await notifier.notify(noticeOf());
  await close();
});

test('a short secret signs nothing', async () => {
  const { notifier, received, close } = await open({}, undefined, 'short');
  await expect(notifier.notify(noticeOf())).rejects.toThrow(NoticeRefused);
  expect(received).toEqual([]);
  await close();
});

test.each([
  ['https://hooks.example/a', true],
  ['http://localhost:1/a', true],
  ['http://127.0.0.9/a', true],
  ['http://[::1]:8080/', true],
  ['http://hooks.example/a', false],
  ['http://127.0.0.1.example/', false],
  ['http://localhost.example/', false],
  ['http://10.0.0.1/', false],
  ['https://user:pass@hooks.example/', false],
  ['file:///etc/passwd', false],
  ['nowhere', false],
])('the address %s may be used: %s', (url, isGood) => {
  const make = () =>
    createWebhookNotifier({ id: 'a', url, secret: 'KEY', answerTokens: false }, { secret: async () => SECRET });
  if (isGood) expect(make).not.toThrow();
  else expect(make).toThrow(expect.objectContaining({ code: 'E3801' }));
});
