import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { changedWithEvents, unchangedWithoutEvents } from '../../domain/event/events-of.conformance.ts';
import type { RevocationStore, StoredRevocation } from '../revocations.port.ts';

const NOW = 1_800_000_000_000;

/**
 * Conformance of every RevocationStore. `open` returns a store without revocations each time; its revision may be any.
 */
export function revocationStoreConformance(test: TestCase, adapter: string, open: OpenStore<RevocationStore>): void {
  const check = casesOver(test, adapter, open);
  keepingCases(check);
  changeCases(check);
}

type Check = ReturnType<typeof casesOver<RevocationStore>>;

function keepingCases(check: Check): void {
  check('PRM-01 revocations of each kind are kept whole', async (store) => {
    const all = [
      revocation({ subject: 'j1', expiresAt: NOW + 1, reason: 'lost' }),
      revocation({ id: 'r2', kind: 'agent', subject: 'did:a', issuedBefore: 1_799_999_999 }),
      revocation({ id: 'r3', kind: 'tenant', subject: '', issuedBefore: 1_800_000_001 }),
    ];
    for (const each of all) deepEqual(await store.put(each), each);
    deepEqual(sorted((await store.changedSince(0)).revocations), all);
    deepEqual((await store.list('acme', 10, 0)).total, 3);
  });

  check('a second revocation of the same makes it as wide as both, never narrower', async (store) => {
    await store.put(revocation({ kind: 'agent', subject: 'did:a', issuedBefore: 20 }));
    const narrower = await store.put(revocation({ id: 'r2', kind: 'agent', subject: 'did:a', issuedBefore: 10 }));
    deepEqual([narrower.id, narrower.issuedBefore], ['r1', 20]);
    const wider = await store.put(revocation({ id: 'r3', kind: 'agent', subject: 'did:a' }));
    deepEqual([wider.id, wider.issuedBefore], ['r1', undefined]);
    const still = await store.put(revocation({ id: 'r4', kind: 'agent', subject: 'did:a', issuedBefore: 30 }));
    equal(still.issuedBefore, undefined);
    deepEqual((await store.changedSince(0)).revocations, [still]);
  });

  check('a list has pages, the latest first, of one tenant', async (store) => {
    for (const [at, subject] of ['a', 'b', 'c'].entries())
      await store.put(revocation({ id: `r${at}`, subject, revokedAt: NOW + at }));
    await store.put(revocation({ id: 'rx', tenantId: 'globex' }));
    const page = await store.list('acme', 2, 0);
    deepEqual([page.revocations.map(({ subject }) => subject), page.total], [['c', 'b'], 3]);
    const rest = await store.list('acme', 2, 2);
    deepEqual(
      rest.revocations.map(({ subject }) => subject),
      ['a'],
    );
  });

  check('hostile text comes back as it was, and long subjects are kept apart', async (store) => {
    const subjects = ['a\0', 'a\uFFFD', 'a\ud800', 'json:"a\\u0000"', "'; drop table x; --", 'x'.repeat(1024), '🙂'];
    for (const [at, subject] of subjects.entries())
      await store.put(revocation({ id: `r${at}`, subject, tenantId: `t${subject}`, reason: subject }));
    deepEqual(
      sorted((await store.changedSince(0)).revocations).map(({ subject, tenantId, reason }) => [
        subject,
        tenantId,
        reason,
      ]),
      subjects.map((subject) => [subject, `t${subject}`, subject]),
    );
  });
}

function changeCases(check: Check): void {
  check('PRM-01 only what changed after a revision is reported, and nothing is left out', async (store) => {
    await store.put(revocation({}));
    const first = await store.changedSince(0);
    deepEqual((await store.changedSince(first.revision)).revocations, []);
    await Promise.all(
      Array.from({ length: 32 }, (_, at) => store.put(revocation({ id: `n${at}`, subject: `n${at}` }))),
    );
    const next = await store.changedSince(first.revision);
    equal(next.revocations.length, 32);
    deepEqual(await store.changedSince(next.revision), { revision: next.revision, revocations: [] });
  });

  check('a lifted revocation is reported as lifted, once, and only to its tenant', async (store) => {
    await store.put(revocation({}));
    equal(await store.lift('globex', 'r1'), undefined);
    equal(await store.lift('acme', 'other'), undefined);
    const { revision } = await store.changedSince(0);
    deepEqual(await store.lift('acme', 'r1'), { ...revocation({}), lifted: true });
    equal(await store.lift('acme', 'r1'), undefined);
    deepEqual((await store.changedSince(revision)).revocations, [{ ...revocation({}), lifted: true }]);
    equal((await store.list('acme', 10, 0)).total, 0);
    const again = revocation({ id: 'r9', expiresAt: NOW });
    deepEqual(await store.put(again), again);
    deepEqual((await store.list('acme', 10, 0)).revocations, [again]);
  });

  check('AUD-07.5 nothing is revoked or lifted without its events', async (store) => {
    const state = () => store.list('acme', 10, 0);
    await changedWithEvents((events) => store.put(revocation({}), events), state);
    await changedWithEvents((events) => store.lift('acme', 'r1', events), state);
    await unchangedWithoutEvents((events) => store.lift('acme', 'r1', events));
  });

  check('PRM-01 what expired is pruned, at its boundary; what never expires stays', async (store) => {
    await store.put(revocation({ id: 'r1', subject: 'a', expiresAt: NOW }));
    await store.put(revocation({ id: 'r2', subject: 'b', expiresAt: NOW + 1 }));
    await store.put(revocation({ id: 'r3', subject: 'c' }));
    await store.put(revocation({ id: 'r4', subject: 'd' }));
    await store.lift('acme', 'r4');
    equal(await store.prune(NOW, Date.now() - 60_000), 1);
    deepEqual(
      sorted((await store.changedSince(0)).revocations).map(({ id }) => id),
      ['r2', 'r3', 'r4'],
    );
    equal(await store.prune(NOW, Date.now() + 60_000), 1);
    equal((await store.list('acme', 10, 0)).total, 2);
  });
}

function revocation(changes: Partial<StoredRevocation>): StoredRevocation {
  return { id: 'r1', tenantId: 'acme', kind: 'token', subject: 'j', revokedAt: NOW, revokedBy: 'did:op', ...changes };
}

const sorted = (all: readonly StoredRevocation[]): StoredRevocation[] =>
  [...all].sort((one, other) => (one.id < other.id ? -1 : 1));
