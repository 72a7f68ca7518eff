import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { startDocumentHttpServer } from '../../../packages/sallyport/src/mcp-servers/test-servers/document-http-server.ts';
import {
  embeddedDatabases,
  run,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type OpenLayer, openLayer } from '../layer.fixture.ts';

/** Answers with the documents that it was given. */
const READ: ToolManifest = {
  tool_id: 'read',
  tool_name: 'Read',
  version: '1.0.0',
  description: 'Reads documents.',
  side_effect_policy: 'pure',
  parameters_schema: { type: 'object', additionalProperties: false },
  executor: { kind: 'native' },
};
const SEARCH = 'documents__search_documents';

let databases: TestDatabases;
let url: string;
const opened: AsyncDisposable[] = [];

beforeAll(async () => {
  databases = await embeddedDatabases(true);
  const connection = await databases.fresh();
  url = 'url' in connection ? connection.url : '';
});
afterAll(() => databases.close());
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

/** An instance over the one database. */
async function instance(embedded: 'on' | 'off' = 'on'): Promise<OpenLayer> {
  const open = await openLayer({
    'database.url': url,
    'documents.embedded': embedded,
    'context.embedded': 'off',
    'search.embedder': 'none',
  });
  opened.push(open);
  return open;
}

const call = ({ layer, token }: OpenLayer, tool_id: string, parameters: object, more: object = {}) =>
  layer.invoke({ tool_id, parameters: { ...parameters }, ...more }, { token });
const search = (open: OpenLayer) => call(open, SEARCH, { query: 'anything' });
const waiting = async ({ layer }: OpenLayer) =>
  (await layer.ask('upstreams.quarantine', {}, LOCAL_CALLER)).quarantined.map(({ tool_id }) => tool_id);

/** Makes what is on record of a tool that of an earlier release, whose description was another one. */
async function asOfAnEarlierRelease(): Promise<void> {
  await run({ url }, `update sallyport.upstream_tools set accepted_hash = 'of before' where tool_id = '${SEARCH}'`);
  const description = `jsonb_set(manifest::jsonb, '{description}', '"As it was before."')::json`;
  await run({ url }, `update sallyport.tool_versions set manifest = ${description} where tool_id = '${SEARCH}'`);
}

test('DOC-02.3 a document that one instance ingests or deprecates is not answered stale by the other', async () => {
  const [one, two] = [await instance(), await instance()];
  for (const { layer } of [one, two])
    await layer.registerFunction(READ, (_, { documents }) => documents.map(({ content }) => content));
  const read = async (open: OpenLayer) => {
    const { result, warnings } = await call(open, 'read', {}, { document_context: { document_refs: ['guide'] } });
    return { result, deprecated: JSON.stringify(warnings ?? []).includes('deprecated') };
  };
  const ingest = (open: OpenLayer, content: string) =>
    call(open, 'documents__ingest_document', { document_id: 'guide', content });
  await ingest(one, 'First.');
  // Both remember the answer for minutes.
  for (const each of [one, two]) expect(await read(each)).toEqual({ result: ['First.'], deprecated: false });
  for (const [writer, reader, content] of [
    [one, two, 'Second.'],
    [two, one, 'Third.'],
  ] as const) {
    expect(await ingest(writer, content)).toMatchObject({ status: 'success' });
    expect(await read(writer)).toEqual({ result: [content], deprecated: false });
    await expect.poll(() => read(reader)).toEqual({ result: [content], deprecated: false });
  }
  const deprecation = { document_id: 'guide', reason: 'There is a better one.' };
  expect(await call(one, 'documents__deprecate_document', deprecation)).toMatchObject({ status: 'success' });
  await expect.poll(() => read(two)).toEqual({ result: ['Third.'], deprecated: true });
});

test('DOC-02.4 DOC-04.4 a deleted document is nowhere but at the calls that run; who continues later gets E3604', async () => {
  const [one, two] = [await instance(), await instance()];
  const running = Promise.withResolvers<void>();
  const deleted = Promise.withResolvers<void>();
  await two.layer.registerFunction(READ, (_, { documents }) => documents.map(({ content }) => content));
  await two.layer.registerFunction({ ...READ, tool_id: 'work' }, async (_, { checkpoints, documents }) => {
    await checkpoints.save({ step: 1 }, { name: 'before' });
    running.resolve();
    await deleted.promise;
    return documents.map(({ content }) => content);
  });
  const given = (ref: string) => ({ document_context: { document_refs: [ref] } });
  const read = async (ref: string) => {
    const { result, error } = await call(two, 'read', {}, given(ref));
    return error?.e_code ?? result;
  };
  for (const content of ['First.', 'Second.'])
    await call(one, 'documents__ingest_document', { document_id: 'leaked', content });
  for (const [ref, content] of [
    ['leaked', 'Second.'],
    ['leak*', 'Second.'],
    ['leaked@1', 'First.'],
  ] as const)
    expect(await read(ref)).toEqual([content]);
  const work = call(two, 'work', {}, given('leaked@1'));
  await running.promise;
  const waiting = await call(one, 'documents__delete_document', { document_id: 'leaked' });
  await one.layer.ask('approvals.approve', { approval_id: waiting.approval?.approval_id ?? '' }, LOCAL_CALLER);
  for (const [ref, code] of [
    ['leaked', 'E3601'],
    ['leak*', 'E3601'],
    ['leaked@1', 'E3601'],
  ] as const)
    await expect.poll(() => read(ref)).toBe(code);
  deleted.resolve();
  const { result, execution_metadata: metadata } = await work;
  expect(result).toEqual(['First.']);
  // The same content under the same id is not what the work had pinned, unless it is the same version.
  await call(one, 'documents__ingest_document', { document_id: 'leaked', content: 'Anew.' });
  const resume_from_checkpoint_id = metadata?.checkpoints_created?.[0]?.checkpoint_id ?? '';
  const resumed = await call(
    two,
    'work',
    {},
    { ...given('leaked@1'), checkpoint_config: { resume_from_checkpoint_id } },
  );
  expect(resumed).toMatchObject({ error: { e_code: 'E3604' } });
});

test('REG-09 a tool of a reference server that a release changed is a new version at once, and never in quarantine', async () => {
  await asOfAnEarlierRelease();
  const later = await instance();
  expect(await search(later)).toMatchObject({ status: 'success' });
  const newest = () => later.layer.ask('tools.get', { tool_id: SEARCH }, LOCAL_CALLER);
  await expect.poll(async () => (await newest()).manifest.version).not.toBe('1.0.0');
  expect((await newest()).manifest.description).not.toBe('As it was before.');
  expect(await search(later)).toMatchObject({ status: 'success' });
  expect(await waiting(later)).toEqual([]);
});

test('REG-09.6 a server elsewhere that has the name of a reference server goes into quarantine when it changes', async () => {
  await using elsewhere = await startDocumentHttpServer();
  const first = await instance('off');
  const transport = { type: 'http' as const, url: elsewhere.url };
  await first.layer.ask('upstreams.remove', { name: 'documents' }, LOCAL_CALLER);
  await first.layer.ask('upstreams.add', { upstream: { name: 'documents', transport } }, LOCAL_CALLER);
  expect(await search(first)).toMatchObject({ status: 'success' });
  await asOfAnEarlierRelease();
  const later = await instance('off');
  expect(await search(later)).toMatchObject({ error: { e_code: 'E3813' } });
  await expect.poll(() => waiting(later)).toEqual([SEARCH]);
});
