import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { beforeEach, describe, expect, test } from 'vitest';
import { memoryDocumentCache } from '../../storage/memory/memory-document-cache.ts';
import type { DocumentCache } from '../document-stores.port.ts';
import { document, failed, ServedDocuments, wanted } from './documents.fixture.ts';

const UPDATE = { tenantId: 'acme', documentId: 'spec', version: '2' };
const MINUTE_MS = 60_000;
const SHARED = { tenantId: 'acme', scope: '' };
const KEY = 'doc:cache:get_source_of_truth:spec:latest';

let cache: DocumentCache;
let served: ServedDocuments;
beforeEach(() => {
  cache = memoryDocumentCache({ bytesMax: 1_000_000 });
  served = over(cache);
});

function over(given: DocumentCache, settings = {}): ServedDocuments {
  const made = new ServedDocuments({
    cache: given,
    settings: { contentMs: 10 * MINUTE_MS, metadataMs: 20 * MINUTE_MS, staleMs: 100 * MINUTE_MS, ...settings },
  });
  made.answers = [{ documents: [document('spec')] }];
  return made;
}
const away = async (): Promise<never> => Promise.reject(new ToolLayerError('E3607', 'down'));
const requestsFor = async (...refs: string[]): Promise<number> => {
  await served.read(refs);
  return served.requests().length;
};

describe('how old an answer may be', () => {
  test('DOC-02.1 it is asked for again after its time, counted in both directions: a clock may be ahead', async () => {
    expect(await requestsFor('spec')).toBe(1);
    for (const ms of [10 * MINUTE_MS - 1, -20 * MINUTE_MS + 2]) {
      served.now += ms;
      expect(await requestsFor('spec')).toBe(0);
    }
    served.now -= 1;
    expect(await requestsFor('spec')).toBe(1);
  });

  test('DOC-03.1 an old one is given with a warning where the server fails, until it is too old', async () => {
    await served.read(['spec']);
    served.answers = [failed('E3310')];
    served.now += 100 * MINUTE_MS - 1;
    const stale = { code: 'document_stale', details: { document_id: 'spec' } };
    expect(await served.read(['spec'])).toMatchObject({ documents: [{ version: '1' }], warnings: [stale] });
    served.now += 1;
    await expect(served.read(['spec'])).rejects.toMatchObject({ code: 'E3602' });
  });

  test('DOC-02.1 DOC-03.1 where no old answers are to be given, those are remembered that are fresh, and no longer', async () => {
    served = over(cache, { staleMs: 0 });
    await served.read(['spec', 'spec@1']);
    served.now += 10 * MINUTE_MS - 1;
    served.requests();
    expect(await requestsFor('spec')).toBe(0);
    served.answers = [{ documents: [{ document_id: 'spec' }] }];
    expect([await requestsFor('spec@1'), await requestsFor('spec@1')]).toEqual([1, 0]);
    served.now += 1;
    served.answers = [failed('E3310')];
    await expect(served.read(['spec'])).rejects.toMatchObject({ code: 'E3602' });
  });

  test('DOC-03.1 where no old answers are to be given, none is that a change has made old', async () => {
    served = over({ ...cache, drop: async () => undefined }, { staleMs: 0 });
    served.answers = [document('guide')];
    await served.read(['gui*']);
    served.changed(UPDATE);
    served.answers = [failed('E3310')];
    await expect(served.read(['gui*'])).rejects.toMatchObject({ code: 'E3602' });
  });

  test('DOC-02 nothing is remembered where nothing is kept', async () => {
    served = over(cache, { contentMs: 0, staleMs: 0 });
    expect([await requestsFor('spec'), await requestsFor('spec')]).toEqual([1, 1]);
  });
});

