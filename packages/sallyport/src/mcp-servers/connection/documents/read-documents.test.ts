import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { describe, expect, test } from 'vitest';
import type { DocumentServer } from '../../../bridges/document-server.port.ts';
import type { DocumentCache } from '../../../bridges/document-stores.port.ts';
import { readDocumentRef } from '../../../domain/document/document-ref.ts';
import type { DocumentPin } from '../../../domain/document/given-document.ts';
import { memoryDocumentCache } from '../../../storage/memory/memory-document-cache.ts';
import type { Upstreams } from '../../upstreams.ts';
import { DocumentsUnderTest, MINUTE_MS, SHARED, SPEC_KEY, wanted } from './documents-under-test.fixture.ts';
import { upstreamDocuments } from './upstream-documents.ts';

const under = new DocumentsUnderTest();

describe('reading documents', () => {
  test('DOC-01.3 all that are missing come in one request for each tool', async () => {
    const asked = ['spec', 'document://guide', 'spec@1', 'doc://guide@1'];
    const { documents: found } = await under.read(asked);
    expect(found.map(({ document_id, version, content }) => [document_id, version, content])).toEqual([
      ['spec', '2', 'second'],
      ['guide', '1', 'the way to go'],
      ['spec', '1', 'first'],
    ]);
    expect(under.toolsAsked().sort()).toEqual(['get_document_version', 'get_source_of_truth']);
  });

  test('DOC-04.4 a version is the same however it is written, and is no replacement of another document', async () => {
    for (const ref of ['spec@1', 'spec/versions/1', 'document://spec/versions/1', 'doc://spec@1'])
      expect(await under.read([ref])).toMatchObject({ documents: [{ content: 'first' }], warnings: [] });
    expect(under.toolsAsked()).toEqual(['get_document_version', 'get_document_metadata']);
    for (const ref of ['spec/versions/', 'sp*/versions/1', 'spec@1/versions/1', '/versions/1'])
      expect(readDocumentRef(ref)).toBeUndefined();
    expect(readDocumentRef('spec/versions/latest')).toEqual({ ref: 'spec' });
  });

  test('DOC-01.1 a pattern and a question are answered by the server', async () => {
    const question = wanted('the way', { isQuestion: true });
    expect(await under.contents([], { wanted: [wanted('gui*'), wanted('spec'), question] })).toEqual([
      'the way to go',
      'second',
    ]);
    expect(under.server.asked).toEqual([
      { tool: 'get_source_of_truth', args: { document_refs: ['gui*', 'spec'], query: 'the way' } },
    ]);
  });

  test('DOC-01.3 an answer that was full before it held all is asked for the rest', async () => {
    under.server.answersMax = 1;
    expect(await under.contents(['spec', 'guide'])).toEqual(['second', 'the way to go']);
    expect(await under.contents(['spec@1', 'guide@1'])).toEqual(['first', 'the way to go']);
    under.server.answersMax = 0;
    under.now += 10 * MINUTE_MS;
    expect(await under.codeOf(['guide'], { wanted: [wanted('the way', { isQuestion: true })] })).toBe('E3606');
  });

  test('DOC-03 an unknown one is E3601, an unknown version E3604, and neither is remembered', async () => {
    expect(await under.codeOf(['none'])).toBe('E3601');
    expect(await under.codeOf(['none@1'])).toBe('E3601');
    expect(await under.codeOf(['spec@9'])).toBe('E3604');
    under.server.put('none', 'now there');
    expect(await under.contents(['none'])).toEqual(['now there']);
    under.server.remove('none');
  });

  test('more bytes than a call may have are E3102', async () => {
    under.documents = under.make({ settings: { callBytesMax: 6 } });
    expect(await under.contents(['spec'])).toEqual(['second']);
    expect(await under.codeOf(['spec', 'guide'])).toBe('E3102');
  });
});

