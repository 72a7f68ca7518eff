import { afterEach, describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import { memoryRevocationStore } from '../../test/stores/memory-revocation-store.ts';
import { silentLog } from '../telemetry/log.ts';
import type { RevocationStore } from './revocations.port.ts';
import { createRevocations, type NewRevocation } from './revocations.ts';

const NOW = 1_800_000_000;
const closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of closing.splice(0)) await each[Symbol.asyncDispose]();
});

async function open(store: RevocationStore = memoryRevocationStore(), log = silentLog) {
  const time = { seconds: NOW };
  const clock = { now: () => time.seconds * 1000, monotonic: () => 0 };
  const revocations = createRevocations({ store, clock, log, followMs: 5 });
  closing.push(revocations);
  await revocations.start();
  const revoke = (changes: Partial<NewRevocation>) =>
    revocations.revoke({ tenantId: 'acme', kind: 'token', subject: 'j', by: 'did:op', ...changes });
  return { ...revocations, revoke, store, time };
}
const claims = (changes: Partial<CapabilityClaims> = {}): CapabilityClaims => ({
  tool_id: '*',
  agent_did: 'did:a',
  tenant_id: 'acme',
  allowed_operations: ['execute'],
  exp: NOW + 60,
  iat: NOW,
  iss: 'sallyport',
  jti: 'j',
  ...changes,
});

describe('createRevocations', () => {
  test('PRM-01.6 a token is revoked by its jti, in its tenant alone', async () => {
    const { revoke, isRevoked } = await open();
    expect(isRevoked(claims())).toBe(false);
    await revoke({});
    expect(isRevoked(claims())).toBe(true);
    expect(isRevoked(claims({ jti: 'k' }))).toBe(false);
    expect(isRevoked(claims({ tenant_id: 'globex' }))).toBe(false);
    const { jti: _none, ...nameless } = claims();
    expect(isRevoked(nameless)).toBe(false);
  });

  test('PRM-01.7 PRM-01.8 an agent and a tenant are revoked up to a second, exclusively', async () => {
    const { revoke, isRevoked, issuedBefore } = await open();
    await revoke({ kind: 'agent', subject: 'did:a', issuedBefore: NOW });
    expect([isRevoked(claims({ iat: NOW - 1 })), isRevoked(claims())]).toEqual([true, false]);
    expect(isRevoked(claims({ iat: NOW - 1, agent_did: 'did:b' }))).toBe(false);
    await revoke({ kind: 'tenant', subject: '', issuedBefore: NOW - 10 });
    expect(isRevoked(claims({ iat: NOW - 11, agent_did: 'did:b' }))).toBe(true);
    expect(isRevoked(claims({ iat: NOW - 10, agent_did: 'did:b' }))).toBe(false);
    expect([issuedBefore('acme', 'did:a'), issuedBefore('acme', 'did:b'), issuedBefore('globex', 'did:a')]).toEqual([
      NOW,
      NOW - 10,
      0,
    ]);
    await revoke({ kind: 'agent', subject: 'did:a' });
    expect(isRevoked(claims({ iat: NOW + 1e6 }))).toBe(true);
    await revoke({ kind: 'agent', subject: 'did:a', issuedBefore: 5 });
    expect(isRevoked(claims({ iat: NOW + 1e6 }))).toBe(true);
  });

  test('PRM-01 revocations survive a restart, and reach other instances', async () => {
    const { revoke, store } = await open();
    const beside = await open(store);
    const { id } = await revoke({});
    expect((await open(store)).isRevoked(claims())).toBe(true);
    await expect.poll(() => beside.isRevoked(claims()), { interval: 5 }).toBe(true);
    expect(await beside.lift('globex', id)).toBeUndefined();
    expect(await beside.lift('acme', id)).toMatchObject({ lifted: true });
    expect(beside.isRevoked(claims())).toBe(false);
    expect((await open(store)).isRevoked(claims())).toBe(false);
  });

  test('PRM-01 what expired is pruned at the next start, with a margin for clocks', async () => {
    const { revoke, store } = await open();
    await revoke({ tokenExpiresAt: NOW - 601 });
    await revoke({ subject: 'k', tokenExpiresAt: NOW - 599 });
    await revoke({ subject: 'l', tokenExpiresAt: 1e300 });
    const { isRevoked } = await open(store);
    expect(['j', 'k', 'l'].map((jti) => isRevoked(claims({ jti })))).toEqual([false, true, true]);
  });

  test('a store that fails leaves what is known in force, says so once, and is asked again', async () => {
    const inner = memoryRevocationStore();
    const broken = { now: false };
    const store: RevocationStore = {
      ...inner,
      changedSince: (revision) => (broken.now ? Promise.reject(new Error('away')) : inner.changedSince(revision)),
    };
    const lines: string[] = [];
    const log = { ...silentLog, error: (event: string) => void lines.push(event) };
    const { revoke, isRevoked, problem } = await open(store, log);
    await revoke({});
    broken.now = true;
    await expect.poll(problem, { interval: 5 }).toBe('away');
    expect(isRevoked(claims())).toBe(true);
    await inner.put({ id: 'x', tenantId: 'acme', kind: 'token', subject: 'k', revokedAt: 0, revokedBy: 'o' });
    await new Promise((done) => setTimeout(done, 30));
    expect(lines).toEqual(['revocations-not-followed']);
    broken.now = false;
    await expect.poll(() => isRevoked(claims({ jti: 'k' })), { interval: 5 }).toBe(true);
    expect(problem()).toBeUndefined();
  });

  test('what cannot be kept is not revoked here either', async () => {
    const inner = memoryRevocationStore();
    const { revoke, isRevoked } = await open({ ...inner, put: () => Promise.reject(new Error('full')) });
    await expect(revoke({})).rejects.toThrow('full');
    expect(isRevoked(claims())).toBe(false);
  });
});
