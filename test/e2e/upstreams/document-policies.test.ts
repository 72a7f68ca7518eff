import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { AGENT, type Desk, openDesk } from '../calls/desk.fixture.ts';
import { connect } from './offers/offers.fixture.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Bob may not have secrets, and of what he may have he writes nothing about the north. What begins with "mine" he may delete,
 * and nobody else anything.
 */
const POLICY = `
@id("deleted-by-owners")
forbid (principal, action, resource)
when { context has document && context has documentMode && context.documentMode == "delete" && !(context.document like "mine*"
  && principal has user && principal.user == "did:user:bob") };
@id("not-for-bob")
forbid (principal, action, resource)
when { context has document && context.document like "secret*" && principal has user && principal.user == "did:user:bob" };
@id("not-by-bob")
forbid (principal, action, resource)
when { context has document && context has documentMode && context.document like "*north*" && context.documentMode == "write"
  && principal has user && principal.user == "did:user:bob" };
`;

const opened = new AsyncDisposableStack();
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'secrets-')));
let desk: Desk;
let agent: string;
let bob: string;

beforeAll(async () => {
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const settings = {
    'documents.embedded': 'on',
    'documents.folders': [folder],
    'search.embedder': 'none',
    // The own server is no less the own server where tools get their documents elsewhere.
    'document_bridge.upstream': 'library',
  } as const;
  desk = opened.use(await openDesk({ policy: POLICY, settings }));
  agent = await desk.token(AGENT);
  bob = await desk.token({ ...AGENT, user_did: 'did:user:bob' });
  for (const [document_id, content] of [
    ['secret', 'The hidden walrus sleeps in the cellar of the northern house.'],
    ['open', 'A walrus in plain sight swims along the northern coast of the sea.'],
  ] as const)
    expect(await tool('ingest_document', { document_id, content }, agent)).toMatchObject({ status: 'success' });
});
afterAll(() => opened.disposeAsync());

const invoke = async (tool_id: string, parameters: object, bearer: string): Promise<Json> =>
  (await desk.rest('POST', '/v1/invocations', bearer, { tool_id, parameters })).body;
const tool = (name: string, parameters: object, bearer: string) => invoke(`documents__${name}`, parameters, bearer);
const found = async (name: string, parameters: object, bearer: string): Promise<string> =>
  JSON.stringify((await tool(name, parameters, bearer))['result']);
const eCode = ({ error }: Json): unknown => (error as Json | undefined)?.['e_code'];
const refusals = async (): Promise<readonly unknown[]> => {
  const { events } = await desk.layer.ask('audit.query', { type: 'ai.agent.tool.document_refused' }, LOCAL_CALLER);
  return events.map(({ data }) => (data as Json)['document_id']);
};
const idsOf = async (): Promise<readonly string[]> => {
  const answer = await tool('search_documents', { query: 'walrus', limit: 50 }, agent);
  const { structuredContent } = answer['result'] as {
    readonly structuredContent: { readonly results: readonly { readonly document: Json }[] };
  };
  return structuredContent.results.map(({ document }) => String(document['document_id'])).sort();
};