describe('changes', () => {
  test('DOC-02.3 a change of any document makes what was resolved to another one stale, in its tenant alone', async () => {
    served.answers = [{ documents: [{ ...document('spec-2'), ref: 'sp*' }, document('guide')] }];
    await served.read(['sp*', 'guide']);
    served.requests();
    served.now += 1;
    served.changed({ ...UPDATE, tenantId: 'other' });
    expect(await requestsFor('sp*', 'guide')).toBe(0);
    served.changed(UPDATE);
    await served.read(['sp*', 'guide']);
    expect(served.requests()).toEqual([['get_source_of_truth', { document_refs: ['sp*'] }]]);
  });

  test('DOC-02.3 a changed document is asked for again, with its status, and what was on its way is not remembered', async () => {
    await served.read(['spec', 'spec@1']);
    await served.read(['spec@1']);
    expect(await cache.get(SHARED, 'doc:cache:get_document_metadata:spec:latest')).toBeDefined();
    served.requests();
    expect(await requestsFor('spec', 'spec@1')).toBe(0);
    served.changed(UPDATE);
    expect(await requestsFor('spec')).toBe(1);
    expect(await requestsFor('spec@1')).toBe(1);
    for (const ref of ['guide', 'guide@7']) {
      const late = over(cache);
      late.onAsked = () => late.changed(UPDATE);
      late.answers = [document('guide', '7')];
      expect(await late.found([ref])).toEqual(['guide@7']);
      late.answers = [failed('E3310')];
      await expect(late.read([ref])).rejects.toMatchObject({ code: 'E3602' });
    }
  });

  test('DOC-02.3 of more tenants than are known one by one nothing is fresh that was stored before', async () => {
    await served.read(['spec']);
    served.requests();
    for (let tenant = 0; tenant < 10_000; tenant += 1) served.changed({ ...UPDATE, tenantId: `t${tenant}` });
    expect(await requestsFor('spec')).toBe(0);
    served.now += 1;
    served.changed({ ...UPDATE, tenantId: 'one more' });
    expect(await requestsFor('spec')).toBe(1);
    expect(await requestsFor('spec')).toBe(0);
  });

  test('DOC-02.3 what a cache could not drop is out of date', async () => {
    served = over({ ...cache, drop: away });
    await served.read(['spec']);
    served.now += 1;
    served.changed({ ...UPDATE, documentId: 'other' });
    await new Promise(setImmediate);
    expect(served.requests()).toHaveLength(1);
    expect(await requestsFor('spec')).toBe(1);
    expect(served.logged).toEqual(['document-cache-unreachable']);
  });

  test('DOC-02.4 of a deletion nothing of the tenant is given, versions neither, of others all', async () => {
    const other = { reader: { tenantId: 'acme-2', agentDid: 'did:example:a', secrets: new Map() } };
    const old = async (more: object) => {
      served.answers = [document('guide', '7')];
      await served.read(['guide@7'], more);
      served.answers = [document('spec')];
      for (const ref of ['spec', 'spec@1']) await served.read([ref], more);
    };
    for (const more of [{}, other]) await old(more);
    served.changed({ ...UPDATE, deleted: true });
    served.answers = [failed('E3310')];
    for (const ref of ['spec', 'spec@1', 'guide@7'])
      await expect(served.read([ref])).rejects.toMatchObject({ code: 'E3602' });
    for (const ref of ['spec', 'spec@1']) expect(await served.found([ref], other)).toEqual(['spec@1']);
    expect(await served.found(['guide@7'], other)).toEqual(['guide@7']);
    served.changed(undefined);
    for (const ref of ['spec', 'spec@1', 'guide@7'])
      await expect(served.read([ref], other)).rejects.toMatchObject({ code: 'E3602' });
  });

  test('DOC-02.4 of a cache that could not forget, nothing is given that was stored before', async () => {
    served = over({ ...cache, clear: away });
    await served.read(['spec']);
    served.now += 1;
    served.changed({ ...UPDATE, documentId: 'other', deleted: true });
    await new Promise(setImmediate);
    expect(served.logged).toEqual(['document-cache-unreachable']);
    await served.read(['spec']);
    served.answers = [failed('E3310')];
    served.now += 50 * MINUTE_MS;
    expect(await served.found(['spec'])).toEqual(['spec@1']);
    served.changed(undefined);
    await new Promise(setImmediate);
    await expect(served.read(['spec'])).rejects.toMatchObject({ code: 'E3602' });
  });

  test('DOC-02.3 after its documents are closed nobody is subscribed', () => {
    expect(served.subscriptions).toBe(1);
    served.documents[Symbol.dispose]();
    expect(served.subscriptions).toBe(0);
  });
});

