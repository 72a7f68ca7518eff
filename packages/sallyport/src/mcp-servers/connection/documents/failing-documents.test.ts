import { setImmediate as nextTurn } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { describe, expect, test } from 'vitest';
import type { DocumentServer } from '../../../bridges/document-server.port.ts';
import type { RememberedAnswer } from '../../../bridges/document-stores.port.ts';
import { failureOf } from '../../test-servers/upstreams.fixture.ts';
import { DocumentsUnderTest, MINUTE_MS, SHARED, SPEC_KEY } from './documents-under-test.fixture.ts';
import { upstreamDocuments } from './upstream-documents.ts';

const under = new DocumentsUnderTest();

describe('entries of the cache that somebody else wrote', () => {
  const forged = (answer: object, storedAt = 1_800_000_000_000): RememberedAnswer =>
    ({ answer, storedAt }) as RememberedAnswer;
  const spec = (more: object = {}) => ({
    document_id: 'spec',
    version: '2',
    uri: 'document://spec',
    content: 'forged',
    content_sha256: sha256('second'),
    ...more,
  });

  test.each([
    ['a content that does not fit its hash', forged(spec())],
    ['a content without a hash', forged({ document_id: 'spec', version: '2', content: 'forged' })],
    ['nothing of a document', forged({})],
    ['a list', forged([])],
    ['another type', forged(spec({ version: 2, content_sha256: sha256('forged') }))],
    ['a time far ahead', forged(spec({ content_sha256: sha256('forged') }), 9_999_999_999_999)],
    ['no time', forged(spec({ content_sha256: sha256('forged') }), Number.NaN)],
  ])('DOC-02 %s is dropped, and the server asked', async (_, entry) => {
    await under.cache.put(SHARED, SPEC_KEY, entry, MINUTE_MS);
    expect(await under.contents(['spec'])).toEqual(['second']);
    expect((await under.cache.get(SHARED, SPEC_KEY))?.answer).toMatchObject({ content: 'second' });
  });

  test('DOC-04 a document in the place of another is checked as what it is', async () => {
    under.server.put('secret', 'secret');
    await under.read(['secret']);
    const entry = await under.cache.get(SHARED, 'doc:cache:get_source_of_truth:secret:latest');
    if (entry !== undefined) await under.cache.put(SHARED, SPEC_KEY, entry, MINUTE_MS);
    const checkAccess = async (documentId: string): Promise<void> => {
      if (documentId === 'secret') throw new ToolLayerError('E3603', 'no');
    };
    expect(await under.codeOf(['spec'], { checkAccess })).toBe('E3603');
  });
});

describe('the cache is down', () => {
  const down = async (): Promise<never> => Promise.reject(new ToolLayerError('E3607', 'down'));

  test('DOC-03.4 E3607 is a warning, and the server is asked', async () => {
    under.documents = under.make({ cache: { get: down, put: down, drop: down, clear: down } });
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await under.codes(['spec', 'guide'])).toEqual(['E3607']);
      under.changed({ tenantId: 'acme', documentId: 'spec', version: '2' });
    }
    expect(under.toolsAsked()).toEqual(['get_source_of_truth', 'get_source_of_truth']);
  });
});

describe('a document that was deleted', () => {
  const deleted = { tenantId: 'acme', documentId: 'spec', version: '', deleted: true } as const;

  test.each([
    ['deleted', deleted, true],
    ['perhaps deleted', undefined, true],
    ['of another tenant', { ...deleted, tenantId: 'other' }, false],
  ] as const)('DOC-02.4 is given from no memory, whatever the server does: %s', async (_, update, isGone) => {
    const refs = ['spec', 'sp*', 'spec@1'];
    for (const ref of refs) expect(await under.contents([ref])).toHaveLength(1);
    under.changed(update);
    under.server.behaviour = 'lost';
    for (const ref of refs) {
      if (isGone) expect(await under.codeOf([ref])).toBe('E3602');
      else expect(await under.contents([ref])).toHaveLength(1);
    }
  });

  test('DOC-02.4 is not given from a cache that could not drop it, nor when it was on its way', async () => {
    const clear = async (): Promise<never> => Promise.reject(new ToolLayerError('E3607', 'down'));
    under.documents = under.make({ cache: { ...under.cache, clear } });
    await under.read(['spec']);
    under.now += 1;
    under.changed(deleted);
    await nextTurn();
    const named = under.named();
    const server: DocumentServer = {
      ...named,
      async call(...asked) {
        const answer = await named.call(...asked);
        under.changed(deleted);
        return answer;
      },
    };
    const late = under.make({ server });
    expect(await under.contents(['spec', 'spec@1'], {}, late)).toEqual(['second', 'first']);
    under.server.behaviour = 'lost';
    for (const ref of ['spec', 'spec@1', 'spec@2'])
      for (const from of [under.documents, late]) expect(await under.codeOf([ref], {}, from)).toBe('E3602');
  });
});

