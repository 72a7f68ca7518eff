import { isFailure } from '@sallyport/std/error/failure';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { memoryApiKeyStore } from '../../test/stores/memory-api-key-store.ts';
import { memoryRevocationStore } from '../../test/stores/memory-revocation-store.ts';
import { silentLog } from '../telemetry/log.ts';
import type { ApiKeyStore, GrantedClaims, StoredApiKey } from './api-keys.port.ts';
import { type ApiKeyParts, createApiKeys } from './api-keys.ts';
import { createAuthenticator } from './authenticator.ts';
import { createRevocations } from './revocations.ts';
import { verifierWith } from './token/verifier.fixture.ts';

const NOW = 1_800_000_000_000;
const CLAIMS: GrantedClaims = {
  tool_id: 'read_*',
  agent_did: 'did:a',
  tenant_id: 'acme',
  allowed_operations: ['execute'],
  roles: ['viewer'],
  trust_level: 'provisional',
};

const closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of closing.splice(0)) await each[Symbol.asyncDispose]();
});

async function fixture(parts: Partial<ApiKeyParts> = {}) {
  const time = { now: NOW };
  const clock = { now: () => time.now, monotonic: () => time.now };
  const store = parts.store ?? memoryApiKeyStore();
  const log = silentLog;
  const keys = createApiKeys({ store, isRevoked: () => false, clock, log, followMs: 5, onLook: () => {}, ...parts });
  closing.push(keys);
  await keys.start();
  const code = (presented: string) => {
    const found = keys.identify(presented);
    return isFailure(found) ? found.code : 'ok';
  };
  return { time, clock, store, keys, code };
}

describe('createApiKeys', () => {
  test('PRM-10 a key becomes claims, frozen and the same each time; the key itself is nowhere kept', async () => {
    const onLook = vi.fn();
    const { keys, store } = await fixture({ onLook });
    const { key, stored } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    expect(key).toMatch(/^sp_[\w-]{43}$/);
    const claims = keys.identify(key);
    expect(claims).toMatchObject({ ...CLAIMS, jti: stored.id, iss: 'sallyport:api-key' });
    expect(Object.isFrozen(claims)).toBe(true);
    onLook.mockClear();
    await expect.poll(() => onLook.mock.calls.length, { interval: 1 }).toBeGreaterThan(1);
    expect(keys.identify(key)).toBe(claims);
    expect(JSON.stringify(await store.list('acme'))).not.toContain(key.slice(9));
    expect(stored.prefix).toBe(key.slice(0, 9));
  });

  test('PRM-01 what a key asked for is known to be of a revoked one, by its id alone', async () => {
    const { keys, time, clock, store } = await fixture();
    const [one, other] = [
      await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op', expiresAt: NOW + 1000 }),
      await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' }),
    ];
    const claims = keys.identify(one.key);
    if (isFailure(claims)) throw new Error('it is good');
    const copy = JSON.parse(JSON.stringify(claims));
    await keys.revoke('acme', other.stored.id);
    time.now = NOW + 5000;
    expect(keys.isRevoked(copy)).toBe(false);
    await keys.revoke('acme', one.stored.id);
    expect(keys.isRevoked(copy)).toBe(true);
    expect(keys.isRevoked({ ...copy, iss: 'somebody' })).toBe(false);
    const elsewhere = createApiKeys({ store, isRevoked: () => false, clock, log: silentLog, onLook: () => {} });
    closing.push(elsewhere);
    await elsewhere.start();
    expect(elsewhere.isRevoked(copy)).toBe(true);
  });

  test('PRM-10 keys expire at their time, and are revoked at once', async () => {
    const { keys, code, time } = await fixture();
    const { key } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op', expiresAt: NOW + 1000 });
    time.now = NOW + 999;
    expect(code(key)).toBe('ok');
    time.now = NOW + 1000;
    expect(code(key)).toBe('E3202');
    const other = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    await keys.revoke('globex', other.stored.id);
    expect(code(other.key)).toBe('ok');
    await keys.revoke('acme', other.stored.id);
    expect(code(other.key)).toBe('E3208');
  });

  test('what another instance makes and revokes is known here soon', async () => {
    const { store, code, clock } = await fixture();
    const elsewhere = createApiKeys({ store, isRevoked: () => false, clock, log: silentLog, onLook: () => {} });
    closing.push(elsewhere);
    const { key, stored } = await elsewhere.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    await expect.poll(() => code(key), { interval: 5 }).toBe('ok');
    await elsewhere.revoke('acme', stored.id);
    await expect.poll(() => code(key), { interval: 5 }).toBe('E3208');
  });

  test('guesses are answered up to a bound; known keys do not wait for it', async () => {
    const { keys, code, time } = await fixture();
    const { key } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    const guesses = Array.from({ length: 101 }, (_, at) => code(`sp_${String(at).padStart(43, '0')}`));
    expect(guesses.filter((each) => each === 'E3201')).toHaveLength(100);
    expect(guesses.at(-1)).toBe('E3303');
    expect(code(key)).toBe('ok');
    time.now += 1000;
    expect(code('sp_wrong')).toBe('E3201');
  });

  test.each(['sp_', 'sp_x', `sp_${'a'.repeat(44)}`, `sp_${'a'.repeat(42)}!`, `sp_${'a'.repeat(100_000)}`])(
    '%# what has not the form of a key is none',
    async (text) => {
      expect((await fixture()).code(text)).toBe('E3201');
    },
  );

  test('the last use is kept when the layer ends', async () => {
    const { keys, store, code, time } = await fixture();
    const { key } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    time.now = NOW + 5000;
    expect(code(key)).toBe('ok');
    await keys[Symbol.asyncDispose]();
    expect(await store.list('acme')).toMatchObject([{ lastUsedAt: NOW + 5000 }]);
  });
});

