import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MiB } from '@sallyport/std/bytes';
import { systemClock } from '@sallyport/std/clock';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AfterHook, BeforeHook, HookedCall } from '../hook.ts';
import { createHooks } from '../run-hooks.ts';
import { keyOf, signatureFault, signatureOf } from '../webhook-signature.ts';
import type { WebhookSettings } from './settings.ts';
import { createWebhookHook } from './webhook-hook.ts';

const SECRET = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`;
const key = keyOf(SECRET);
const nowSeconds = () => Math.floor(Date.now() / 1000);

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
type Reply = (received: Received, response: ServerResponse) => void;

let url = '';
let reply: Reply;
const received: Received[] = [];
const server = createServer(async (incoming, response) => {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const got = { headers: incoming.headers, body: Buffer.concat(parts).toString() };
  received.push(got);
  reply(got, response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received.length = 0;
  reply = signed({ outcome: 'allow' });
});

/** The answer of a server that follows the rules of signatures, except for what `differs` changes. */
function signed(answer: unknown, differs: { id?: string; at?: number; key?: Buffer; said?: string } = {}): Reply {
  return ({ headers }, response) => {
    const body = JSON.stringify(answer);
    const id = differs.id ?? String(headers['webhook-id']);
    const at = differs.at ?? nowSeconds();
    const signature = signatureOf(differs.key ?? key, id, at, body);
    response.writeHead(200, { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature });
    response.end(differs.said ?? body);
  };
}
const unsigned =
  (body: string, status = 200): Reply =>
  (_, response) =>
    void response.writeHead(status).end(body);

const call: HookedCall = {
  invocationId: 'i-1',
  dryRun: true,
  tenantId: 'acme',
  agentDid: 'did:agent:a',
  sessionId: 's',
  toolId: 'mail__send',
  toolVersion: '1.0.0',
  sideEffect: 'irreversible',
  phase: 'executor',
  trust: 'provisional',
  arguments: { to: 'ä`"\u2028' },
};

function ask(more: Partial<WebhookSettings> = {}, secret = SECRET, given = call) {
  const settings: WebhookSettings = { id: 'dlp', at: 'before', url, secret: 'HOOK_KEY', ...more };
  const hook = createWebhookHook(settings, { secret: async () => secret, clock: systemClock }) as BeforeHook;
  return createHooks([hook]).askBefore(hook, given, new AbortController().signal);
}

describe('the message', () => {
  test('PIPE-14.2 is signed with HMAC-SHA256 over id, time and body, as Standard Webhooks say', async () => {
    await ask();
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    const message = {
      id: String(headers['webhook-id']),
      timestamp: String(headers['webhook-timestamp']),
      signature: String(headers['webhook-signature']),
      body,
    };
    expect(signatureFault(key, message, message.id, nowSeconds())).toBeUndefined();
    expect(signatureFault(key, { ...message, body: `${body} ` }, message.id, nowSeconds())).toContain('key');
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toEqual({
      type: 'call.before',
      hook: 'dlp',
      invocation_id: 'i-1',
      dry_run: true,
      tenant_id: 'acme',
      agent_did: 'did:agent:a',
      session_id: 's',
      tool_id: 'mail__send',
      tool_version: '1.0.0',
      side_effect_policy: 'irreversible',
      phase: 'executor',
      trust: 'provisional',
      arguments: call.arguments,
    });
    expect(body + JSON.stringify(headers)).not.toContain(SECRET);
  });

  test('the known answer of the specification', () => {
    const known = keyOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const body = '{"test": 2432232314}';
    expect(signatureOf(known, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, body)).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  test('after a call holds the result', async () => {
    const hook = createWebhookHook(
      { id: 'dlp', at: 'after', url, secret: 'HOOK_KEY' },
      { secret: async () => SECRET, clock: systemClock },
    ) as AfterHook;
    reply = signed({ outcome: 'rewrite', result: { b: 2 } });
    const given = { ...call, result: { a: 1 }, toolError: false };
    const { answer } = await createHooks([hook]).askAfter(hook, given, new AbortController().signal);
    expect(answer).toEqual({ outcome: 'rewrite', result: { b: 2 } });
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
      type: 'call.after',
      result: { a: 1 },
      tool_error: false,
    });
  });
});

