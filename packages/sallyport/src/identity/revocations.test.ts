import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import { memoryRevocationStore } from '../../test/stores/memory-revocation-store.ts';
import { silentLog } from '../telemetry/log.ts';
import type { RevocationStore } from './revocations.port.ts';
import { createRevocations, type NewRevocation, type RevocationParts } from './revocations.ts';

const NOW = 1_800_000_000;
/** How long a revocation is kept after the end of its token. */
const KEPT_SECONDS = 31 * 86_400;
const closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of closing.splice(0)) await each[Symbol.asyncDispose]();
});

async function open(store: RevocationStore = memoryRevocationStore(), parts: Partial<RevocationParts> = {}) {
  const time = { seconds: NOW };
  const clock = { now: () => time.seconds * 1000, monotonic: () => 0 };
  const revocations = createRevocations({ store, clock, log: silentLog, followMs: 5, onLook: () => {}, ...parts });
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

  test('PRM-01.6 a token stays revoked beyond its end, as long as a call of it may wait for a person', async () => {
    const { revoke, store } = await open();
    await revoke({ tokenExpiresAt: NOW - 1e7 });
    await revoke({ subject: 'k', tokenExpiresAt: NOW + 1 });
    await revoke({ subject: 'l', tokenExpiresAt: 1e300 });
    const after = async (seconds: number) => {
      const { isRevoked } = await open(store, { clock: { now: () => (NOW + seconds) * 1000, monotonic: () => 0 } });
      return ['j', 'k', 'l'].map((jti) => isRevoked(claims({ jti })));
    };
    expect(await after(KEPT_SECONDS - 1)).toEqual([true, true, true]);
    expect(await after(KEPT_SECONDS)).toEqual([false, true, true]);
    expect(await after(KEPT_SECONDS + 1)).toEqual([false, false, true]);
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
    const { revoke, isRevoked, problem } = await open(store, { log });
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

describe('revocations over time', () => {
  const DAY_MS = 86_400_000;
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** A store that counts what it is asked, and a log that keeps its lines. */
  const watched = () => {
    const inner = memoryRevocationStore();
    const seen = { reads: 0, pruned: [] as [expired: number, lifted: number][], lines: [] as unknown[], removes: 0 };
    const store: RevocationStore = {
      ...inner,
      changedSince(revision) {
        seen.reads += 1;
        return inner.changedSince(revision);
      },
      async prune(...times) {
        seen.pruned.push(times);
        if (seen.removes < 0) throw new Error('no database');
        return seen.removes;
      },
    };
    const note = (event: string, fields?: object) => void seen.lines.push([event, fields]);
    return { seen, store, log: { ...silentLog, info: note, warn: note } };
  };

  test('PRM-01.6 what expired is removed at the start and every ten minutes, also when it failed before', async () => {
    const { seen, store, log } = watched();
    const { start, revoke, isRevoked, time, ...revocations } = await open(store, { log, followMs: 1e8 });
    await start();
    expect([seen.pruned.length, vi.getTimerCount()]).toEqual([2, 2]);
    await revoke({ tokenExpiresAt: NOW });
    time.seconds += KEPT_SECONDS;
    seen.removes = -1;
    await vi.advanceTimersByTimeAsync(599_999);
    expect([seen.pruned.length, isRevoked(claims())]).toEqual([2, true]);
    await vi.advanceTimersByTimeAsync(1);
    const at = (NOW + KEPT_SECONDS) * 1000;
    expect([seen.pruned[2], isRevoked(claims())]).toEqual([[at, at - DAY_MS], false]);
    expect(seen.lines).toEqual([['revocations-not-pruned', { reason: 'no database' }]]);
    seen.removes = 1;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(seen.lines.slice(1)).toEqual([['revocations-pruned', { removed: 1 }]]);
    await revocations[Symbol.asyncDispose]();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('PRM-01.6 it has started once the store has removed what expired', async () => {
    const { store } = watched();
    const { promise: pruned, resolve } = Promise.withResolvers<number>();
    let isStarted = false;
    const opening = open({ ...store, prune: () => pruned }).then(() => {
      isStarted = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(isStarted).toBe(false);
    resolve(0);
    await opening;
  });

  test('PRM-01.8 of each look and each revocation there is a notice; lifting none looks at nothing', async () => {
    const { seen, store } = watched();
    const onLook = vi.fn();
    const { revoke, lift, ...revocations } = await open(store, { onLook, followMs: 100 });
    expect(onLook).toHaveBeenCalledTimes(1);
    const { id } = await revoke({});
    expect([onLook.mock.calls.length, seen.reads]).toEqual([2, 1]);
    await lift('acme', 'unknown');
    expect(seen.reads).toBe(1);
    await lift('acme', id);
    expect([onLook.mock.calls.length, seen.reads]).toEqual([3, 2]);
    await vi.advanceTimersByTimeAsync(100);
    expect(onLook).toHaveBeenCalledTimes(4);
    await revocations[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([seen.reads, vi.getTimerCount()]).toEqual([3, 0]);
  });

  test('PRM-01.6 it ends once the look under way has ended', async () => {
    const { store } = watched();
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    const changedSince: RevocationStore['changedSince'] = async (since) => {
      if (since > 0) await answered;
      return { revision: 1, revocations: [] };
    };
    const revocations = await open({ ...store, changedSince }, { followMs: 100 });
    await vi.advanceTimersByTimeAsync(100);
    let isOver = false;
    const ending = revocations[Symbol.asyncDispose]().then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(isOver).toBe(false);
    resolve();
    await ending;
  });

  test('PRM-01.6 PRM-01.7 each member of a revocation is on record, and nothing that was not said', async () => {
    const { revoke } = await open();
    const id = expect.any(String);
    const base = { id, tenantId: 'acme', revokedAt: NOW * 1000, revokedBy: 'did:op' };
    expect(await revoke({})).toStrictEqual({ ...base, kind: 'token', subject: 'j' });
    expect(await revoke({ subject: 'k', tokenExpiresAt: NOW, reason: 'lost' })).toStrictEqual({
      ...{ ...base, kind: 'token', subject: 'k', reason: 'lost', expiresAt: (NOW + KEPT_SECONDS) * 1000 },
    });
    expect(await revoke({ subject: 'l', tokenExpiresAt: 1e300 })).toMatchObject({ expiresAt: 253_402_300_799_000 });
    expect(await revoke({ kind: 'agent', subject: 'did:a', issuedBefore: 0 })).toStrictEqual({
      ...{ ...base, kind: 'agent', subject: 'did:a', issuedBefore: 0 },
    });
  });

  test('PRM-01.6 single tokens are revoked up to a number; agents and tenants are revoked beyond it', async () => {
    const { revoke, isRevoked } = await open(memoryRevocationStore(), { tokensMax: 2 });
    for (const subject of ['j', 'k']) await revoke({ subject });
    const message = expect.stringContaining('2 tokens are revoked, which is the most');
    await expect(revoke({ subject: 'l' })).rejects.toMatchObject({ code: 'E3810', message });
    expect(['j', 'k', 'l'].map((jti) => isRevoked(claims({ jti })))).toEqual([true, true, false]);
    await revoke({ kind: 'agent', subject: 'did:a' });
    expect(isRevoked(claims({ jti: 'l' }))).toBe(true);
  });

  test('PRM-01.6 where as many are revoked as may be, those of tokens that have ended make room', async () => {
    const { revoke, isRevoked, time, store } = await open(memoryRevocationStore(), { tokensMax: 2 });
    await revoke({ subject: 'ended', tokenExpiresAt: NOW + 60 });
    await revoke({ subject: 'lasting', tokenExpiresAt: NOW + 86_400 });
    time.seconds = NOW + 659;
    await expect(revoke({ subject: 'next', tokenExpiresAt: NOW + 86_400 })).rejects.toMatchObject({ code: 'E3810' });
    time.seconds = NOW + 660;
    await revoke({ subject: 'next', tokenExpiresAt: NOW + 86_400 });
    expect(['ended', 'lasting', 'next'].map((jti) => isRevoked(claims({ jti })))).toEqual([false, true, true]);
    expect((await store.list('acme', 9, 0)).total).toBe(2);
    await expect(revoke({ subject: 'more', tokenExpiresAt: NOW + 86_400 })).rejects.toMatchObject({ code: 'E3810' });
  });
});