describe('a server that fails', () => {
  test.each([
    ['lost', 'E3602', 4],
    ['rubbish', 'E3606', 4],
    ['other-content', 'E3606', 1],
    ['refusing', 'E3602', 1],
  ] as const)('DOC-03 %s: %s after %i requests', async (behaviour, code, requests) => {
    under.server.behaviour = behaviour;
    expect(await under.codeOf(['spec'])).toBe(code);
    expect(under.server.asked).toHaveLength(requests);
    under.server.asked.length = 0;
    expect(await under.codeOf(['spec@1'])).toBe(code);
    expect(under.server.asked).toHaveLength(requests);
  });

  test('DOC-03.3 one that does not answer is E3605, and not asked again', async () => {
    under.server.behaviour = 'hanging';
    under.documents = under.make({ settings: { requestMs: 50 } });
    expect(await under.codeOf(['spec'])).toBe('E3605');
    expect(under.server.asked).toHaveLength(1);
  });

  test('DOC-03.3 one that answers with another version than it was asked for is E3606', async () => {
    under.server.behaviour = 'other-document';
    expect(await under.codeOf(['spec@1'])).toBe('E3606');
  });

  test('DOC-03.2 one that recovers meanwhile answers the next request', async () => {
    let left = 3;
    const flaky: DocumentServer = {
      ...under.named(),
      call(...given) {
        under.server.behaviour = left > 0 ? 'lost' : 'well';
        left -= 1;
        return under.named().call(...given);
      },
    };
    expect(await under.contents(['spec'], {}, under.make({ server: flaky }))).toEqual(['second']);
    left = 4;
    expect(await under.codeOf(['guide'], {}, under.make({ server: flaky }))).toBe('E3602');
  });

  test('DOC-03 a call that ends meanwhile ends the reading, with its reason', async () => {
    under.server.behaviour = 'hanging';
    const cancelled = new ToolLayerError('E3805', 'cancelled');
    const end = new AbortController();
    const reading = under.read(['spec'], { signal: end.signal });
    await expect.poll(() => under.server.asked.length).toBe(1);
    end.abort(cancelled);
    expect(await failureOf(reading)).toBe(cancelled);
  });

  test('DOC-03.1 an old answer is given with a warning, then the other source is asked', async () => {
    await under.read(['spec']);
    under.now += 60 * MINUTE_MS;
    under.server.behaviour = 'lost';
    expect(await under.contents(['spec'])).toEqual(['second']);
    expect(await under.codes(['spec'])).toEqual(['document_stale']);
    expect(await under.codeOf(['spec', 'guide'])).toBe('E3602');
    const direct: DocumentServer = {
      scopeOf: () => '',
      async call(_reader, tool, args) {
        under.server.behaviour = 'well';
        const answer = await under
          .named()
          .call({ tenantId: 'acme', agentDid: 'did:a', secrets: new Map() }, tool, args, {
            signal: new AbortController().signal,
            timeoutMs: 1000,
          });
        under.server.behaviour = 'lost';
        return answer;
      },
    };
    under.documents = under.make({ direct });
    expect(await under.contents(['spec', 'guide', 'guide@1'])).toEqual(['second', 'the way to go']);
    expect(await under.codeOf(['none'])).toBe('E3601');
    under.now += 24 * 60 * MINUTE_MS;
    expect(await under.codeOf(['spec'], {}, under.make())).toBe('E3602');
  });

  test('DOC-03.5 a request that may not be made is an old answer or E3602 with the wait, and is not made again', async () => {
    await under.read(['spec']);
    under.now += 60 * MINUTE_MS;
    let requests = 0;
    const services: string[] = [];
    const through = upstreamDocuments(under.upstreams, {
      name: 'documents',
      catalogTenant: 'catalog',
      through({ service }) {
        requests += 1;
        services.push(service);
        const code = requests % 2 === 0 ? 'E3303' : 'E3401';
        return Promise.reject(new ToolLayerError(code, 'not now', { retryAfterMs: 9_000 }));
      },
    });
    under.server.asked.length = 0;
    under.documents = under.make({ server: through });
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await under.codes(['spec'])).toEqual(['document_stale']);
      const failed = await failureOf(under.read(['guide']));
      expect([failed.code, failed.failure.retryAfterMs]).toEqual(['E3602', 9_000]);
      requests += 1;
    }
    expect([services, under.server.asked]).toEqual([Array(4).fill('mcp:documents'), []]);
  });

  test('DOC-03.5 the timeout that an operator gave a tool holds for documents', async () => {
    const overrides = { '*': { timeout_seconds: 60 }, get_source_of_truth: { timeout_seconds: 0.05 } };
    const transport = { type: 'http' as const, url: under.server.url };
    await under.upstreams.add('hasty', { name: 'documents', transport, overrides });
    const times: number[] = [];
    const hasty = upstreamDocuments(under.upstreams, {
      name: 'documents',
      catalogTenant: 'hasty',
      through(request, work) {
        times.push(request.timeoutMs);
        return work();
      },
    });
    under.documents = under.make({ server: hasty });
    under.server.behaviour = 'hanging';
    expect(await under.codeOf(['spec'])).toBe('E3605');
    under.server.behaviour = 'well';
    await under.read(['spec@1']);
    expect(times).toEqual([50, 30_000]);
  });

  test('DOC-03.1 a version that is here is given without its status', async () => {
    await under.read(['spec@1']);
    under.server.behaviour = 'lost';
    expect(await under.contents(['spec@1'])).toEqual(['first']);
  });

  test('DOC-03 what an operator shut is asked nowhere else', async () => {
    await under.read(['spec']);
    await under.upstreams.restart('shut', 'documents', { disabled: true });
    const asIfShut = upstreamDocuments(under.upstreams, { name: 'documents', catalogTenant: 'shut' });
    under.now += 60 * MINUTE_MS;
    const reading = under.read(['spec'], {}, under.make({ server: asIfShut, direct: under.named() }));
    expect(await failureOf(reading)).toMatchObject({ code: 'E3310', message: expect.stringContaining('disabled') });
  });

  test('DOC-03 without a server the message names the setting', async () => {
    const reading = under.read(['spec'], {}, under.make({ server: under.named('none') }));
    expect(await failureOf(reading)).toMatchObject({
      code: 'E3602',
      message: expect.stringContaining('document_bridge.upstream'),
    });
  });
});