describe('the answer', () => {
  test('PIPE-14 may allow, refuse and rewrite when it is signed', async () => {
    expect((await ask()).verdict.outcome).toBe('allow');
    reply = signed({ outcome: 'refuse', reason: 'No.' });
    expect((await ask()).refused?.code).toBe('E3815');
    reply = signed({ outcome: 'rewrite', arguments: { to: 'b' } });
    expect((await ask()).answer).toEqual({ outcome: 'rewrite', arguments: { to: 'b' } });
  });

  test.each<[string, Reply]>([
    ['is not signed', unsigned('{"outcome":"allow"}')],
    ['is empty and not signed', unsigned('', 204)],
    ['is signed with another key', signed({ outcome: 'allow' }, { key: Buffer.from('x'.repeat(32)) })],
    ['is signed for another message', signed({ outcome: 'allow' }, { id: 'msg_other' })],
    ['is too old', signed({ outcome: 'allow' }, { at: nowSeconds() - 301 })],
    ['is of tomorrow', signed({ outcome: 'allow' }, { at: nowSeconds() + 400 })],
    ['was changed on the way', signed({ outcome: 'refuse', reason: 'No.' }, { said: '{"outcome":"allow"}' })],
  ])('PIPE-14 that %s refuses the call, even where the hook fails open', async (_name, how) => {
    reply = how;
    const { verdict, refused } = await ask({ failOpen: true });
    expect([verdict.outcome, refused?.code]).toEqual(['failed', 'E3816']);
    expect(received).toHaveLength(1);
  });

  test.each<[string, Reply]>([
    ['is a server error', unsigned('{"outcome":"allow"}', 500)],
    ['leads elsewhere', (_, response) => void response.writeHead(307, { location: url }).end()],
    ['is rubbish', signed('rubbish')],
    ['is our own message', (got, response) => signed(JSON.parse(got.body))(got, response)],
    ['says more than it may', signed({ outcome: 'allow', arguments: {}, grant: ['*'] })],
    ['is endless', (_, response) => void response.writeHead(200).end(Buffer.alloc(5 * MiB, 32))],
    ['comes after the timeout', (_, response) => void setTimeout(() => response.end('{}'), 200)],
  ])('PIPE-14.6 PIPE-14.7 that %s is none', async (_name, how) => {
    reply = how;
    expect((await ask({ timeoutMs: 100 })).refused?.code).toBe('E3816');
    expect((await ask({ timeoutMs: 100, failOpen: true })).refused).toBeUndefined();
  });

  test.each([
    'null',
    '{"outcome":"refuse","outcome":"allow"}',
    '{"outcome":"rewrite","arguments":{"a":9007199254740993}}',
    '['.repeat(100_000),
  ])('PIPE-14.7 %.60s leaves open what it means, so it is none', async (said) => {
    reply = unsigned(said);
    expect((await ask({ signedAnswers: false })).refused?.code).toBe('E3816');
    expect((await ask({ signedAnswers: false, failOpen: true })).verdict.outcome).toBe('failed');
  });

  test('counts without a signature where the settings say so', async () => {
    reply = unsigned('{"outcome":"refuse","reason":"No."}');
    expect((await ask({ signedAnswers: false })).refused?.code).toBe('E3815');
    reply = unsigned('', 204);
    expect((await ask({ signedAnswers: false })).verdict.outcome).toBe('allow');
  });

  test('of a server that is not there is none', async () => {
    expect((await ask({ url: 'http://127.0.0.1:9/' })).refused?.code).toBe('E3816');
  });
});

test('a secret that is too short is not used, nor is a message sent that is too large', async () => {
  expect((await ask({ failOpen: true }, 'short')).refused?.code).toBe('E3816');
  expect((await ask({}, SECRET, { ...call, arguments: { a: 'x'.repeat(4 * MiB) } })).refused?.code).toBe('E3816');
  expect(received).toHaveLength(0);
});

describe('a signature', () => {
  const signedAt = (timestamp: string, signature: string) =>
    signatureFault(key, { id: 'm', timestamp, signature, body: 'b' }, 'm', 1_000_000);
  const good = (at: number) => signatureOf(key, 'm', at, 'b');

  test('holds within the window, to the second', () => {
    expect(signedAt('999700', good(999_700))).toBeUndefined();
    expect(signedAt('1000300', good(1_000_300))).toBeUndefined();
    expect(signedAt('999699', good(999_699))).toContain('300 s');
    expect(signedAt('1000301', good(1_000_301))).toContain('300 s');
  });

  test('may be one of several, but not the ninth', () => {
    const other = 'v1,AAAA';
    expect(signedAt('1000000', `${other} v2,x ${good(1_000_000)}`)).toBeUndefined();
    expect(signedAt('1000000', `${`${other} `.repeat(8)}${good(1_000_000)}`)).toContain('key');
  });

  test('without a time, or with one that is no number, holds for nothing', () => {
    for (const time of ['', '-1', '1e6', ' 1000000', '0x10']) expect(signedAt(time, good(1_000_000))).toBeDefined();
  });
});