describe('API keys over time', () => {
  const DAY = 86_400_000;
  const ask = { name: 'n', claims: CLAIMS, by: 'did:op' };
  const noting = () => {
    const lines: unknown[] = [];
    const note = (event: string, fields?: object) => void lines.push([event, fields]);
    return { lines, log: { ...silentLog, warn: note, error: note } };
  };
  afterEach(() => void vi.useRealTimers());

  test('PRM-10.1 each minute uses are written, and keys that ended thirty days ago are forgotten', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    const inner = memoryApiKeyStore();
    const pruned: number[] = [];
    const prune: ApiKeyStore['prune'] = async (before) => {
      if (pruned.push(before) === 1) throw new Error('no database');
      return inner.prune(before);
    };
    const { lines, log } = noting();
    const { keys, code, time } = await fixture({ store: { ...inner, prune }, log, followMs: 1_000_000 });
    await keys.start();
    expect(vi.getTimerCount()).toBe(2);
    const lasting = await keys.create(ask);
    const expired = await keys.create({ ...ask, expiresAt: NOW });
    const revoked = await keys.create({ ...ask, expiresAt: NOW + 100 * DAY });
    const endless = await keys.create(ask);
    const claims = keys.identify(revoked.key);
    for (const { stored } of [revoked, endless]) await keys.revoke('acme', stored.id);
    const codes = () => [lasting, expired, revoked, endless].map(({ key }) => code(key));
    time.now = NOW + 30 * DAY;
    expect(codes()).toEqual(['ok', 'E3202', 'E3208', 'E3208']);
    await vi.advanceTimersByTimeAsync(59_999);
    expect([(await inner.list('acme')).some(({ lastUsedAt }) => lastUsedAt === time.now), pruned]).toEqual([false, []]);
    await vi.advanceTimersByTimeAsync(1);
    expect([(await inner.list('acme')).some(({ lastUsedAt }) => lastUsedAt === time.now), pruned]).toEqual([
      true,
      [NOW],
    ]);
    expect(lines).toEqual([['api-keys-not-pruned', { reason: 'no database' }]]);
    expect([codes(), keys.isRevoked(claims as never)]).toEqual([['ok', 'E3202', 'E3208', 'E3208'], true]);
    time.now += 1;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([codes(), keys.isRevoked(claims as never)]).toEqual([['ok', 'E3201', 'E3201', 'E3201'], false]);
    expect([pruned, (await keys.list('acme')).map(({ id }) => id)]).toEqual([[NOW, NOW + 1], [lasting.stored.id]]);
    await keys[Symbol.asyncDispose]();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('PRM-10.1 a use that came while an earlier one could not be written is the one that is written', async () => {
    const inner = memoryApiKeyStore();
    const { promise: refused, reject } = Promise.withResolvers<void>();
    let isFirst = true;
    const noteUses: ApiKeyStore['noteUses'] = async (uses) => {
      if (isFirst) {
        isFirst = false;
        await refused;
      }
      await inner.noteUses(uses);
    };
    const { keys, code, time } = await fixture({ store: { ...inner, noteUses } });
    const { key } = await keys.create(ask);
    code(key);
    const ending = keys[Symbol.asyncDispose]();
    await new Promise(setImmediate);
    time.now += 5;
    code(key);
    reject(new Error('no database'));
    await ending;
    await keys[Symbol.asyncDispose]();
    expect(await inner.list('acme')).toMatchObject([{ lastUsedAt: NOW + 5 }]);
  });

  test('PRM-01.6 PRM-10.1 a revocation is final, though an older state of the key arrives after it', async () => {
    const inner = memoryApiKeyStore();
    let looks = 0;
    const onLook = () => {
      looks += 1;
    };
    const late: ApiKeyStore['changedSince'] = async (since) =>
      since === 0 ? { revision: 1, keys: [] } : { revision: 2, keys: [...(await inner.list('acme'))].map(withoutEnd) };
    const { keys, code } = await fixture({ store: { ...inner, changedSince: late }, onLook });
    expect(looks).toBe(1);
    const { key, stored } = await keys.create(ask);
    const before = looks;
    expect(await keys.revoke('acme', 'unknown')).toBeUndefined();
    expect(await keys.revoke('acme', stored.id)).toMatchObject({ id: stored.id, revokedAt: NOW });
    expect(looks).toBeGreaterThanOrEqual(before + 2);
    const seen = looks;
    await expect.poll(() => looks, { interval: 1 }).toBeGreaterThan(seen + 1);
    expect(code(key)).toBe('E3208');
  });

  test('PRM-10.1 what is stored of a key, its claims, and what its refusals say', async () => {
    const { keys, time, store } = await fixture();
    time.now = NOW + 999;
    const { key, stored } = await keys.create({ ...ask, expiresAt: NOW + 5_999 });
    const prefix = key.slice(0, 9);
    const { id, hash } = stored;
    expect(stored).toEqual({
      ...{ id, hash, prefix, tenantId: 'acme', name: 'n', claims: CLAIMS },
      ...{ createdAt: NOW + 999, createdBy: 'did:op', expiresAt: NOW + 5_999 },
    });
    const times = { iat: NOW / 1000, exp: NOW / 1000 + 5 };
    expect(keys.identify(key)).toEqual({ ...CLAIMS, ...times, iss: 'sallyport:api-key', jti: id });
    const endless = await keys.create(ask);
    expect(endless.stored).not.toHaveProperty('expiresAt');
    expect(keys.identify(endless.key)).toMatchObject({ exp: Number.MAX_SAFE_INTEGER });
    expect(await store.list('acme')).toHaveLength(2);
    time.now = NOW + 5_999;
    const at = new Date(NOW + 5_999).toISOString();
    const expired = { code: 'E3202', message: expect.stringContaining(at), details: { expired_at: at } };
    expect(keys.identify(key)).toMatchObject(expired);
    for (let guess = 0; guess < 100; guess += 1) keys.identify('sp_x');
    expect(keys.identify('sp_x')).toMatchObject({ code: 'E3303', retryAfterMs: 1000 });
  });

  test('PRM-10.1 a store that cannot be followed is named, and the known keys stay', async () => {
    const inner = memoryApiKeyStore();
    let isDown = false;
    const changedSince: ApiKeyStore['changedSince'] = (since) =>
      isDown ? Promise.reject(new Error('no database')) : inner.changedSince(since);
    const { lines, log } = noting();
    const { keys, code } = await fixture({ store: { ...inner, changedSince }, log });
    const { key } = await keys.create(ask);
    expect(keys.problem()).toBeUndefined();
    isDown = true;
    await expect.poll(() => keys.problem(), { interval: 1 }).toBe('no database');
    expect([code(key), lines]).toEqual(['ok', [['api-keys-not-followed', { reason: 'no database' }]]]);
  });
});

function withoutEnd(key: StoredApiKey): StoredApiKey {
  const { revokedAt: _revokedAt, ...rest } = key;
  return rest;
}

test('PRM-01 revoking an agent or a tenant revokes its API keys too', async () => {
  const clock = { now: () => NOW, monotonic: () => 0 };
  const revocations = createRevocations({ store: memoryRevocationStore(), clock, log: silentLog, onLook: () => {} });
  closing.push(revocations);
  await revocations.start();
  const { keys, code } = await fixture({ isRevoked: revocations.isRevoked });
  const { key } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
  await revocations.revoke({ tenantId: 'globex', kind: 'agent', subject: 'did:a', by: 'did:op' });
  expect(code(key)).toBe('ok');
  await revocations.revoke({ tenantId: 'acme', kind: 'agent', subject: 'did:a', by: 'did:op' });
  expect(code(key)).toBe('E3208');
});

describe('createAuthenticator', () => {
  test('a credential is judged by its form, and explained without being shown', async () => {
    const { keys } = await fixture();
    const { key } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    const tokens = verifierWith({});
    const authenticator = createAuthenticator(tokens, keys);
    expect(await authenticator.verify(key)).toMatchObject({ agent_did: 'did:a' });
    expect(await authenticator.verify(undefined)).toMatchObject({ code: 'E3212' });
    const noToken = { code: 'E3201', message: expect.stringContaining('capability token') };
    expect(await authenticator.verify('a.b.c')).toMatchObject(noToken);
    const told = await authenticator.explain(key);
    expect(told).toMatchObject({ kind: 'api_key', accepted: true });
    expect(told.claims.map(({ name }) => name)).toContain('agent_did');
    expect(JSON.stringify(told)).not.toContain(key.slice(9));
    expect(await authenticator.explain('sp_x')).toMatchObject({ accepted: false, claims: [] });
  });
});
