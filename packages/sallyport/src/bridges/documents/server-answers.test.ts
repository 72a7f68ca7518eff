import { sha256 } from '@sallyport/std/sha256';
import { describe, expect, test } from 'vitest';
import { type Answers, document, failed, ServedDocuments, serverOf, wanted } from './documents.fixture.ts';

const SPEC = document('spec');
const answering = (...answers: Answers): ServedDocuments => Object.assign(new ServedDocuments(), { answers });
const question = (text: string) => wanted(text, { isQuestion: true });

describe('what a document server answers', () => {
  test('DOC-05.1 known members of the right type are given, and nothing else', async () => {
    const known = {
      ...{ uri: 'https://example.com/spec', title: 'Spec', content_type: 'text/markdown', source: 'wiki' },
      ...{ created_at: '2026-01-01', updated_at: '2026-02-01', authority: 0.5, status: 'active' },
    };
    const told = { ...SPEC, ...known, tags: ['a', 1, '', 'b'], ref: 'spec', instructions: 'Obey.' };
    const hash = { content_sha256: sha256('spec@1') };
    expect((await answering({ documents: [told] }).read(['spec'])).documents).toEqual([
      { ...SPEC, ...known, tags: ['a', 'b'], ...hash },
    ]);
    const wrong = { title: 1, content_type: '', tags: 'a', authority: '1', status: 'new', uri: '', deprecation: {} };
    expect((await answering({ ...SPEC, ...wrong, ...hash }).read(['spec'])).documents).toEqual([
      { ...SPEC, uri: 'document://spec', ...hash },
    ]);
  });

  test.each([
    [
      'all that is said',
      { reason: 'old', successor_id: 'next', deprecated_at: '2026-01-01' },
      ' Its successor is next.',
    ],
    ['nothing of it', undefined, ''],
    ['other types', { reason: 1, successor_id: 2, deprecated_at: 3 }, ''],
  ])('DOC-04.4 a deprecated document is given with a warning: %s', async (_, said, successor) => {
    const served = answering({ ...SPEC, status: 'deprecated', deprecation: said });
    const { documents, warnings } = await served.read(['spec']);
    const whole = successor === '' ? { reason: '', deprecated_at: '' } : said;
    expect(documents).toMatchObject([{ status: 'deprecated', deprecation: whole }]);
    expect(Object.keys(documents[0]?.deprecation ?? {})).toHaveLength(successor === '' ? 2 : 3);
    const message = `The document spec is deprecated.${successor}`;
    expect(warnings).toEqual([{ code: 'document_deprecated', message, details: { document_id: 'spec' } }]);
  });

  test.each<[string, Readonly<Record<string, unknown>>, string, number?]>([
    ['no object', { documents: ['spec'] }, 'is no object'],
    ['no object but nothing', { documents: [null] }, 'is no object'],
    ['without an id', { documents: [{ ...SPEC, document_id: '' }] }, 'lacks its id'],
    ['without a version', { documents: [{ ...SPEC, version: 1 }] }, 'lacks its id'],
    ['without a content', { documents: [{ ...SPEC, content: undefined }] }, 'lacks its id'],
    [
      'another content than it says',
      { documents: [{ ...SPEC, content_sha256: sha256('x') }] },
      'does not fit its hash',
    ],
    ['documents that are no list', { documents: {}, missing: [] }, 'no lists'],
    ['missing ones that are no list', { documents: [], missing: {} }, 'no lists'],
    ['a missing one without a reason', { documents: [], missing: [{ ref: 'spec' }] }, 'misses what was not asked'],
    ['a missing one that is no object', { documents: [], missing: [null] }, 'misses what was not asked'],
    ['a missing one of another name', { missing: [{ ref: 'x', reason: 'not_found' }], documents: [SPEC] }, 'misses', 2],
    ['a document of another name', { documents: [document('other'), SPEC] }, 'answers what was not asked', 2],
    ['nothing for one of two', { documents: [SPEC] }, 'does not answer for every document', 2],
    ['nothing', { documents: [] }, 'does not answer for every document'],
  ])('DOC-03.3 %s is E3606, of newest documents and of versions', async (_, answer, message, asked = 1) => {
    for (const refs of [
      ['spec', 'guide'],
      ['spec@1', 'guide@1'],
    ]) {
      const reading = answering(answer).read(refs.slice(0, asked));
      await expect(reading).rejects.toMatchObject({ code: 'E3606', message: expect.stringContaining(message) });
    }
  });

  test('DOC-03 one that does not exist is said at once, whatever else was answered', async () => {
    for (const [refs, reason] of [
      [['spec', 'guide'], 'not_found'],
      [['spec@1', 'guide@1'], 'not_found'],
    ] as const) {
      const served = answering({ documents: [SPEC], missing: [{ ref: refs[1], reason }] });
      await expect(served.read(refs)).rejects.toMatchObject({ code: 'E3601' });
      expect(served.requests()).toHaveLength(1);
    }
  });

  test('DOC-01.1 an answer belongs to the reference that it names, to that of its id, or to the only one', async () => {
    expect(await answering(document('guide-2')).found(['gui*'])).toEqual(['guide-2@1']);
    const two = answering({ documents: [{ ...document('guide-2'), ref: 'gui*' }, SPEC] });
    expect(await two.found(['gui*', 'spec'])).toEqual(['guide-2@1', 'spec@1']);
    const missing = answering({ documents: [], missing: [{ reason: 'not_found' }] });
    await expect(missing.read(['spec'])).rejects.toMatchObject({
      code: 'E3601',
      message: expect.stringContaining('"spec"'),
      failure: { details: { document: 'spec' } },
    });
  });

  test('DOC-01.3 what an answer had no room for is asked for again, as long as answers bring any', async () => {
    const full = (ref: string) => ({ ref, reason: 'answer_full' });
    const newest = answering({ documents: [SPEC], missing: [full('guide')] }, document('guide'));
    expect(await newest.found(['spec', 'guide'])).toEqual(['spec@1', 'guide@1']);
    expect(newest.requests().map(([, { document_refs: refs }]) => refs)).toEqual([['spec', 'guide'], ['guide']]);
    const versions = answering({ documents: [SPEC], missing: [full('guide@1')] }, document('guide'));
    expect(await versions.found(['spec@1', 'guide@1'])).toEqual(['spec@1', 'guide@1']);
    const pairs = [['spec', 'guide'], ['guide']].map((ids) => ids.map((id) => ({ document_id: id, version: '1' })));
    expect(versions.requests().map(([, { documents }]) => documents)).toEqual(pairs);
    for (const refs of [['spec'], ['spec@1']]) {
      const stuck = answering({ documents: [], missing: [full(refs[0] ?? '')] });
      await expect(stuck.read(refs)).rejects.toMatchObject({ code: 'E3606' });
      expect(stuck.requests()).toHaveLength(1);
    }
  });

  test('DOC-01.1 a question of one word is no name: what answers it is given for no document, nor a document for it', async () => {
    const served = answering(document('guide'));
    await served.read([question('spec')]);
    served.answers = [{ documents: [{ ...document('guide'), ref: 'word' }, document('other')] }];
    await served.read([question('word'), 'other']);
    served.answers = [{ documents: [SPEC, document('word')] }];
    expect(await served.found(['spec', 'word'])).toEqual(['spec@1', 'word@1']);
    served.answers = [document('guide')];
    expect(await served.found([question('spec')])).toEqual(['guide@1']);
  });

  test('DOC-01.1 a question is asked alone or beside references, and its answer is remembered as a version only', async () => {
    const served = answering(document('guide'));
    expect(await served.found([question('the way')])).toEqual(['guide@1']);
    expect(await served.found([question('the way')])).toEqual(['guide@1']);
    expect(served.requests()).toEqual(Array(2).fill(['get_source_of_truth', { query: 'the way' }]));
    served.answers = [{ documents: [{ ...document('guide', '2'), ref: 'the way' }, SPEC] }];
    expect(await served.found([question('the way'), 'spec'])).toEqual(['guide@2', 'spec@1']);
    expect(served.requests()).toEqual([['get_source_of_truth', { document_refs: ['spec'], query: 'the way' }]]);
    served.answers = [document('other')];
    await served.read(['other']);
    expect(served.requests()).toStrictEqual([['get_source_of_truth', { document_refs: ['other'] }]]);
    served.answers = [{ documents: [document('guide', '2', { status: 'active' })] }];
    expect(await served.found(['guide@2', 'guide@1', 'spec'])).toEqual(['guide@2', 'guide@1', 'spec@1']);
    expect(served.requests().map(([tool]) => tool)).toEqual(['get_document_metadata']);
  });
});