describe('entries of a cache that others write', () => {
  test('DOC-02.1 a sound one is given without asking, at once or later', async () => {
    await served.read(['spec']);
    for (const get of [
      async (...asked: Parameters<DocumentCache['get']>) => structuredClone(await cache.get(...asked)),
      (...asked: Parameters<DocumentCache['get']>) => structuredClone(cache.get(...asked)),
    ]) {
      const shared = over({ ...cache, get } as DocumentCache);
      expect(await shared.found(['spec'])).toEqual(['spec@1']);
      expect([shared.requests(), shared.logged]).toEqual([[], []]);
    }
  });

  test.each([
    ['without a hash', { ...document('spec'), content_sha256: undefined }],
    ['no document', 'spec'],
    ['nothing', null],
  ])('DOC-02 %s is damaged, and dropped', async (_, answer) => {
    const dropped: unknown[] = [];
    const drop = async (...asked: unknown[]) => void dropped.push(asked);
    served = over({ ...cache, drop, get: () => ({ answer: answer as never, storedAt: served.now }) });
    expect(await served.found(['spec'])).toEqual(['spec@1']);
    expect([served.logged, dropped]).toEqual([['document-cache-entry-damaged'], [['acme', [KEY]]]]);
  });

  test('DOC-02 a damaged one is dropped and named, whether the cache can drop it or not', async () => {
    let read = 0;
    const entry = () => ({
      storedAt: served.now,
      answer: {
        ...document('spec'),
        get content() {
          read += 1;
          return 'forged';
        },
      } as never,
    });
    await cache.put(SHARED, KEY, entry(), MINUTE_MS);
    expect(await requestsFor('spec')).toBe(1);
    expect([served.logged, read > 0]).toEqual([['document-cache-entry-damaged'], true]);
    expect(await requestsFor('spec')).toBe(0);
    served = over({ ...cache, drop: away });
    await cache.put(SHARED, KEY, entry(), MINUTE_MS);
    expect(await requestsFor('spec')).toBe(1);
  });

  test('DOC-03.4 a cache that cannot be read, or not be written, is a warning of the call', async () => {
    for (const down of [{ get: away }, { put: away }]) {
      served = over({ ...memoryDocumentCache({ bytesMax: 1_000_000 }), ...down });
      served.answers = [{ documents: [document('spec')] }];
      const said: string[][] = [];
      // Of a version that is here, the status of its document is looked for.
      for (const ref of ['spec', 'spec@1', 'spec@1'])
        said.push((await served.read([ref])).warnings.map(({ code }) => code));
      expect(said).toEqual([['E3607'], ['E3607'], ['E3607']]);
    }
  });

  test('DOC-03.4 a cache that is down is one warning, and one line of the log, of a reading', async () => {
    served = over({ get: away, put: away, drop: away, clear: away });
    served.answers = [{ documents: [document('spec'), document('guide')] }];
    const { warnings } = await served.read(['spec', 'guide']);
    expect(warnings.map(({ code, details }) => [code, details])).toEqual([['E3607', undefined]]);
    expect(served.logged).toEqual(['document-cache-unreachable']);
  });
});

