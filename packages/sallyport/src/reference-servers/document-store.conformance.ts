import { deepEqual, equal, ok } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { sha256 } from '@sallyport/std/sha256';
import type { DocumentStore, NewDocument } from './document-store.port.ts';

const TENANT = 'acme';
const ANY = { includeDeprecated: false };
const BOUNDS = { documentsMax: 100, versionsMax: 100 };
const NEW = { mustBeNew: true, ...BOUNDS };
const VERSION = { mustBeNew: false, ...BOUNDS };

function document(documentId: string, content: string, more: Partial<NewDocument> = {}): NewDocument {
  return {
    documentId,
    title: `About ${documentId}`,
    tags: [],
    authority: 50,
    content,
    contentType: 'text/markdown',
    sha256: sha256(content),
    passages: [sha256(`${documentId} ${content}`)],
    shingles: { step: 1, hashes: [1, -2, 3] },
    at: 1_800_000_000_000,
    by: { agentDid: 'did:example:a' },
    ...more,
  };
}

const idsOf = (found: readonly { readonly documentId: string }[]): string[] =>
  found.map(({ documentId }) => documentId);

/** Requirements of every DocumentStore. `open` gives an empty one each time. */
export function documentStoreConformance(test: TestCase, adapter: string, open: OpenStore<DocumentStore>): void {
  const check = casesOver(test, adapter, open);

  check('DOC-01.4 a document comes back as it was stored, for its tenant alone', async (store) => {
    const text = `# Über 猫 ${'x'.repeat(5_000)}`;
    const given = document('spec:a', text, {
      title: 'A "title"',
      tags: ['b', 'a'],
      authority: 100,
      source: 'https://x',
    });
    const { outcome, stored } = await store.put(TENANT, given, NEW);
    equal(outcome, 'created');
    deepEqual(stored, {
      ...{ documentId: 'spec:a', title: 'A "title"', tags: ['b', 'a'], authority: 100, source: 'https://x' },
      ...{ newest: 1, version: 1, contentType: 'text/markdown', sha256: sha256(text), bytes: Buffer.byteLength(text) },
      ...{ createdAt: given.at, storedAt: given.at },
    });
    deepEqual(await store.find(TENANT, ['spec:a', 'unknown']), [stored]);
    deepEqual(await store.read(TENANT, [{ documentId: 'spec:a', version: 1 }]), [{ ...stored, content: text }]);
    deepEqual(await store.sizes(TENANT, [{ documentId: 'spec:a', version: 1 }]), [
      { documentId: 'spec:a', version: 1, bytes: Buffer.byteLength(text) },
    ]);
    for (const other of ['other', '', 'acme\0']) {
      deepEqual(await store.sizes(other, [{ documentId: 'spec:a', version: 1 }]), []);
      deepEqual(await store.find(other, ['spec:a']), []);
      deepEqual(await store.read(other, [{ documentId: 'spec:a', version: 1 }]), []);
      deepEqual(await store.withWords(other, 'title', ANY, 10), []);
      deepEqual(await store.matching(other, '*', ANY, 10), []);
      deepEqual(await store.sharing(other, given.shingles, 10), []);
      deepEqual(await store.passages(other, '', 10), []);
      equal(await store.deprecate(other, 'spec:a', { reason: 'r', at: 0 }), undefined);
    }
  });

  check('DOC-01.4 no more documents and versions are stored than there may be', async (store) => {
    const two = { ...VERSION, documentsMax: 2, versionsMax: 2 };
    const outcomeOf = async (id: string, content: string, tenant = TENANT) =>
      (await store.put(tenant, document(id, content), two)).outcome;
    equal(await outcomeOf('a', 'one'), 'created');
    equal(await outcomeOf('b', 'one'), 'created');
    deepEqual(await store.put(TENANT, document('c', 'one'), two), { outcome: 'full', stored: undefined });
    equal(await outcomeOf('c', 'one', 'other'), 'created');
    equal(await outcomeOf('a', 'two'), 'new_version');
    const full = await store.put(TENANT, document('a', 'three'), two);
    deepEqual([full.outcome, full.stored?.newest], ['full', 2]);
    equal(await outcomeOf('a', 'two'), 'unchanged');
    deepEqual(idsOf(await store.find(TENANT, ['a', 'b', 'c'])).sort(), ['a', 'b']);
  });

  check('DOC-01.4 another content is a version, the same content is none, and versions never change', async (store) => {
    await store.put(TENANT, document('a', 'one'), NEW);
    const two = document('a', 'two', { title: 'Two', at: 1_800_000_001_000 });
    equal((await store.put(TENANT, two, VERSION)).outcome, 'new_version');
    const said = { title: 'Same', tags: ['t'], authority: 7, source: 'https://s' };
    const found = { passages: [sha256('p')], shingles: { step: 2, hashes: [70] } };
    const same = await store.put(TENANT, { ...two, ...said, ...found, at: 1_800_000_002_000 }, NEW);
    equal(same.outcome, 'unchanged');
    const { title, tags, authority, source, newest, storedAt } = same.stored ?? {};
    deepEqual({ title, tags, authority, source }, said);
    deepEqual([newest, storedAt], [2, 1_800_000_001_000]);
    deepEqual(await store.find(TENANT, ['a']), [same.stored]);
    deepEqual(await store.matching(TENANT, '*', ANY, 9), [same.stored]);
    deepEqual(await store.sharing(TENANT, found.shingles, 9), [{ documentId: 'a', shingles: found.shingles }]);
    deepEqual(await store.passagesOf(TENANT, ['a']), [{ documentId: 'a', version: 2, hashes: found.passages }]);
    const versions = [1, 2, 3].map((version) => ({ documentId: 'a', version }));
    const read = await store.read(TENANT, versions);
    deepEqual(read.map(({ version, content }) => [version, content]).sort(), [
      [1, 'one'],
      [2, 'two'],
    ]);
  });

  check('DOC-01.4 a document is not replaced unless that is asked, nor one that changed meanwhile', async (store) => {
    const missing = await store.put(TENANT, document('a', 'one'), { ...VERSION, expected: 1 });
    deepEqual(missing, { outcome: 'conflict', stored: undefined });
    await store.put(TENANT, document('a', 'one'), NEW);
    const again = await store.put(TENANT, document('a', 'two'), NEW);
    deepEqual([again.outcome, again.stored?.newest], ['conflict', 1]);
    equal((await store.put(TENANT, document('a', 'two'), { ...VERSION, expected: 2 })).outcome, 'conflict');
    equal((await store.put(TENANT, document('a', 'two'), { ...VERSION, expected: 1 })).outcome, 'new_version');
  });

  check('DOC-01.4 writers of one document wait for one another, and no version is lost', async (store) => {
    const contents = Array.from({ length: 12 }, (_, at) => `content ${at}`);
    const outcomes = await Promise.all(contents.map((content) => store.put(TENANT, document('a', content), VERSION)));
    equal(outcomes.filter(({ outcome }) => outcome === 'created').length, 1);
    equal(outcomes.filter(({ outcome }) => outcome === 'new_version').length, 11);
    const versions = contents.map((_, at) => ({ documentId: 'a', version: at + 1 }));
    const read = await store.read(TENANT, versions);
    deepEqual(read.map(({ content }) => content).sort(), contents.toSorted());
  });

  check('DOC-01.1 words find the newest version, by stem and in titles, best first', async (store) => {
    await store.put(TENANT, document('returns', 'Customers returned their shoes.'), NEW);
    await store.put(TENANT, document('shoes', 'Nothing here.', { title: 'Returning shoes' }), NEW);
    await store.put(TENANT, document('boats', `Boats are returning once.${' Many other words.'.repeat(50)}`), NEW);
    deepEqual(idsOf(await store.withWords(TENANT, 'return a shoe', ANY, 10)), ['shoes', 'returns', 'boats']);
    deepEqual(idsOf(await store.withWords(TENANT, 'return a shoe', ANY, 1)), ['shoes']);
    await store.put(TENANT, document('returns', 'Something else.'), VERSION);
    deepEqual(idsOf(await store.withWords(TENANT, 'customers', ANY, 10)), []);
    for (const text of ['', '& | ! ()', "'; drop table x --", 'the', '\0 \ud800', ':* <-> \\'])
      deepEqual(idsOf(await store.withWords(TENANT, text, ANY, 10)), [], text);
  });

  check('DOC-01.1 filters hold: tags, authority, deprecation', async (store) => {
    await store.put(TENANT, document('a', 'word', { tags: ['x', 'y'], authority: 10 }), NEW);
    await store.put(TENANT, document('b', 'word', { tags: ['x'], authority: 90 }), NEW);
    await store.put(TENANT, document('c', 'word', { tags: ['x'], authority: 50 }), NEW);
    await store.put('other', document('c', 'word'), NEW);
    const deprecated = await store.deprecate(TENANT, 'c', { reason: 'old', successorId: 'b', at: 5 });
    deepEqual(deprecated?.deprecation, { reason: 'old', successorId: 'b', at: 5 });
    const found = async (filter: Parameters<DocumentStore['withWords']>[2]) =>
      idsOf(await store.withWords(TENANT, 'word', filter, 10)).sort();
    deepEqual(await found(ANY), ['a', 'b']);
    deepEqual(await found({ includeDeprecated: true }), ['a', 'b', 'c']);
    deepEqual(await found({ ...ANY, tags: ['x', 'y'] }), ['a']);
    deepEqual(await found({ ...ANY, tags: ['z'] }), []);
    deepEqual(await found({ ...ANY, authorityMin: 11 }), ['b']);
    deepEqual(await found({ ...ANY, authorityMin: 10 }), ['a', 'b']);
    equal((await store.find('other', ['c']))[0]?.deprecation, undefined);
    deepEqual(idsOf(await store.matching(TENANT, '*', { ...ANY, tags: ['y'] }, 10)), ['a']);
    deepEqual(idsOf(await store.matching(TENANT, '*', { ...ANY, authorityMin: 11 }, 10)), ['b']);
    deepEqual(idsOf(await store.matching(TENANT, '*', { ...ANY, authorityMin: 10 }, 10)), ['b', 'a']);
    deepEqual(idsOf(await store.matching(TENANT, '*', ANY, 1)), ['b']);
    deepEqual(idsOf(await store.matching(TENANT, '*', ANY, 10)), ['b', 'a']);
    deepEqual(idsOf(await store.matching(TENANT, '*', { includeDeprecated: true }, 10)), ['b', 'c', 'a']);
    equal((await store.put(TENANT, document('c', 'word again'), VERSION)).stored?.deprecation, undefined);
  });

  check('DOC-01.1 a pattern of ids means its letters; only * stands for any', async (store) => {
    for (const id of ['spec:requirements-1', 'spec:requirements-2', 'spec_requirements-3', 'spec:other', 'a%b'])
      await store.put(TENANT, document(id, id), NEW);
    await store.put(TENANT, document('spec:zero', 'newest', { at: 1_800_000_000_001 }), NEW);
    const newestFirst = ['spec:zero', 'spec:other', 'spec:requirements-1', 'spec:requirements-2'];
    deepEqual(idsOf(await store.matching(TENANT, 'spec:*', ANY, 10)), newestFirst);
    const fits = async (pattern: string) => idsOf(await store.matching(TENANT, pattern, ANY, 10)).sort();
    deepEqual(await fits('spec:requirements-*'), ['spec:requirements-1', 'spec:requirements-2']);
    deepEqual(await fits('spec_requirements-*'), ['spec_requirements-3']);
    deepEqual(await fits('a%b'), ['a%b']);
    deepEqual(await fits('%'), []);
    deepEqual(await fits('\\'), []);
  });

  check('DOC-01.1 documents that share most are first, and hashes keep their sign', async (store) => {
    const most = -(2 ** 31);
    await store.put(TENANT, document('few', 'a', { shingles: { step: 1, hashes: [1, 50, 60] } }), NEW);
    await store.put(TENANT, document('many', 'b', { shingles: { step: 4, hashes: [most, 4, 8] } }), NEW);
    await store.put(TENANT, document('none', 'c', { shingles: { step: 1, hashes: [] } }), NEW);
    const asked = { step: 1, hashes: [1, most, 4] };
    deepEqual(await store.sharing(TENANT, asked, 10), [
      { documentId: 'many', shingles: { step: 4, hashes: [most, 4, 8] } },
      { documentId: 'few', shingles: { step: 1, hashes: [1, 50, 60] } },
    ]);
    deepEqual(idsOf(await store.sharing(TENANT, asked, 1)), ['many']);
    deepEqual(idsOf(await store.sharing(TENANT, asked, 10, 'many')), ['few']);
  });

  check('passages are listed in the order of ids, page by page', async (store) => {
    for (const id of ['b', 'a', 'C']) await store.put(TENANT, document(id, id, { passages: [sha256(id)] }), NEW);
    const first = await store.passages(TENANT, '', 2);
    deepEqual(first, [
      { documentId: 'C', version: 1, hashes: [sha256('C')] },
      { documentId: 'a', version: 1, hashes: [sha256('a')] },
    ]);
    deepEqual(idsOf(await store.passages(TENANT, 'a', 2)), ['b']);
    deepEqual(idsOf(await store.passagesOf(TENANT, ['b', 'unknown'])), ['b']);
  });

  check('a content as long as many words is kept whole, and found by its first ones', async (store) => {
    const words = Array.from({ length: 120_000 }, (_, at) => `word${at}`).join(' ');
    ok((await store.put(TENANT, document('long', words), NEW)).stored !== undefined);
    const [read] = await store.read(TENANT, [{ documentId: 'long', version: 1 }]);
    equal(read?.content === words, true);
    deepEqual(idsOf(await store.withWords(TENANT, 'word17', ANY, 1)), ['long']);
  });

  check(
    'DOC-01.5 a document is deleted with all its versions, for its tenant alone, and begins anew',
    async (store) => {
      for (const tenantId of [TENANT, 'other'])
        for (const content of ['one', 'two']) await store.put(tenantId, document('spec:a', content), VERSION);
      await store.put(TENANT, document('spec:b', 'one'), VERSION);
      const both = [1, 2].map((version) => ({ documentId: 'spec:a', version }));
      equal(await store.delete('acme\0', 'spec:a'), 'unknown');
      deepEqual(await store.delete(TENANT, 'spec:a'), { deleted: 2 });
      deepEqual(await store.find(TENANT, ['spec:a']), []);
      deepEqual(await store.read(TENANT, both), []);
      deepEqual(await store.passagesOf(TENANT, ['spec:a']), []);
      equal((await store.read('other', both)).length, 2);
      deepEqual(idsOf(await store.read(TENANT, [{ documentId: 'spec:b', version: 1 }])), ['spec:b']);
      equal(await store.delete(TENANT, 'spec:a'), 'unknown');
      equal((await store.put(TENANT, document('spec:a', 'three'), NEW)).stored?.version, 1);
    },
  );

  check('DOC-01.5 one version is deleted, but the newest, and its number is not given again', async (store) => {
    await store.put('other', document('spec:a', 'one'), VERSION);
    await store.put(TENANT, document('spec:b', 'one'), VERSION);
    for (const content of ['one', 'two', 'three']) await store.put(TENANT, document('spec:a', content), VERSION);
    equal(await store.delete(TENANT, 'spec:a', 3), 'newest');
    deepEqual(await store.delete(TENANT, 'spec:a', 1), { deleted: 1 });
    for (const version of [1, 4]) equal(await store.delete(TENANT, 'spec:a', version), 'unknown');
    const left = await store.read(
      TENANT,
      [1, 2, 3].map((version) => ({ documentId: 'spec:a', version })),
    );
    deepEqual(left.map(({ version }) => version).sort(), [2, 3]);
    equal((await store.put(TENANT, document('spec:a', 'four'), VERSION)).stored?.version, 4);
    deepEqual(await store.delete(TENANT, 'spec:a'), { deleted: 3 });
  });
}