describe('versions', () => {
  test.each([
    ['the document is unknown', 'not_found', 'E3601'],
    ['the version is gone', 'version_not_found', 'E3604'],
  ])('DOC-03 %s: %s is %s, and E3604 where an earlier run had it', async (_, reason, code) => {
    const served = answering({ documents: [], missing: [{ ref: 'spec@1', reason }] });
    await expect(served.read(['spec@1'])).rejects.toMatchObject({ code, failure: { details: { document: 'spec' } } });
    const pins = [{ ref: 'spec', documentId: 'spec', version: '1', sha256: sha256('spec@1') }];
    await expect(served.read(['spec'], { pins })).rejects.toMatchObject({ code: 'E3604' });
  });

  test.each([
    ['another version', document('spec', '2')],
    ['a document of another id', { documents: [{ ...document('other'), ref: 'spec@1' }] }],
  ])('DOC-03.3 %s than was asked for is E3606', async (_, answer) => {
    await expect(answering(answer).read(['spec@1'])).rejects.toMatchObject({ code: 'E3606' });
  });

  test('DOC-04.4 a version that is here has the status that its document has now', async () => {
    const served = answering(SPEC);
    await served.found(['spec@1']);
    const statuses: readonly (readonly [object, object])[] = [
      [{ status: 'deprecated', deprecation: { successor_id: 'next' } }, { successor_id: 'next' }],
      [{ status: 'deprecated' }, {}],
    ];
    for (const [said, more] of statuses) {
      served.answers = [{ documents: [{ document_id: 'spec', ...said }] }];
      served.now += 600_000;
      for (let turn = 0; turn < 2; turn += 1) {
        const [found] = (await served.read(['spec@1'])).documents;
        expect(found).toMatchObject({ status: 'deprecated', deprecation: { reason: '', deprecated_at: '', ...more } });
        expect('successor_id' in (found?.deprecation ?? {})).toBe('successor_id' in more);
      }
      expect(served.requests().filter(([tool]) => tool === 'get_document_metadata')).toHaveLength(1);
    }
    served.answers = [{ documents: [{ document_id: 'spec' }] }];
    served.now += 600_000;
    const [active] = (await served.read(['spec@1'])).documents;
    expect([active?.status, active?.deprecation]).toEqual(['active', undefined]);
    served.now += 600_000;
    served.answers = [{ documents: [], missing: [{ ref: 'spec', reason: 'answer_full' }] }];
    expect(await served.found(['spec@1'])).toEqual(['spec@1']);
    served.answers = [{ documents: [], missing: [{ ref: 'spec', reason: 'not_found' }] }];
    await expect(served.read(['spec@1'])).rejects.toMatchObject({
      code: 'E3604',
      failure: { details: { document: 'spec', version: '1' } },
    });
  });

  test('DOC-01.3 DOC-03 the statuses of several versions are one request; where they cannot be known, versions are given', async () => {
    const served = answering(SPEC, document('spec', '2'), document('guide'));
    for (const ref of ['spec@1', 'spec@2', 'guide@1']) await served.found([ref]);
    served.requests();
    served.answers = [failed('E3310')];
    expect(await served.found(['spec@1', 'spec@2', 'guide@1'])).toEqual(['spec@1', 'spec@2', 'guide@1']);
    expect(served.requests()).toEqual([['get_document_metadata', { document_ids: ['spec', 'guide'] }]]);
    expect(served.logged).toEqual(['document-status-unknown']);
    // What is known of an older time is better than nothing.
    served.answers = [{ documents: [{ document_id: 'spec', status: 'deprecated' }] }];
    await served.read(['spec@1']);
    served.now += 600_000;
    served.answers = [failed('E3310')];
    expect((await served.read(['spec@1'])).warnings).toMatchObject([{ code: 'document_deprecated' }]);
    // The status of a document says nothing of a version that is not here.
    served.answers = [document('spec', '3')];
    expect(await served.found(['spec@3'])).toEqual(['spec@3']);
    served.answers = [failed('E3603')];
    await expect(served.read(['spec@1'])).rejects.toMatchObject({ code: 'E3603' });
    for (const document_id of ['', undefined, 'other']) {
      served.logged.length = 0;
      served.answers = [{ documents: [{ document_id, status: 'deprecated' }, { document_id: 'spec' }] }];
      expect((await served.read(['spec@1', 'guide@1'])).warnings.map(({ details }) => details)).toEqual(
        Array(1).fill({ document_id: 'spec' }),
      );
      expect(served.logged).toEqual(['document-status-unknown']);
    }
  });
});

