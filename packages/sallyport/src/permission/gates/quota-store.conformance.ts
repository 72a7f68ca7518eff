import { deepEqual, equal } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { QuotaSession, QuotaStore } from '../quota-store.port.ts';

const DAY_SECONDS = 86_400;

/** Differences of a session from the default one. */
interface Changes extends Partial<CallOwner> {
  readonly sessionId?: string;
}

/** Conformance of every QuotaStore. `open` returns an empty store each time, on the machine's clock. */
export function quotaStoreConformance(test: TestCase, adapter: string, open: OpenStore<QuotaStore>): void {
  const check = casesOver(test, adapter, open);
  const session = ({ sessionId = 's', ...owner }: Changes): QuotaSession => ({
    owner: { tenantId: 'acme', agentDid: 'did:agent:a', ...owner },
    sessionId,
  });
  const take = (store: QuotaStore, changes: Changes = {}, callsMax = 2) =>
    store.take(session(changes), callsMax, DAY_SECONDS);

  check('PRM-07.1 as many calls pass as there are, and not one more', async (store) => {
    const counts = [];
    for (let at = 0; at < 4; at += 1) counts.push(await take(store));
    deepEqual(counts, [1, 2, undefined, undefined]);
  });

  check('PRM-07 a bound that was raised lets the difference pass, one that was lowered nothing', async (store) => {
    await take(store);
    await take(store);
    equal(await take(store, {}, 1), undefined);
    equal(await take(store, {}, 3), 3);
    equal(await take(store, {}, 3), undefined);
  });

  check('PRM-07 tenants, agents, users and sessions are counted apart', async (store) => {
    const others: Changes[] = [
      {},
      { tenantId: 'globex' },
      { agentDid: 'did:agent:b' },
      { userDid: 'did:user:u' },
      { userDid: 'did:user:v' },
      { userDid: 's', sessionId: '' },
      { sessionId: 't' },
      { sessionId: '' },
      { agentDid: 'did:agent:a\ns', sessionId: '' },
      { agentDid: '', sessionId: 'did:agent:a\ns' },
    ];
    for (const each of others) equal(await take(store, each, 1), 1);
    for (const each of others) equal(await take(store, each, 1), undefined);
  });

  check('PRM-07 of calls at the same time exactly as many pass as are left', async (store) => {
    for (let round = 0; round < 5; round += 1) {
      const calls = Array.from({ length: 32 }, () => take(store, { sessionId: `round-${round}` }, 7));
      const passed = (await Promise.all(calls)).filter((count) => count !== undefined);
      deepEqual(
        passed.sort((a, b) => a - b),
        [1, 2, 3, 4, 5, 6, 7],
      );
    }
  });

  check('PRM-07 a session that was idle long enough begins anew', async (store) => {
    const short = session({ sessionId: 'short' });
    equal(await store.take(short, 1, 0.05), 1);
    equal(await store.take(short, 1, 0.05), undefined);
    await wait(80);
    equal(await store.take(short, 1, 0.05), 1);
  });

  check('names of any length and any characters are kept apart', async (store) => {
    const long = '🙂'.repeat(127);
    const names = [long, `${long}x`, 'a\0', 'a\uFFFD', 'a\ud800', "'; drop table x; --", '["a","b"]'];
    for (const sessionId of names) equal(await take(store, { sessionId, tenantId: long }, 1), 1);
  });

  check('sessions that are over do not stand in the way of new ones', async (store) => {
    for (let at = 0; at < 20; at += 1) await store.take(session({ sessionId: `old-${at}` }), 1, 0.001);
    await wait(5);
    for (let at = 0; at < 20; at += 1) equal(await take(store, { sessionId: `new-${at}` }, 1), 1);
  });
}
