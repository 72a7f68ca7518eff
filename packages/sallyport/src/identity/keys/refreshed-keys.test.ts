import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isFailure } from '@sallyport/std/error/failure';
import { exportJWK, SignJWT } from 'jose';
import { afterEach, describe, expect, test } from 'vitest';
import { verifierWith } from '../token/verifier.fixture.ts';
import { openKeyUrl, type RefreshedKeys } from './verification-keys.ts';

const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const [first, second] = [pair(), pair()];
const NOW = 1_800_000_000;
const CLAIMS = {
  tool_id: '*',
  agent_did: 'did:a',
  tenant_id: 't',
  allowed_operations: ['execute'],
  iat: NOW,
  exp: NOW + 1e6,
  iss: 'idp',
};
const sign = (kid: string, key: KeyObject, claims: object = {}) =>
  new SignJWT({ ...CLAIMS, ...claims }).setProtectedHeader({ alg: 'RS256', kid }).sign(key);
const jwk = async (kid: string, { publicKey }: { publicKey: KeyObject }, more: object = {}) => ({
  ...(await exportJWK(publicKey)),
  kid,
  ...more,
});

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An HTTP server with a key set that the test may change, and a verifier of its tokens with a clock of the test. */
async function fixture(options: Partial<Parameters<typeof openKeyUrl>[1]> = {}) {
  const time = { seconds: NOW };
  const served: { answer: RequestListener; asked: number } = { answer: () => undefined, asked: 0 };
  const http = createServer((request, response) => {
    served.asked += 1;
    served.answer(request, response);
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const clock = { now: () => time.seconds * 1000, monotonic: () => time.seconds * 1000 };
  const lines: string[] = [];
  const reasons: unknown[] = [];
  const say = (event: string, fields?: Record<string, unknown>): void => {
    lines.push(event);
    reasons.push(fields?.['reason']);
  };
  const source: RefreshedKeys = openKeyUrl(`http://127.0.0.1:${(http.address() as AddressInfo).port}/jwks`, {
    issuers: ['idp'],
    refreshMs: 3_600_000,
    overlapMs: 60_000,
    maxAgeMs: 600_000,
    retryMs: 10_000,
    timeoutMs: 5_000,
    clock,
    log: { debug: say, info: say, warn: say, error: say },
    ...options,
  });
  closing.push(async () => {
    await source[Symbol.asyncDispose]();
    http.closeAllConnections();
    await new Promise((done) => http.close(done));
  });
  const verifier = verifierWith({ keys: source, issuers: ['idp', 'else'], clock });
  const code = async (token: string) => {
    const answer = await verifier.verify(token);
    return isFailure(answer) ? answer.code : 'ok';
  };
  const publish = (...keys: unknown[]): void => {
    served.answer = (_request, response) => response.end(JSON.stringify({ keys }));
  };
  return { time, served, source, lines, reasons, code, publish };
}

describe('a key set behind a URL', () => {
  test('PRM-02.2 an unknown key is looked for at once, and then not again for a while', async () => {
    const { time, served, code, publish } = await fixture();
    publish(await jwk('one', first));
    expect(await code(await sign('one', first.privateKey))).toBe('ok');
    expect(served.asked).toBe(1);
    publish(await jwk('one', first), await jwk('two', second));
    const token = await sign('two', second.privateKey);
    for (let at = 0; at < 20; at += 1) expect(await code(token)).toBe('E3201');
    expect(served.asked).toBe(1);
    time.seconds += 10;
    expect(await code(token)).toBe('ok');
    expect(served.asked).toBe(2);
  });

  test('tokens with unknown keys that come together cause one look', async () => {
    const { served, code, publish } = await fixture();
    publish(await jwk('one', first));
    const tokens = await Promise.all(Array.from({ length: 16 }, (_, at) => sign(`k${at}`, second.privateKey)));
    expect(new Set(await Promise.all(tokens.map(code)))).toEqual(new Set(['E3201']));
    expect(served.asked).toBe(1);
  });

  test('PRM-02.2 PRM-02.3 a key that vanished counts for the overlap and no longer, cached tokens too', async () => {
    const { time, source, code, publish, lines } = await fixture();
    publish(await jwk('one', first));
    const [used, unused] = [await sign('one', first.privateKey), await sign('one', first.privateKey, { jti: 'x' })];
    expect(await code(used)).toBe('ok');
    publish(await jwk('two', second));
    time.seconds += 10;
    await source.lookAgain();
    expect(lines).toContain('key-vanished');
    time.seconds += 59;
    expect([await code(used), await code(unused)]).toEqual(['ok', 'ok']);
    time.seconds += 1;
    expect([await code(used), await code(unused)]).toEqual(['E3201', 'E3201']);
  });

  test('a key that comes back in time counts on', async () => {
    const { time, source, code, publish } = await fixture();
    publish(await jwk('one', first));
    const token = await sign('one', first.privateKey);
    expect(await code(token)).toBe('ok');
    publish();
    time.seconds += 10;
    await source.lookAgain();
    publish(await jwk('one', first));
    time.seconds += 10;
    await source.lookAgain();
    time.seconds += 500;
    expect(await code(token)).toBe('ok');
  });

  test('the same name for another key is another key', async () => {
    const { time, source, code, publish } = await fixture();
    publish(await jwk('one', first));
    expect(await code(await sign('one', first.privateKey))).toBe('ok');
    publish(await jwk('one', second));
    time.seconds += 10;
    await source.lookAgain();
    expect(await code(await sign('one', second.privateKey, { jti: 'n' }))).toBe('ok');
    time.seconds += 60;
    expect(await code(await sign('one', first.privateKey, { jti: 'o' }))).toBe('E3201');
  });

  const RUBBISH: readonly [string, RequestListener, RegExp][] = [
    ['is no JSON', (_request, response) => response.end('<html>'), /no PEM block/],
    ['is broken JSON', (_request, response) => response.end('{"keys":['), /is not JSON/],
    ['is another document', (_request, response) => response.end('{"keys":{}}'), /no list "keys"/],
    [
      'holds nothing but rubbish',
      (_request, response) => response.end('{"keys":[1,{"kty":"oct","k":"AA"}]}'),
      /no key that can verify/,
    ],
    ['is an error', (_request, response) => response.writeHead(500).end('{"keys":[]}'), /^answered with HTTP 500$/],
    ['is a redirect', (_request, response) => response.writeHead(302, { location: '/other' }).end(), /fetch failed/],
    [
      'is too large',
      (_request, response) => response.end(`{"keys":[],"x":"${'x'.repeat(262_144)}"}`),
      /^sends more than 262144 bytes$/,
    ],
    [
      'is no UTF-8',
      (_request, response) => response.end(Buffer.from([0x7b, 0xff, 0x7d])),
      /encoded data was not valid/,
    ],
    ['never comes', () => undefined, /did not answer in time/],
    ['begins and hangs', (_request, response) => void response.write('{"keys":['), /did not answer in time/],
    ['breaks off', (_request, response) => void response.destroy(), /fetch failed/],
  ];
  test.each(RUBBISH)(
    'PRM-02 when the answer %s, known keys stay up to the maximum age, loudly',
    async (_name, answer, why) => {
      const { time, served, source, code, publish, lines, reasons } = await fixture({ timeoutMs: 1_000 });
      publish(await jwk('one', first));
      const token = await sign('one', first.privateKey);
      expect(await code(token)).toBe('ok');
      served.answer = answer;
      time.seconds += 10;
      await source.lookAgain();
      expect([lines.at(-1), reasons.at(-1)]).toEqual(['keys-not-refreshed', expect.stringMatching(why)]);
      time.seconds += 589;
      expect(await code(token)).toBe('ok');
      time.seconds += 1;
      expect(await code(token)).toBe('E3206');
      expect(source.problem('idp')).toContain('could not be read');
    },
  );

  test('PRM-02.2 a key set is asked for by its type, a redirect is not followed, and closing ends the request', async () => {
    const { time, served, source, code } = await fixture();
    const keys = JSON.stringify({ keys: [await jwk('one', first)] });
    const asked: unknown[] = [];
    served.answer = (request, response) => {
      asked.push([request.url, request.headers.accept]);
      if (request.url === '/jwks') response.writeHead(302, { location: '/other' }).end();
      else response.end(keys);
    };
    expect(await code(await sign('one', first.privateKey))).toBe('E3206');
    expect(asked).toEqual([['/jwks', 'application/jwk-set+json, application/json']]);
    const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    served.answer = (_request, response) => {
      response.on('close', left.resolve);
      arrived.resolve();
    };
    time.seconds += 10;
    const looking = source.lookAgain();
    await arrived.promise;
    await source[Symbol.asyncDispose]();
    await Promise.all([looking, left.promise]);
  });

  test('PRM-02.2 of an answer that is an error nothing is read, and its connection is left', async () => {
    const { served, source } = await fixture();
    const { promise: left, resolve } = Promise.withResolvers<void>();
    served.answer = (_request, response) => void response.on('close', resolve).writeHead(500).write('{"keys":[');
    await source.lookAgain();
    await left;
  });

  test('before the first answer tokens of its issuer cannot be judged; those of others are unknown', async () => {
    const { served, code } = await fixture();
    served.answer = (_request, response) => void response.destroy();
    expect(await code(await sign('one', first.privateKey))).toBe('E3206');
    expect(await code(await sign('one', first.privateKey, { iss: 'else' }))).toBe('E3201');
  });

  test('its keys speak for its issuer alone', async () => {
    const { code, publish } = await fixture();
    publish(await jwk('one', first));
    expect(await code(await sign('one', first.privateKey, { iss: 'else' }))).toBe('E3201');
  });

  test('keys that are not for this are passed over, and bound to their algorithm', async () => {
    const { source, code, publish } = await fixture();
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
    publish(
      await jwk('enc', first, { use: 'enc' }),
      await jwk('ops', first, { key_ops: ['encrypt'] }),
      await jwk('weak', weak),
      await jwk('pss', first, { alg: 'PS256' }),
      { kty: 'oct', k: 'AAAA', kid: 'shared' },
      { ...(await exportJWK(first.privateKey)), kid: 'private' },
      await jwk('good', second, { use: 'sig' }),
    );
    expect(await code(await sign('good', second.privateKey))).toBe('ok');
    expect(source.keys().map(({ kid }) => kid)).toEqual(['pss', 'good']);
    for (const kid of ['enc', 'ops', 'pss', 'private'])
      expect(await code(await sign(kid, first.privateKey, { jti: kid }))).toBe('E3201');
  });

  test('a source that invents keys without end does not fill the memory', async () => {
    const { time, source, publish } = await fixture({ retryMs: 0 });
    const keys = Array.from({ length: 60 }, () => generateKeyPairSync('ec', { namedCurve: 'P-256' }));
    const jwks = await Promise.all(keys.map((each, at) => jwk(`k${at}`, each)));
    for (let round = 0; round < 6; round += 1) {
      publish(...jwks.map((each) => ({ ...each, kid: `${each.kid}-${round}` })));
      time.seconds += 1;
      await source.lookAgain();
    }
    expect(source.keys().length).toBeLessThanOrEqual(128);
    expect(source.keys().filter(({ kid }) => kid.endsWith('-5'))).toHaveLength(60);
  });

  test.each([
    'http://keys.example/jwks',
    'ftp://127.0.0.1/jwks',
    'file:///etc/jwks',
    'https://user:secret@keys.example/',
    'http://127.0.0.1.keys.example/',
    'rubbish',
  ])('the address %s is refused', (url) => {
    const options = { refreshMs: 1, overlapMs: 1, maxAgeMs: 1, clock: { now: () => 0, monotonic: () => 0 } };
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    expect(() => openKeyUrl(url, { ...options, log })).toThrow(expect.objectContaining({ code: 'E3801' }));
  });
});

describe('the state of a key set', () => {
  test('PRM-02.2 it says what is wrong with the keys of its own issuers, and nothing of others', async () => {
    const { source, time, publish } = await fixture();
    const problems = () => ['idp', 'else', undefined].map((issuer) => source.problem(issuer));
    expect(problems()).toEqual([expect.stringContaining('has not been read yet'), undefined, undefined]);
    publish(await jwk('k', first));
    await source.lookAgain();
    expect([problems()[0], source.keys().map(({ kid }) => kid)]).toEqual([undefined, ['k']]);
    time.seconds += 600;
    expect([problems()[0], source.keys()]).toEqual([expect.stringContaining('could not be read for too long'), []]);
  });

  test('PRM-02.2 a server that does not answer in time is a failure, and is asked no more once the source is closed', async () => {
    const { source, served, lines } = await fixture({ timeoutMs: 20 });
    expect(await source.lookAgain()).toBe(true);
    expect(lines).toEqual(['keys-not-refreshed']);
    source.start();
    source.start();
    await source[Symbol.asyncDispose]();
    source.start();
    expect([lines.length, served.asked <= 2]).toEqual([1, true]);
  });
});
