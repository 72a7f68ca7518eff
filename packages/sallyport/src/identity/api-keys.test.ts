import { isFailure } from '@sallyport/std/error/failure';
import { afterEach, describe, expect, test } from 'vitest';
import { memoryApiKeyStore } from '../../test/stores/memory-api-key-store.ts';
import { memoryRevocationStore } from '../../test/stores/memory-revocation-store.ts';
import { silentLog } from '../telemetry/log.ts';
import type { GrantedClaims } from './api-keys.port.ts';
import { type ApiKeyParts, createApiKeys } from './api-keys.ts';
import { createAuthenticator } from './authenticator.ts';
import { createTokenVerifier } from './capability-token.ts';
import { createRevocations } from './revocations.ts';

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
  const store = memoryApiKeyStore();
  const log = silentLog;
  const keys = createApiKeys({ store, isRevoked: () => false, clock, log, followMs: 5, ...parts });
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
    const { keys, store } = await fixture();
    const { key, stored } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    expect(key).toMatch(/^sp_[\w-]{43}$/);
    const claims = keys.identify(key);
    expect(claims).toMatchObject({ ...CLAIMS, jti: stored.id, iss: 'sallyport:api-key' });
    expect(Object.isFrozen(claims)).toBe(true);
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
    const elsewhere = createApiKeys({ store, isRevoked: () => false, clock, log: silentLog });
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
    const elsewhere = createApiKeys({ store, isRevoked: () => false, clock, log: silentLog });
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

test('PRM-01 revoking an agent or a tenant revokes its API keys too', async () => {
  const clock = { now: () => NOW, monotonic: () => 0 };
  const revocations = createRevocations({ store: memoryRevocationStore(), clock, log: silentLog });
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
    const tokens = createTokenVerifier({ keys: [], issuers: [] });
    const authenticator = createAuthenticator(tokens, keys);
    expect(await authenticator.verify(key)).toMatchObject({ agent_did: 'did:a' });
    expect(await authenticator.verify(undefined)).toMatchObject({ code: 'E3212' });
    expect(await authenticator.verify('a.b.c')).toMatchObject({ code: 'E3201' });
    const told = await authenticator.explain(key);
    expect(told).toMatchObject({ kind: 'api_key', accepted: true });
    expect(JSON.stringify(told)).not.toContain(key.slice(9));
    expect(await authenticator.explain('sp_x')).toMatchObject({ accepted: false, claims: [] });
  });
});
