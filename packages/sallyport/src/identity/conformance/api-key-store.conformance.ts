import { deepEqual, equal, rejects } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { changedWithEvents, unchangedWithoutEvents } from '../../domain/event/events-of.conformance.ts';
import type { ApiKeyStore, StoredApiKey } from '../api-keys.port.ts';

const NOW = 1_800_000_000_000;

/** Conformance of every ApiKeyStore. `open` returns a store without keys each time; its revision may be any. */
export function apiKeyStoreConformance(test: TestCase, adapter: string, open: OpenStore<ApiKeyStore>): void {
  const check = casesOver(test, adapter, open);

  check('PRM-10 API keys are kept whole, and listed for their tenant alone', async (store) => {
    const keys = [
      key({ expiresAt: NOW + 1, createdAt: NOW + 1 }),
      key({ id: 'k2', hash: 'h2', claims: { ...key({}).claims, roles: ['viewer'], trust_level: 'provisional' } }),
    ];
    for (const each of keys) await store.insert(each);
    const newest = key({ id: 'k4', hash: 'h4', createdAt: NOW + 2 });
    await store.insert(newest);
    await store.insert(key({ id: 'k3', hash: 'h3', tenantId: 'globex' }));
    deepEqual(await store.list('acme'), [newest, ...keys]);
    equal((await store.changedSince(0)).keys.length, 4);
  });

  check('PRM-10 a key is revoked by its tenant alone, and the first time counts', async (store) => {
    await store.insert(key({}));
    const { revision } = await store.changedSince(0);
    equal(await store.revoke('globex', 'k1', NOW), undefined);
    equal(await store.revoke('acme', 'other', NOW), undefined);
    deepEqual(await store.revoke('acme', 'k1', NOW), key({ revokedAt: NOW }));
    deepEqual(await store.revoke('acme', 'k1', NOW + 5), key({ revokedAt: NOW }));
    deepEqual((await store.changedSince(revision)).keys, [key({ revokedAt: NOW })]);
  });

  check('AUD-07.5 no key is made or revoked without its events', async (store) => {
    const state = () => store.list('acme');
    await changedWithEvents((events) => store.insert(key({}), events), state);
    await changedWithEvents((events) => store.revoke('acme', 'k1', NOW, events), state);
    await unchangedWithoutEvents((events) => store.revoke('globex', 'k1', NOW, events));
  });

  check('only what changed after a revision is reported, and nothing is left out', async (store) => {
    await store.insert(key({}));
    const first = await store.changedSince(0);
    deepEqual(await store.changedSince(first.revision), { revision: first.revision, keys: [] });
    await Promise.all(Array.from({ length: 16 }, (_, at) => store.insert(key({ id: `n${at}`, hash: `n${at}` }))));
    equal((await store.changedSince(first.revision)).keys.length, 16);
  });

  check('the last use is kept, an older one changes nothing, and neither is a change', async (store) => {
    const other = key({ id: 'k2', hash: 'h2' });
    for (const each of [key({}), other]) await store.insert(each);
    const { revision } = await store.changedSince(0);
    await store.noteUses([]);
    await store.noteUses([
      { id: 'k1', atMs: NOW + 9 },
      { id: 'unknown', atMs: NOW },
    ]);
    await store.noteUses([{ id: 'k1', atMs: NOW + 3 }]);
    deepEqual(await store.list('acme'), [key({ lastUsedAt: NOW + 9 }), other]);
    await store.noteUses([{ id: 'k1', atMs: NOW + 10 }]);
    deepEqual(await store.list('acme'), [key({ lastUsedAt: NOW + 10 }), other]);
    deepEqual((await store.changedSince(revision)).keys, []);
  });

  check('keys that ended long ago are pruned', async (store) => {
    await store.insert(key({ id: 'a', hash: 'a', expiresAt: NOW }));
    await store.insert(key({ id: 'b', hash: 'b', expiresAt: NOW + 1 }));
    await store.insert(key({ id: 'c', hash: 'c' }));
    await store.insert(key({ id: 'd', hash: 'd' }));
    await store.revoke('acme', 'd', NOW);
    equal(await store.prune(NOW), 2);
    deepEqual(
      (await store.list('acme')).map(({ id }) => id),
      ['b', 'c'],
    );
  });

  check('hostile text comes back as it was', async (store) => {
    const text = `nul \0, quote ' " \\, lone \ud800, 🙂`;
    const hostile = key({ name: text, tenantId: text, createdBy: text, claims: { ...key({}).claims, user_did: text } });
    await store.insert(hostile);
    deepEqual(await store.list(text), [hostile]);
  });

  if (adapter !== 'memory')
    check('two keys of one hash cannot be', async (store) => {
      await store.insert(key({}));
      await rejects(store.insert(key({ id: 'k2' })));
      equal((await store.list('acme')).length, 1);
    });
}

function key(changes: Partial<StoredApiKey>): StoredApiKey {
  return {
    id: 'k1',
    tenantId: 'acme',
    name: 'build',
    hash: 'h1',
    prefix: 'sp_abcdef',
    claims: { tool_id: '*', agent_did: 'did:a', tenant_id: 'acme', allowed_operations: ['execute'], roles: ['agent'] },
    createdAt: NOW,
    createdBy: 'did:op',
    ...changes,
  };
}