test('DOC-04.5 the policies judge what its own tools and resources are asked for, and what they find', async () => {
  const named: readonly (readonly [string, object])[] = [
    ['get_document_version', { document_id: 'secret', version: '1' }],
    [
      'get_document_version',
      {
        documents: [
          { document_id: 'open', version: '1' },
          { document_id: 'secret', version: '1' },
        ],
      },
    ],
    ['get_document_metadata', { document_ids: ['open', 'secret'] }],
    ['get_source_of_truth', { document_refs: ['document://secret/versions/1'] }],
    ['get_source_of_truth', { document_refs: ['document://%73ecret'] }],
    ['find_overlaps', { document_id: 'secret' }],
    ['ingest_document', { document_id: 'secret', content: 'of bob' }],
    ['deprecate_document', { document_id: 'secret', reason: 'of bob' }],
    ['deprecate_document', { document_id: 'open', reason: 'of bob', successor_id: 'secret' }],
    ['resources-read', { uri: 'document://%73ecret/versions/1' }],
  ];
  for (const [name, parameters] of named) {
    const refused = await tool(name, parameters, bob);
    expect([name, refused['status'], eCode(refused)]).toEqual([name, 'permission_denied', 'E3603']);
    expect(JSON.stringify(refused)).not.toContain('hidden walrus');
  }
  const finding: readonly (readonly [string, object])[] = [
    ['search_documents', { query: 'walrus' }],
    ['get_source_of_truth', { document_refs: ['secr*'] }],
    ['get_source_of_truth', { query: 'secret' }],
    ['get_source_of_truth', { query: 'the hidden walrus in the cellar' }],
    ['find_overlaps', { content: 'The hidden walrus sleeps in the cellar of the northern house.' }],
  ];
  for (const [name, parameters] of finding) {
    expect([name, await found(name, parameters, agent)]).toEqual([name, expect.stringContaining('"secret"')]);
    const left = await found(name, parameters, bob);
    expect([name, left]).toEqual([name, expect.stringMatching(/"(?:documents|results|overlaps)/)]);
    expect(left).not.toMatch(/hidden walrus sleeps|"document_id\\*":\\*"secret/);
  }
  expect(await found('search_documents', { query: 'walrus' }, bob)).toContain('"open"');
  expect(await found('get_source_of_truth', { document_refs: ['secr*'] }, bob)).toContain('not_found');
  const refused = await refusals();
  expect(refused.length).toBeGreaterThanOrEqual(named.length + finding.length);
  expect(new Set(refused)).toEqual(new Set(['secret']));
});

test('DOC-04.5 a document without an id is judged by the one that it gets, before it is stored', async () => {
  mkdirSync(join(folder, 'papers'));
  writeFileSync(join(folder, 'papers', 'secret walrus.txt'), 'The walrus of the file.');
  writeFileSync(join(folder, 'papers', 'open walrus.txt'), 'The walrus of the other file.');
  const before = await idsOf();
  const made: readonly (readonly [object, string])[] = [
    [{ content: 'The walrus.', title: 'Secret walrus' }, 'secret-walrus'],
    [{ content: '# Secret: the walrus' }, 'secret-the-walrus'],
    [{ content: '<title>Secrets of a walrus</title><p>It sleeps.', content_type: 'text/html' }, 'secrets-of-a-walrus'],
    [{ path: join(folder, 'papers', 'secret walrus.txt') }, 'secret-walrus'],
    // Of a document that is there he learns nothing either.
    [{ content: 'The walrus.', title: 'Secret' }, 'secret'],
    [{ content: '# Walruses of the north' }, 'walruses-of-the-north'],
  ];
  for (const [parameters, id] of made) {
    const refused = await tool('ingest_document', parameters, bob);
    expect([refused['status'], eCode(refused)]).toEqual(['permission_denied', 'E3603']);
    expect((await refusals()).includes(id)).toBe(true);
  }
  expect(await idsOf()).toEqual(before);
  for (const parameters of [
    { content: '# Open walrus' },
    { path: join(folder, 'papers', 'open walrus.txt'), title: 'Other' },
  ])
    expect(await tool('ingest_document', parameters, bob)).toMatchObject({ status: 'success' });
  expect(await tool('ingest_document', { content: '# Secret walrus' }, agent)).toMatchObject({ status: 'success' });
});

test('DOC-04.5 the own server under another name is the own server', async () => {
  const transport = { type: 'embedded', server: 'documents' } as const;
  await desk.layer.ask('upstreams.add', { upstream: { name: 'mirror', transport } }, LOCAL_CALLER);
  const read = { document_id: 'secret', version: '1' };
  expect(eCode(await invoke('mirror__get_document_version', read, bob))).toBe('E3603');
  expect(eCode(await invoke('mirror__ingest_document', { content: '# Secret walrus' }, bob))).toBe('E3603');
  expect(JSON.stringify(await invoke('mirror__search_documents', { query: 'walrus' }, bob))).not.toContain('hidden');
  expect(await invoke('mirror__get_document_version', read, agent)).toMatchObject({ status: 'success' });
});

test('DOC-04.5 nobody subscribes to what he may not read', async () => {
  const older = await connect(desk, bob, { path: '/mcp/servers/documents' });
  const newer = await connect(desk, bob, { path: '/mcp/servers/documents', era: '2026' });
  for (const client of [older, newer]) opened.defer(() => client.close());
  const [forbidden, encoded, allowed] = ['document://secret', 'document://%73ecret', 'document://open'];
  for (const uri of [forbidden, encoded])
    await expect(older.subscribeResource({ uri })).rejects.toThrow('may not read');
  await older.subscribeResource({ uri: allowed });
  const { honoredFilter } = await newer.listen({ resourceSubscriptions: [forbidden, encoded, allowed] });
  expect(honoredFilter).toEqual({ resourceSubscriptions: [allowed] });
});

test('DOC-04.5 who subscribed before a policy forbade it learns of no change any more', async () => {
  const client = await connect(desk, bob, { path: '/mcp/servers/documents' });
  opened.defer(() => client.close());
  const updated: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
  const write = (document_id: string, content: string) => tool('ingest_document', { document_id, content }, agent);
  for (const id of ['later', 'free']) {
    await write(id, 'Walrus one.');
    await client.subscribeResource({ uri: `document://${id}` });
  }
  await write('later', 'Walrus two.');
  await expect.poll(() => updated).toEqual(['document://later']);
  const forbidden = POLICY.slice(POLICY.indexOf('@id("not-for-bob")'), POLICY.indexOf('@id("not-by-bob")'));
  const more = forbidden.replace('not-for-bob', 'not-later').replace('secret*', 'later*');
  writeFileSync(join(desk.folder, 'policies', 'more.cedar'), more);
  await desk.layer.ask('policies.reload', {}, LOCAL_CALLER);
  await write('later', 'Walrus three.');
  await write('free', 'Walrus three.');
  await expect.poll(() => updated).toContain('document://free');
  expect(updated).toEqual(['document://later', 'document://free']);
});

test('DOC-04.5 PIPE-15 a dry run says what they would refuse', async () => {
  const ask = (parameters: Record<string, unknown>) =>
    desk.layer.ask(
      'tools.dry-run',
      { tool_id: 'documents__get_document_metadata', parameters },
      { door: 'library', token: bob },
    );
  expect(await ask({ document_id: 'secret' })).toMatchObject({ would: 'refuse', error: { e_code: 'E3603' } });
  expect(await ask({ document_id: 'open' })).toMatchObject({ would: 'run' });
});

test('DOC-01.5 DOC-04.6 a document is deleted with an approval, by whom a policy allows it, and that is on record', async () => {
  const waits = async (parameters: object, bearer: string): Promise<Json> => {
    const answer = await tool('delete_document', parameters, bearer);
    if (answer['status'] !== 'pending_approval') return answer;
    const { approval_id } = answer['approval'] as { readonly approval_id: string };
    await desk.layer.ask('approvals.approve', { approval_id }, LOCAL_CALLER);
    return desk.reaches(String(answer['invocation_id']), 'COMPLETED');
  };
  for (const content of ['Walrus one.', 'Walrus two.'])
    await tool('ingest_document', { document_id: 'mine', content }, agent);
  await tool('ingest_document', { document_id: 'mine-north', content: 'Walrus three.' }, agent);
  for (const [parameters, bearer] of [
    [{ document_id: 'mine' }, agent],
    [{ document_id: 'open' }, bob],
    [{ document_id: 'open', version: '1' }, bob],
    // His to delete, and not his to write.
    [{ document_id: 'mine-north' }, bob],
  ] as const)
    expect(eCode(await waits(parameters, bearer))).toBe('E3603');
  await waits({ document_id: 'mine', version: '1' }, bob);
  await waits({ document_id: 'mine' }, bob);
  expect(await idsOf()).not.toContain('mine');
  const { events } = await desk.layer.ask('audit.query', { type: 'ai.agent.tool.document_deleted' }, LOCAL_CALLER);
  expect(events.map(({ data }) => data)).toMatchObject([
    { document_id: 'mine', document_version: '1' },
    { document_id: 'mine', agent_did: 'did:agent:a', tool_id: 'documents__delete_document' },
  ]);
  expect(JSON.stringify(events)).not.toContain('Walrus');
});
