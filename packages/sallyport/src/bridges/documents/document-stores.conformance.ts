import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { sha256 } from '@sallyport/std/sha256';
import type { DocumentPin } from '../../domain/document/given-document.ts';
import type { DocumentCache, DocumentPinStore, RememberedAnswer } from '../document-stores.port.ts';

const HOUR_MS = 3_600_000;

const pin = (more: Partial<DocumentPin> = {}): DocumentPin => ({
  ref: 'spec:one',
  documentId: 'spec:one',
  version: '3',
  sha256: sha256('three'),
  ...more,
});

/** Requirements of every DocumentPinStore. */
export function documentPinStoreConformance(test: TestCase, adapter: string, open: OpenStore<DocumentPinStore>): void {
  const check = casesOver(test, adapter, open);

  check('DOC-04 pins come back as they were put, for their tenant and call alone', async (store) => {
    const pins = [pin(), pin({ ref: 'a\0b \ud800 *', documentId: 'ü', version: '4' })];
    await store.put('acme', 'call\0', pins);
    deepEqual(await store.find('acme', 'call\0'), pins);
    equal(await store.find('other', 'call\0'), undefined);
    equal(await store.find('acme', 'call'), undefined);
  });

  check('DOC-04 those of a call are replaced as a whole', async (store) => {
    await store.put('acme', 'call', [pin(), pin({ ref: 'spec:two' })]);
    await store.put('acme', 'call', [pin({ version: '4' })]);
    deepEqual(await store.find('acme', 'call'), [pin({ version: '4' })]);
  });

  check(
    'DOC-04 pins are forgotten after their time, not before, and no more at once than was asked for',
    async (store) => {
      for (const tenantId of ['acme', 'other']) await store.put(tenantId, 'call', [pin()]);
      equal(await store.forget(Date.now() - HOUR_MS, 9), 0);
      deepEqual(await store.find('acme', 'call'), [pin()]);
      for (const [limit, forgotten] of [
        [1, 1],
        [9, 1],
        [9, 0],
      ] as const)
        equal(await store.forget(Date.now() + HOUR_MS, limit), forgotten);
      for (const tenantId of ['acme', 'other']) equal(await store.find(tenantId, 'call'), undefined);
    },
  );
}

const KEY = 'doc:cache:get_source_of_truth:spec:one:latest';

const answer = (content: string): RememberedAnswer => ({
  answer: {
    document_id: 'spec:one',
    version: '3',
    uri: 'document://spec:one',
    content,
    content_sha256: sha256(content),
  },
  storedAt: 1_800_000_000_000,
});

/** Requirements of every DocumentCache. */
export function documentCacheConformance(test: TestCase, adapter: string, open: OpenStore<DocumentCache>): void {
  const check = casesOver(test, adapter, open);
  const shared = { tenantId: 'acme', scope: '' };
  const own = { tenantId: 'acme', scope: '["did:a","u"]' };
  const other = { tenantId: 'other', scope: '' };

  check('DOC-02 an answer comes back for its tenant, scope and key alone', async (cache) => {
    await cache.put(shared, KEY, answer('shared'), HOUR_MS);
    await cache.put(own, KEY, answer('own'), HOUR_MS);
    deepEqual(await cache.get(shared, KEY), answer('shared'));
    deepEqual(await cache.get(own, KEY), answer('own'));
    equal(await cache.get(other, KEY), undefined);
    equal(await cache.get(shared, `${KEY}x`), undefined);
  });

  check('DOC-02 the newer answer replaces the older one, and one that is kept for no time is none', async (cache) => {
    await cache.put(shared, KEY, answer('old'), HOUR_MS);
    await cache.put(shared, KEY, answer('new'), HOUR_MS);
    deepEqual(await cache.get(shared, KEY), answer('new'));
    await cache.put(own, KEY, answer('own'), 0);
    equal(await cache.get(own, KEY), undefined);
  });

  check('DOC-02.3 a key is dropped in every scope of its tenant, and in no other tenant', async (cache) => {
    for (const place of [shared, own, other]) await cache.put(place, KEY, answer('one'), HOUR_MS);
    await cache.drop('acme', [KEY, 'doc:cache:get_document_metadata:spec:one:latest']);
    equal(await cache.get(shared, KEY), undefined);
    equal(await cache.get(own, KEY), undefined);
    deepEqual(await cache.get(other, KEY), answer('one'));
  });

  check('DOC-02.4 everything of a tenant is dropped, or of all', async (cache) => {
    const another = { tenantId: 'acme2', scope: '' };
    const places = [shared, own, other, another];
    for (const place of places) await cache.put(place, KEY, answer('one'), HOUR_MS);
    await cache.put(shared, `${KEY}x`, answer('two'), HOUR_MS);
    await cache.clear('acme');
    for (const place of [shared, own]) equal(await cache.get(place, KEY), undefined);
    equal(await cache.get(shared, `${KEY}x`), undefined);
    for (const place of [other, another]) deepEqual(await cache.get(place, KEY), answer('one'));
    await cache.clear();
    for (const place of places) equal(await cache.get(place, KEY), undefined);
  });
}
