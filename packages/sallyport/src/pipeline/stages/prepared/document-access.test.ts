import { type Failure, failure } from '@sallyport/std/error/failure';
import { beforeEach, describe, expect, test } from 'vitest';
import type { WantedDocument } from '../../../domain/document/given-document.ts';
import type { MadeDecision } from '../../../permission/policy-decisions.ts';
import type { CallFact } from '../../call.ts';
import { manifest } from '../../pipeline.fixture.ts';
import {
  checkDocument,
  checkNamedDocuments,
  checkOf,
  checkWantedDocuments,
  type DocumentJudges,
  isDocumentTool,
  type JudgedCall,
  judgedResult,
} from './document-access.ts';

/** What the policies were asked, as `MODE ID`; the test says what they refuse, and how they answer. */
let asked: string[] = [];
let forbidden: string[] = [];
let policies: string[] = [];
let answer: Failure | undefined;
let noted: CallFact[] = [];
let serverAt: 'here' | 'elsewhere' | undefined = 'here';
beforeEach(() => {
  [asked, forbidden, policies, noted, answer, serverAt] = [[], [], [], [], undefined, 'here'];
});
const note = (fact: CallFact): void => void noted.push(fact);

function decide({ document }: { readonly document?: { readonly id: string; readonly mode: string } }) {
  const question = `${document?.mode} ${document?.id}`;
  asked.push(question);
  return (answer ?? { allowed: !forbidden.includes(question), policies }) as MadeDecision | Failure;
}
const judges = (later = false) =>
  ({
    policy: { decide: later ? async (question: object) => decide(question) : decide },
    clock: { now: () => 7, monotonic: () => 0 },
    documents: {
      serverAt: (tenantId: string, upstream: string) =>
        tenantId === 'acme' && upstream === 'documents' ? serverAt : undefined,
    },
  }) as unknown as DocumentJudges;

/** A call of a tool of an MCP server. */
const callOf = (tool: string, parameters = {}, upstream = 'documents') =>
  ({
    request: {},
    principal: {},
    parameters,
    tool: {
      tenantId: 'acme',
      manifest: manifest(`${upstream}__x`, { executor: { kind: 'mcp', config: { upstream, tool } } }),
    },
  }) as unknown as JudgedCall;
const refusedFact = (document_id: string, access_mode: string) => ({
  type: 'ai.agent.tool.document_refused',
  at: 7,
  data: { document_id, access_mode },
});

describe.each([false, true])('a document that a call wants, judged later: %s', (later) => {
  const check = async (asked = 'spec@1') =>
    checkDocument(judges(later), callOf('x'), { id: 'spec', mode: 'write', asked }, note);

  test('DOC-04.1 is refused with E3603 in the words of the caller, with who refuses it, and noted by its id', async () => {
    expect(await check()).toBeUndefined();
    expect([asked, noted]).toEqual([['write spec'], []]);
    forbidden = ['write spec'];
    await expect(check()).rejects.toMatchObject({
      code: 'E3603',
      failure: {
        message: 'The call may not write the document "spec@1": no policy permits it.',
        details: { document_id: 'spec@1', access_mode: 'write', policies: [] },
      },
    });
    policies = ['a', 'b'];
    await expect(check('')).rejects.toMatchObject({
      message: 'The call may not write a document without an id, which its server would make: forbidden by a, b.',
      failure: { details: { policies: ['a', 'b'] } },
    });
    expect(noted).toEqual([refusedFact('spec', 'write'), refusedFact('spec', 'write')]);
  });

  test('DOC-04.1 is not had when the policies give no answer', async () => {
    answer = failure('E3206', 'No answer.');
    await expect(check()).rejects.toMatchObject({ code: 'E3206' });
  });
});

test('DOC-04.1 what a pattern or a question finds is not judged before it is known', async () => {
  const want = (ref: string, isQuestion = false): WantedDocument => ({ ref, isQuestion, mode: 'read', isPinned: true });
  const wanted = [want('a'), want('s*'), want('what?', true), want('b')];
  await checkWantedDocuments(judges(), callOf('x'), wanted, note);
  expect(asked).toEqual(['read a', 'read b']);
  forbidden = ['read b'];
  await expect(checkWantedDocuments(judges(), callOf('x'), wanted, note)).rejects.toMatchObject({
    failure: { details: { document_id: 'b' } },
  });
});