describe('remembered answers', () => {
  test('DOC-02.1 the newest version is remembered for 300 s under its key, its status for 600 s', async () => {
    await under.read(['spec']);
    expect((await under.cache.get(SHARED, SPEC_KEY))?.answer).toMatchObject({ document_id: 'spec', version: '2' });
    under.now += 299_999;
    await under.read(['spec']);
    expect(under.toolsAsked()).toEqual(['get_source_of_truth']);
    under.server.put('spec', 'third');
    under.now += 1;
    expect(await under.contents(['spec'])).toEqual(['third']);
    await under.read(['spec@3']);
    expect(await under.cache.get(SHARED, 'doc:cache:get_document_metadata:spec:latest')).toBeDefined();
    under.now += 599_999;
    await under.read(['spec@3']);
    expect(under.toolsAsked().slice(2)).toEqual(['get_document_metadata']);
    under.now += 1;
    await under.read(['spec@3']);
    expect(under.toolsAsked().slice(3)).toEqual(['get_document_metadata']);
  });

  test('DOC-02.2 a version is fetched once, however old it is', async () => {
    await under.read(['spec@1']);
    under.now += 1000 * MINUTE_MS;
    expect(await under.contents(['spec@1'])).toEqual(['first']);
    expect(under.toolsAsked()).toEqual(['get_document_version', 'get_document_metadata']);
  });

  test('DOC-02.1 a cache that answers later is asked once for each document, and its answers are checked', async () => {
    const looked: string[] = [];
    const later: DocumentCache = {
      ...under.cache,
      async get(place, key) {
        looked.push(key);
        return structuredClone(await under.cache.get(place, key));
      },
    };
    under.documents = under.make({ cache: later });
    await under.read(['spec', 'guide', 'guide@1']);
    await under.read(['guide@1']);
    looked.length = 0;
    under.server.asked.length = 0;
    expect(await under.contents(['spec', 'guide', 'guide@1'])).toEqual(['second', 'the way to go']);
    expect([looked.length, under.server.asked]).toEqual([3, []]);
  });

  test('DOC-02.3 a change of one document drops it, and what was resolved to another one', async () => {
    await under.read(['spec', 'guide', 'gui*']);
    under.server.put('spec', 'third');
    under.now += 1;
    under.changed({ tenantId: 'acme', documentId: 'spec', version: '3' });
    under.now += 1;
    expect(await under.contents(['spec', 'guide', 'gui*'])).toEqual(['third', 'the way to go']);
    expect(under.server.asked.at(-1)?.args).toEqual({ document_refs: ['spec', 'gui*'] });
    under.server.asked.length = 0;
    under.changed({ tenantId: 'other', documentId: 'spec', version: '9' });
    await under.read(['spec', 'gui*']);
    expect(under.toolsAsked()).toEqual([]);
  });

  test('DOC-02.3 when changes were missed, everything is asked for again', async () => {
    await under.read(['spec']);
    under.now += 1;
    under.changed(undefined);
    await under.read(['spec']);
    expect(under.toolsAsked()).toEqual(['get_source_of_truth', 'get_source_of_truth']);
  });

  test('DOC-02.3 what was asked for before a change is not remembered after it', async () => {
    const slow: DocumentServer = {
      ...under.named(),
      async call(...given) {
        const answer = await under.named().call(...given);
        under.changed({ tenantId: 'acme', documentId: 'spec', version: '3' });
        return answer;
      },
    };
    expect(await under.contents(['spec'], {}, under.make({ server: slow }))).toEqual(['second']);
    expect(await under.cache.get(SHARED, SPEC_KEY)).toBeUndefined();
  });

  test('PRM-10 a tenant gets nothing that another one had remembered', async () => {
    await under.read(['spec', 'spec@1']);
    await under.read(['spec', 'spec@1'], { reader: { tenantId: 'other', agentDid: 'did:a', secrets: new Map() } });
    expect(under.toolsAsked()).toHaveLength(4);
  });

  test('DOC-02 where callers have connections of their own, so have their answers', () => {
    const { scopeOf } = upstreamDocuments(
      { ...under.upstreams, definition: () => ({ per_caller: true }) as ReturnType<Upstreams['definition']> },
      { name: 'documents', catalogTenant: 'catalog' },
    );
    const scopes = ['u', 'v', undefined].map((userDid) =>
      scopeOf({ tenantId: 'acme', agentDid: 'did:a', secrets: new Map(), ...(userDid && { userDid }) }),
    );
    expect(new Set([...scopes, '']).size).toBe(4);
    expect(under.named().scopeOf({ tenantId: 'acme', agentDid: 'did:a', secrets: new Map() })).toBe('');
  });
});

