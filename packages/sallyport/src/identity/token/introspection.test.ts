import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { KiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIntrospection } from './introspection.ts';

type Answer = (response: ServerResponse) => void;

/** What the authorization server was asked, and how it answers. */
const asked: { readonly body: string; readonly headers: IncomingMessage['headers']; readonly method?: string }[] = [];
const json =
  (value: unknown, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
let answer: Answer;

const server = createServer(async (request, response) => {
  const { headers, method = '' } = request;
  asked.push({ body: await text(request), headers, method });
  answer(response);
});
beforeAll(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)));
afterAll(() => new Promise((closed) => server.close(closed)));

const introspection = () =>
  createIntrospection({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/introspect`,
    clientId: 'layer: one',
    clientSecret: 's&c',
  });

test('PRM-10.2 the server is asked as the layer’s own client, and only a token that it calls active has claims', async () => {
  const introspect = introspection();
  answer = json({ active: true, sub: 'u' });
  asked.length = 0;
  expect(await introspect('opaque&more')).toEqual({ active: true, sub: 'u' });
  const { body, headers, method } = asked[0] ?? {};
  expect(method).toBe('POST');
  expect(body).toBe('token=opaque%26more&token_type_hint=access_token');
  expect(headers?.accept).toBe('application/json');
  expect(headers?.authorization).toBe(`Basic ${Buffer.from('layer%3A+one:s%26c').toString('base64')}`);
  for (const inactive of [{ active: false, sub: 'u' }, { active: 'true', sub: 'u' }, { sub: 'u' }]) {
    answer = json(inactive);
    expect(await introspect('opaque')).toBeUndefined();
  }
});

test.each<readonly [string, Answer, RegExp]>([
  ['an error', json({ active: true }, 500), /HTTP 500/],
  ['another success', json({ active: true }, 201), /HTTP 201/],
  ['a redirect', (response) => response.writeHead(302, { location: '/introspect' }).end(), /fetch failed/],
  ['more than 64 KiB', json({ active: true, pad: 'x'.repeat(64 * KiB) }), /too much/],
  ['a member twice', (response) => response.end('{"active":false,"active":true}'), /twice/],
  ['no object', json([]), /not a JSON object/],
])(
  'PRM-10.2 %s of the server is no answer, and the error holds neither token nor secret',
  async (_what, given, why) => {
    answer = given;
    const error = await introspection()('secret-token').then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(String(error)).toMatch(why);
    expect(String(error)).not.toMatch(/secret-token|s&c/);
  },
);

test('PRM-10.2 of an answer that is an error nothing is read, and its connection is left', async () => {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  answer = (response) => void response.on('close', resolve).writeHead(500).write('more is to come');
  await expect(introspection()('opaque')).rejects.toThrow('HTTP 500');
  await left;
});

test('PRM-10.2 each token is asked about once at a time, 32 at once, and an answer is not kept', async () => {
  const introspect = introspection();
  const waiting: ServerResponse[] = [];
  answer = (response) => void waiting.push(response);
  asked.length = 0;
  const first = introspect('t-1');
  const others = Array.from({ length: 31 }, (_, at) => introspect(`t-${at + 2}`));
  expect(introspect('t-1')).toBe(first);
  await expect(introspect('t-33')).rejects.toThrow('too many');
  await expect.poll(() => waiting.length, { interval: 5 }).toBe(32);
  answer = json({ active: true });
  for (const response of waiting) answer(response);
  expect(await Promise.all([first, ...others])).toHaveLength(32);
  expect(asked).toHaveLength(32);
  expect(await introspect('t-33')).toEqual({ active: true });
  expect(await introspect('t-1')).toEqual({ active: true });
  expect(asked).toHaveLength(34);
});