describe('what a call gets', () => {
  test('each version once, in the order of what was asked for; pins of what is pinned alone', async () => {
    served.answers = [{ documents: [{ ...document('spec'), ref: 'sp*' }, document('guide')] }];
    const { documents, pins } = await served.read(['guide', 'sp*', wanted('guide', { isPinned: false })]);
    expect(documents.map(({ document_id: id }) => id)).toEqual(['guide', 'spec']);
    expect(pins.map(({ ref, documentId, version }) => [ref, documentId, version])).toEqual([
      ['guide', 'guide', '1'],
      ['sp*', 'spec', '1'],
    ]);
    served = over(memoryDocumentCache({ bytesMax: 0 }));
    served.answers = [{ documents: [document('spec'), document('spec', '2')] }];
    const both = await served.read(['spec@1', 'spec@2']);
    expect(both.pins.map(({ ref, version }) => [ref, version])).toEqual([
      ['spec@1', '1'],
      ['spec@2', '2'],
    ]);
    expect(both.warnings).toEqual([]);
  });

  test('DOC-04.2 a pinned version is read unless the call says otherwise; another content of it is E3604', async () => {
    const pin = { ref: 'spec', documentId: 'spec', version: '1', sha256: sha256('spec@1') };
    served.answers = [document('spec'), document('spec', '2')];
    expect(await served.found(['spec'], { pins: [pin] })).toEqual(['spec@1']);
    expect(await served.found([wanted('spec', { isPinned: false })], { pins: [pin] })).toEqual(['spec@2']);
    const forged = { ...pin, sha256: sha256('other') };
    await expect(served.read(['spec'], { pins: [forged] })).rejects.toMatchObject({ code: 'E3604' });
  });

  test('DOC-04.4 each deprecated document is one warning, and the same document no second one', async () => {
    const old = { status: 'deprecated' };
    served.answers = [{ documents: [document('spec', '1', old), { ...document('guide', '1', old), ref: 'gui*' }] }];
    const { warnings } = await served.read(['spec', 'gui*', 'spec']);
    expect(warnings.map(({ details }) => details?.['document_id'])).toEqual(['spec', 'guide']);
    served = over(memoryDocumentCache({ bytesMax: 0 }));
    served.answers = [document('next', '1', old)];
    const both = await served.read(['spec']);
    expect(both.warnings.map(({ code }) => code)).toEqual(['document_deprecated', 'document_replaced']);
  });

  test('DOC-04.4 a successor in the place of a document is a warning; what a pattern or a question finds is none', async () => {
    served.answers = [document('next', '3')];
    const { warnings } = await served.read(['spec']);
    const message = 'The document spec is deprecated; its successor next@3 was taken.';
    expect(warnings).toEqual([{ code: 'document_replaced', message, details: { document_id: 'next' } }]);
    for (const one of [wanted('ne*'), wanted('what is next', { isQuestion: true })])
      expect((await served.read([one])).warnings).toEqual([]);
  });

  test('DOC-04.1 access is judged for what was asked, and for what the server chose, with the name that was asked', async () => {
    const judged: string[] = [];
    const more = {
      checkAccess: (id: string, mode: string, asked: string) => void judged.push(`${mode} ${id} for ${asked}`),
    };
    served.answers = [
      {
        documents: [{ ...document('next'), ref: 'spec' }, { ...document('guide'), ref: 'gui*' }, document('own')],
      },
    ];
    await served.read(['spec', wanted('gui*', { mode: 'write' }), 'own'], more);
    expect(judged).toEqual(['read spec for spec', 'read own for own', 'read next for spec', 'write guide for gui*']);
    judged.length = 0;
    served.answers = [document('guide')];
    await served.read([wanted('what?', { isQuestion: true })], more);
    expect(judged).toEqual(['read guide for what?']);
    served.requests();
    // A judgement may take its time.
    for (const [id, requests] of [
      ['spec', 0],
      ['next', 1],
    ] as const) {
      const fresh = over(memoryDocumentCache({ bytesMax: 0 }));
      fresh.answers = [{ documents: [{ ...document('next'), ref: 'spec' }] }];
      const checkAccess = async (documentId: string): Promise<void> => {
        if (documentId === id) throw failed('E3603');
      };
      await expect(fresh.read(['spec'], { checkAccess })).rejects.toMatchObject({ code: 'E3603' });
      expect(fresh.requests()).toHaveLength(requests);
    }
  });

  test('the bytes of all contents together are bounded, each byte of a long character counted', async () => {
    const content = '€'.repeat(4);
    for (const fits of [content, 'x'.repeat(12)]) {
      served = over(memoryDocumentCache({ bytesMax: 0 }), { callBytesMax: 12 });
      served.answers = [document('spec', '1', { content: fits })];
      await served.read(['spec']);
    }
    served = over(memoryDocumentCache({ bytesMax: 0 }), { callBytesMax: 12 });
    served.answers = [document('spec', '1', { content: `${content}.` })];
    await expect(served.read(['spec'])).rejects.toMatchObject({
      code: 'E3102',
      message: expect.stringContaining('13 bytes'),
      failure: { details: { limit: 'document_bridge.call_bytes_max', max: 12 } },
    });
  });
});