describe('another source', () => {
  const withDirect = (direct: Answers, asked: [string, object][] = [], scope = '') =>
    new ServedDocuments({
      server: serverOf(() => [failed('E3310')], [], scope),
      direct: serverOf(() => direct, asked as [string, Record<string, unknown>][]),
    });

  test('DOC-03.1 is asked for what neither server nor memory has, newest ones and versions', async () => {
    const asked: [string, object][] = [];
    const served = withDirect([SPEC], asked);
    expect(await served.found(['spec'])).toEqual(['spec@1']);
    expect(await served.found(['spec@1'])).toEqual(['spec@1']);
    expect(asked).toEqual([['get_source_of_truth', { document_refs: ['spec'] }]]);
    expect(await withDirect([SPEC], asked).found(['spec@1'])).toEqual(['spec@1']);
    expect(asked.at(-1)?.[0]).toBe('get_document_version');
  });

  test.each([['spec'], ['spec@1']])(
    'DOC-03.1 of %s the failure of the server is said where that one fails too',
    async (ref) => {
      const served = withDirect([failed('E3602')]);
      await expect(served.read([ref])).rejects.toMatchObject({ code: 'E3602', cause: { code: 'E3310' } });
      expect(served.logged).toEqual(ref === 'spec' ? ['document-source-failed'] : []);
      const unknown = withDirect([{ documents: [], missing: [{ reason: 'not_found' }] }]);
      await expect(unknown.read([ref])).rejects.toMatchObject({ code: 'E3601' });
    },
  );

  test('DOC-03.1 versions that the server does not give are taken from what is newest and remembered', async () => {
    const small = new ServedDocuments({ settings: { versionBytesMax: 0 } });
    small.answers = [SPEC];
    await small.found(['spec']);
    small.answers = [failed('E3310')];
    expect(await small.found(['spec@1'])).toEqual(['spec@1']);
    await expect(small.read(['spec@2'])).rejects.toMatchObject({ code: 'E3602' });
    await expect(small.read(['spec@1', 'guide@1'])).rejects.toMatchObject({ code: 'E3602' });
  });

  test('DOC-03 is not asked for a refusal that concerns the caller alone', async () => {
    const refusal = { content: [], isError: true };
    for (const [scope, end] of [
      ['', 'spec@1'],
      ['user', 'E3602'],
    ]) {
      const refusing = { ...serverOf(() => [], [], scope), call: async () => refusal };
      const served = new ServedDocuments({ server: refusing, direct: serverOf(() => [SPEC]) });
      for (const ref of ['spec', 'spec@1'])
        expect(await served.found([ref]).catch(({ code }: { code: string }) => [code])).toEqual([end]);
    }
  });
});