describe("the document server's own tools", () => {
  test.each([
    ['here', true],
    ['elsewhere', true],
    [undefined, false],
  ] as const)('DOC-04.5 are those of a server that is %s: %s', (at, is) => {
    serverAt = at;
    expect(isDocumentTool(judges(), callOf('search_documents'))).toBe(is);
    expect(checkOf(judges(), callOf('search_documents'), note) !== undefined).toBe(is);
  });

  test('DOC-04.5 are no others: of another server, name or kind', async () => {
    const native = { ...callOf('x'), tool: { tenantId: 'acme', manifest: manifest('search_documents') } } as JudgedCall;
    const theirs = { ...callOf('delete_document'), tool: { ...callOf('delete_document').tool, tenantId: 'globex' } };
    const others: [DocumentJudges, JudgedCall][] = [
      [judges(), callOf('delete_document', { document_id: 'a' }, 'git')],
      [judges(), callOf('toString', { document_id: 'a' })],
      [judges(), native],
      [judges(), theirs as JudgedCall],
    ];
    const result = { structuredContent: { documents: [{ document_id: 'a' }] } };
    forbidden = ['read a'];
    for (const [parts, call] of others) {
      expect([isDocumentTool(parts, call), checkOf(parts, call, note)]).toEqual([false, undefined]);
      await checkNamedDocuments(parts, call, note);
      expect(await judgedResult(parts, call, result, note)).toBe(result);
    }
    expect([asked, noted]).toEqual([[], []]);
  });

  test('DOC-04.5 DOC-04.6 are judged by each document that their arguments name, a deletion as a change too', async () => {
    await checkNamedDocuments(judges(), callOf('get_document_version', { document_id: 'a' }), note);
    await checkNamedDocuments(judges(), callOf('deprecate_document', { document_id: 'b', successor_id: 'c' }), note);
    await checkNamedDocuments(judges(), callOf('delete_document', { document_id: 'd' }), note);
    expect(asked).toEqual(['read a', 'write b', 'write c', 'write d', 'delete d']);
    for (const refused of ['write d', 'delete d']) {
      forbidden = [refused];
      await expect(
        checkNamedDocuments(judges(), callOf('delete_document', { document_id: 'd' }), note),
      ).rejects.toMatchObject({ code: 'E3603' });
    }
    expect(noted).toEqual([refusedFact('d', 'write'), refusedFact('d', 'delete')]);
  });

  test.each([
    ['ingest_document', {}, 'elsewhere', ['write ']],
    ['ingest_document', {}, 'here', []],
    ['ingest_document', { document_id: 'a' }, 'elsewhere', ['write a']],
    ['search_documents', { query: 'x' }, 'elsewhere', []],
    ['deprecate_document', {}, 'elsewhere', []],
  ] as const)('DOC-04.5 %s with %j on a server %s is judged by %j', async (tool, args, at, expected) => {
    serverAt = at;
    await checkNamedDocuments(judges(), callOf(tool, args), note);
    expect(asked).toEqual(expected);
  });

  test('DOC-04.5 have their server ask for a document that nobody named', async () => {
    forbidden = ['write made'];
    const check = checkOf(judges(), callOf('ingest_document'), note);
    await expect(check?.('made', 'write')).rejects.toMatchObject({ failure: { details: { document_id: 'made' } } });
    expect(await check?.('other', 'write')).toBeUndefined();
  });

  test('DOC-04.5 answer without what the policies keep from the caller', async () => {
    const documents = [{ document_id: 'a' }, { document_id: 'b' }];
    const result = { structuredContent: { documents } };
    const judged = (tool: string, given: unknown = result) => judgedResult(judges(), callOf(tool), given, note);
    expect(await judged('search_documents')).toBe(result);
    forbidden = ['read b'];
    expect(await judged('search_documents')).toMatchObject({
      structuredContent: { documents: [{ document_id: 'a' }] },
    });
    expect(noted).toEqual([refusedFact('b', 'read')]);
    // What was written, or named as a resource, was judged before.
    for (const tool of ['ingest_document', 'resources/read']) expect(await judged(tool)).toBe(result);
    answer = failure('E3206', 'No answer.');
    await expect(judged('search_documents')).rejects.toMatchObject({ code: 'E3206' });
  });

  test('DOC-04.6 a deletion is noted, with the version when it is of one alone', async () => {
    for (const version of [undefined, '2'])
      await judgedResult(judges(), callOf('delete_document', { document_id: 'a', version }), 'done', note);
    const fact = (more: object) => ({
      type: 'ai.agent.tool.document_deleted',
      at: 7,
      data: { document_id: 'a', ...more },
    });
    expect(noted).toStrictEqual([fact({}), fact({ document_version: '2' })]);
    await judgedResult(judges(), callOf('search_documents'), { structuredContent: {} }, note);
    expect(noted).toHaveLength(2);
  });
});