describe('access', () => {
  test('DOC-04.1 is checked before anything is asked for, and again for what is remembered', async () => {
    const seen: string[] = [];
    const checkAccess = async (documentId: string, mode: string): Promise<void> => {
      seen.push(`${mode} ${documentId}`);
      if (documentId === 'spec') throw new ToolLayerError('E3603', 'no');
    };
    expect(await under.codeOf(['guide', 'spec'], { checkAccess })).toBe('E3603');
    expect(under.server.asked).toEqual([]);
    await under.read(['spec']);
    under.server.asked.length = 0;
    expect(await under.codeOf(['spec'], { checkAccess })).toBe('E3603');
    expect(await under.codeOf(['spec@2'], { checkAccess })).toBe('E3603');
    expect([under.server.asked, seen]).toEqual([[], ['read guide', 'read spec', 'read spec', 'read spec']]);
  });

  test('DOC-04.1 is checked for what the server chose: an answer to a pattern, and a successor', async () => {
    under.server.put('secret', 'secret');
    under.server.put('old', 'old');
    under.server.deprecate('old', 'secret');
    const checkAccess = async (documentId: string): Promise<void> => {
      if (documentId === 'secret') throw new ToolLayerError('E3603', 'no');
    };
    for (const ref of ['sec*', 'old']) expect(await under.codeOf([ref], { checkAccess })).toBe('E3603');
    expect(await under.codes(['old'])).toEqual(['document_replaced']);
  });
});

describe('pins', () => {
  const pinsOf = async (...given: Parameters<DocumentsUnderTest['read']>): Promise<readonly DocumentPin[]> =>
    (await under.read(...given)).pins;

  test('DOC-04.2 a pinned version is read again whatever the newest one is', async () => {
    const pins = await pinsOf(['spec', 'gui*']);
    under.server.put('spec', 'third');
    under.server.put('guides', 'other ways');
    const fresh = under.make({ cache: memoryDocumentCache({ bytesMax: 1e6 }) });
    expect(await under.contents(['spec', 'gui*'], { pins }, fresh)).toEqual(['second', 'the way to go']);
    expect(await under.contents(['spec'], { pins, wanted: [wanted('spec', { isPinned: false })] }, fresh)).toEqual([
      'third',
    ]);
    under.server.remove('guides');
  });

  test('DOC-04.4 a deprecated one is a warning, one that is gone is E3604', async () => {
    const pins = await pinsOf(['spec']);
    under.server.deprecate('spec', 'guide');
    expect(await under.codes(['spec'], { pins }, under.make())).toEqual(['document_deprecated']);
    under.changed({ tenantId: 'acme', documentId: 'spec', version: '2' });
    expect(await under.codes(['spec'], { pins })).toEqual(['document_deprecated']);
    expect(await under.contents(['spec'], { pins })).toEqual(['second']);
    under.server.remove('spec', '2');
    expect(await under.codeOf(['spec'], { pins }, under.make())).toBe('E3604');
    under.server.remove('spec');
    expect(await under.codeOf(['spec'], { pins }, under.make())).toBe('E3604');
    under.changed({ tenantId: 'acme', documentId: 'spec', version: '2' });
    expect(await under.codeOf(['spec'], { pins })).toBe('E3604');
  });

  test('DOC-04.2 a server that changes the content of a version is not believed', async () => {
    const [pin] = await pinsOf(['spec']);
    if (pin === undefined) throw new Error('nothing was pinned');
    const pins = [{ ...pin, sha256: sha256('what it was') }];
    expect(await under.codeOf(['spec'], { pins })).toBe('E3604');
  });
});
