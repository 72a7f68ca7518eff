import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@sallyport/std/error/failure';
import { exportJWK } from 'jose';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../telemetry/log.ts';
import { type KeyRing, openKeyRing } from './key-ring.ts';
import { createTokenMint } from './mint-token.ts';
import { verifierWith } from './token/verifier.fixture.ts';

let folder: string;
let time: { now: number; monotonic: number };
let lines: [event: string, fields?: Record<string, unknown>][];
const opened: KeyRing[] = [];
beforeEach(async () => {
  lines = [];
  folder = await mkdtemp(join(tmpdir(), 'sallyport-ring-'));
  time = { now: 1_800_000_000_000, monotonic: 0 };
});
afterEach(async () => {
  for (const ring of opened.splice(0)) await ring[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const clock = { now: () => time.now, monotonic: () => time.monotonic };
const note = (...line: (typeof lines)[number]) => void lines.push(line);
const log = { ...silentLog, warn: note, error: note };
const open = async (): Promise<KeyRing> => {
  const ring = await openKeyRing({ folder, issuer: 'sallyport', clock, log });
  opened.push(ring);
  return ring;
};
const mintOf = (ring: KeyRing) => {
  const mint = createTokenMint({
    ...{ keys: ring.current, issuer: 'sallyport', tenantId: 't', agentDid: 'did:a' },
    ...{ revokedBefore: () => 0, clock },
  });
  return async () => (await mint.mint({ expires_in_seconds: 86_400 })).capability_token;
};
const verifierOf = (ring: KeyRing) => {
  const verifier = verifierWith({ keys: ring, issuers: ['sallyport', 'other'], clock });
  return async (token: string) => {
    const claims = await verifier.verify(token);
    return isFailure(claims) ? claims.code : 'ok';
  };
};

describe('openKeyRing', () => {
  test('PRM-02.3 tokens of a replaced key count up to the end of the overlap, cached ones too', async () => {
    const ring = await open();
    const [verify, mint] = [verifierOf(ring), mintOf(ring)];
    const [used, unused] = [await mint(), await mint()];
    expect(await verify(used)).toBe('ok');
    await ring.rotate(60_000);
    time.now += 59_999;
    expect([await verify(used), await verify(unused)]).toEqual(['ok', 'ok']);
    time.now += 1;
    expect([await verify(used), await verify(unused)]).toEqual(['E3201', 'E3201']);
    expect(await verify(await mint())).toBe('ok');
  });

  test('PRM-02.3 rotation survives a restart: the same keys, the same overlap', async () => {
    const ring = await open();
    const old = await mintOf(ring)();
    await ring.rotate(60_000);
    const again = await open();
    expect(again.current().kid).toBe(ring.current().kid);
    expect(await verifierOf(again)(old)).toBe('ok');
    expect(again.published().keys).toHaveLength(2);
    time.now += 60_000;
    expect(await verifierOf(again)(old)).toBe('E3201');
    expect(again.published().keys.map(({ kid }) => kid)).toEqual([ring.current().kid]);
  });

  test('another instance on the same folder takes a new pair over when it meets a token of it', async () => {
    const [one, other] = [await open(), await open()];
    await one.rotate(60_000);
    const token = await mintOf(one)();
    const verify = verifierOf(other);
    expect(await verify(token)).toBe('ok');
    expect(other.current().kid).toBe(one.current().kid);
    // The folder is read at most once a second, however many tokens name an unknown key.
    await one.rotate(60_000);
    const next = await mintOf(one)();
    expect(await verify(next)).toBe('E3201');
    time.monotonic += 1_000;
    expect(await verify(next)).toBe('ok');
  });

  test('PRM-02.3 AUD-03.2 no pair is lost that two instances on the same folder replace, one soon after the other or at once', async () => {
    const [one, other] = [await open(), await open()];
    const pairs = [one.current()];
    const tokens: string[] = [];
    const knownByAll = async () => {
      for (const ring of [one, other, await open()]) {
        time.monotonic += 1_000;
        await ring.lookAgain();
        for (const { kid } of pairs) expect(ring.publicKey(kid)?.asymmetricKeyType).toBe('rsa');
        for (const token of tokens) expect(await verifierOf(ring)(token)).toBe('ok');
      }
    };
    pairs.push(await one.rotate(60_000));
    tokens.push(await mintOf(one)());
    pairs.push(await other.rotate(60_000));
    await knownByAll();
    pairs.push(...(await Promise.all([one.rotate(60_000), other.rotate(60_000)])));
    tokens.push(await mintOf(one)(), await mintOf(other)());
    await knownByAll();
  });

  test('rotations at the same time come one after the other, and none leaves a draft or a readable key', async () => {
    const ring = await open();
    await Promise.all([ring.rotate(60_000), ring.rotate(60_000), ring.rotate(60_000)]);
    expect(ring.list().map(({ state }) => state)).toEqual(['signing', 'accepted', 'accepted', 'accepted']);
    expect((await readdir(folder)).sort()).toEqual(['retired', 'signing-key.pem', 'signing-key.pub.pem']);
    expect((await stat(join(folder, 'signing-key.pem'))).mode & 0o777).toBe(0o600);
    for (const name of await readdir(join(folder, 'retired')))
      expect(await readFile(join(folder, 'retired', name), 'utf8')).not.toContain('PRIVATE');
    expect(JSON.stringify(ring.published())).not.toContain('"d"');
  });

  test('PRM-02.3 the keys that count, are published and are listed, at the end of the overlap and after it', async () => {
    const ring = await open();
    const first = ring.current();
    time.now += 1;
    const goodUntil = () => ring.keys().map((key) => key.goodUntil?.());
    expect(goodUntil()).toEqual([Number.POSITIVE_INFINITY]);
    const [key] = ring.keys();
    const second = await ring.rotate(60_000);
    expect([second.kid, key?.goodUntil?.()]).toEqual([ring.current().kid, time.now + 60_000]);
    time.now += 1;
    const third = await ring.rotate(30_000);
    expect(new Set(goodUntil())).toEqual(new Set([Number.POSITIVE_INFINITY, time.now + 30_000, time.now + 59_999]));
    const [at, iso] = [time.now, (ms: number) => new Date(ms).toISOString()];
    expect(lines.at(-1)).toEqual([
      'own-key-rotated',
      { kid: third.kid, old_kid: second.kid, accepted_until: iso(at + 30_000) },
    ]);
    const old = (kid: string, retiredAt: number, until: number, state = 'accepted') => ({
      kid,
      algorithm: 'RS256',
      state,
      retired_at: iso(retiredAt),
      accepted_until: iso(until),
    });
    const signing = { kid: third.kid, algorithm: 'RS256', state: 'signing' };
    expect(ring.list()).toEqual([signing, old(second.kid, at, at + 30_000), old(first.kid, at - 1, at + 59_999)]);
    const jwk = async ({ kid, publicKey }: typeof first) => ({
      ...(await exportJWK(publicKey)),
      kid,
      use: 'sig',
      alg: 'RS256',
    });
    expect(ring.published().keys[0]).toEqual(await jwk(third));
    expect(ring.published().keys).toEqual(
      expect.arrayContaining(await Promise.all([first, second, third].map((each) => jwk(each)))),
    );
    expect(ring.keys().map(({ kid, issuers, named }) => [kid, issuers, named])).toEqual(
      expect.arrayContaining([
        [third.kid, ['sallyport'], undefined],
        [second.kid, ['sallyport'], true],
        [first.kid, ['sallyport'], true],
      ]),
    );
    time.now = at + 30_000;
    expect(ring.list().map(({ state }) => state)).toEqual(['signing', 'retired', 'accepted']);
    expect(new Set(ring.keys().map(({ kid }) => kid))).toEqual(new Set([third.kid, first.kid]));
    for (const { kid, publicKey } of [first, second, third]) expect(ring.publicKey(kid)?.equals(publicKey)).toBe(true);
    expect([ring.publicKey('unknown'), ring.problem('sallyport')]).toEqual([undefined, undefined]);
    await rm(join(folder, 'retired', `${first.kid}.json`));
    expect(await ring.lookAgain()).toBe(true);
    expect(key?.goodUntil?.()).toBe(Number.NEGATIVE_INFINITY);
  });

  test('PRM-02.3 a pair that was listed as replaced and signs on, as after a crash, is the current one alone', async () => {
    const ring = await open();
    const own = join(folder, 'signing-key.pem');
    await copyFile(own, `${own}.kept`);
    await ring.rotate(0);
    await copyFile(`${own}.kept`, own);
    const again = await open();
    expect(again.list().map(({ state }) => state)).toEqual(['signing', 'retired']);
    expect(await verifierOf(again)(await mintOf(again)())).toBe('ok');
    expect(again.published().keys).toHaveLength(1);
  });

  test('PRM-02.3 a folder that cannot be read again leaves the known keys in force, is logged, and is read later', async () => {
    const ring = await open();
    const before = ring.current();
    const broken = join(folder, 'retired', 'x.json');
    await mkdir(join(folder, 'retired'));
    await writeFile(broken, 'null');
    expect(await ring.lookAgain()).toBe(false);
    expect(lines).toEqual([['own-keys-not-read', { reason: expect.stringContaining(broken) }]]);
    await rm(broken);
    time.monotonic += 999;
    expect(await ring.lookAgain()).toBe(false);
    time.monotonic += 1;
    expect(await ring.lookAgain()).toBe(true);
    expect(ring.current()).toBe(before);
    expect(lines).toHaveLength(1);
  });

  test('PRM-02.3 a pair of another instance is taken over within thirty seconds, though no token names it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const [one, other] = [await open(), await open()];
      await one.rotate(60_000);
      await vi.advanceTimersByTimeAsync(29_999);
      await one.rotate(60_000);
      expect(other.list()).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      await other[Symbol.asyncDispose]();
      expect([other.current().kid, other.list().length]).toEqual([one.current().kid, 3]);
      expect(vi.getTimerCount()).toBe(1);
      await one[Symbol.asyncDispose]();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('PRM-02.3 where the old key cannot be written down it signs on; the next rotation works', async () => {
    const ring = await open();
    const { kid } = ring.current();
    const place = join(folder, 'retired');
    await writeFile(place, '');
    const message = expect.stringMatching(/retired.* cannot be written, so the key was not replaced/);
    const signing = await readFile(join(folder, 'signing-key.pem'), 'utf8');
    const refused = { code: 'E3900', message, cause: expect.any(Error) };
    await expect(ring.rotate(60_000)).rejects.toMatchObject(refused);
    await expect(open()).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`${place} cannot be`),
    });
    await rm(place);
    const file = join(place, `${kid}.json`);
    await mkdir(file, { recursive: true });
    await expect(ring.rotate(60_000)).rejects.toMatchObject(refused);
    await rm(file, { recursive: true });
    expect([ring.current().kid, await readFile(join(folder, 'signing-key.pem'), 'utf8')]).toEqual([kid, signing]);
    await rm(place, { recursive: true });
    await ring.rotate(60_000);
    expect(ring.current().kid).not.toBe(kid);
    expect([(await stat(place)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test('PRM-02.3 of a thousand replaced keys all are read, of more none; other files are passed over', async () => {
    const ring = await open();
    const { kid } = ring.current();
    await ring.rotate(60_000);
    const place = join(folder, 'retired');
    const kept = JSON.parse(await readFile(join(place, `${kid}.json`), 'utf8'));
    const write = (at: number) => {
      const retired_at = new Date(time.now + 1 + at).toISOString();
      return writeFile(join(place, `${at}.json`), JSON.stringify({ ...kept, kid: `${at}`, retired_at }));
    };
    await Promise.all(Array.from({ length: 998 }, (_, at) => write(at)));
    await writeFile(join(place, 'x.json.draft'), '{');
    const listed = (await open()).list().map(({ kid }) => kid);
    const latestFirst = Array.from({ length: 998 }, (_, at) => `${997 - at}`);
    expect(listed).toEqual([ring.current().kid, ...latestFirst, kept.kid]);
    await write(998);
    const message = expect.stringContaining('more than 1000 keys');
    await expect(open()).rejects.toMatchObject({ code: 'E3900', message });
  });

  test('PRM-02.3 a file that holds no retired key is named, whatever it lacks', async () => {
    const ring = await open();
    await ring.rotate(0);
    const [name = ''] = await readdir(join(folder, 'retired'));
    const file = join(folder, 'retired', name);
    const kept = JSON.parse(await readFile(file, 'utf8'));
    const broken = [{ kid: undefined }, { public_key: 'x' }, { retired_at: 7 }, { accepted_until: 'soon' }];
    const texts = ['{', 'null', ...broken.map((change) => JSON.stringify({ ...kept, ...change }))];
    for (const text of texts) {
      await writeFile(file, text);
      const message = expect.stringContaining(file);
      await expect(open(), text).rejects.toMatchObject({ code: 'E3900', message, cause: expect.any(Error) });
    }
  });
});
