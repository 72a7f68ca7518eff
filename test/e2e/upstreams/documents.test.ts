import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { MiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type Desk, openDesk } from '../calls/desk.fixture.ts';
import { connect, read } from './offers/offers.fixture.ts';

const TOOLS = [
  'delete_document',
  'deprecate_document',
  'find_overlaps',
  'get_document_metadata',
  'get_document_version',
  'get_source_of_truth',
  'ingest_document',
  'search_documents',
];

const opened = new AsyncDisposableStack();
let desk: Desk;

/** A folder whose files may be ingested, and a file beside it. */
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handbook-')));
const handbook = join(folder, 'handbook');

beforeAll(async () => {
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(handbook);
  const settings = {
    'documents.embedded': 'on',
    'documents.folders': [handbook],
    'documents.file_bytes_max': 2 * MiB,
    'search.embedder': 'none',
  } as const;
  desk = opened.use(await openDesk({ settings }));
});
afterAll(() => opened.disposeAsync());

/** A client of the document server alone. */
async function client(claims: Parameters<Desk['token']>[0] = {}, era: '2025' | '2026' = '2026'): Promise<Client> {
  const made = await connect(desk, await desk.token(claims), { path: '/mcp/servers/documents', era });
  opened.defer(() => made.close());
  return made;
}

async function call(by: Client, name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { structuredContent, content } = await by.callTool({ name, arguments: args });
  if (structuredContent === undefined) throw new Error(JSON.stringify(content));
  return structuredContent as Record<string, unknown>;
}

test('DOC-01.4 the layer is a document server, with the tools of any upstream', async () => {
  const { upstreams } = await desk.layer.ask('upstreams.list', {}, LOCAL_CALLER);
  expect(upstreams).toMatchObject([{ name: 'documents', state: 'ready', transport: 'embedded', tool_count: 8 }]);
  const all = await connect(desk, await desk.token());
  opened.defer(() => all.close());
  const names = (await all.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(TOOLS.map((name) => `documents__${name}`)));
  const { manifest } = await desk.layer.ask('tools.get', { tool_id: 'documents__ingest_document' }, LOCAL_CALLER);
  expect(manifest).toMatchObject({ side_effect_policy: 'idempotent', executor: { kind: 'mcp' } });
  // Nobody starts it, so no desktop client could.
  expect(await desk.layer.ask('upstreams.export', {}, LOCAL_CALLER)).toEqual({ mcpServers: {} });
});

describe.each(['2025', '2026'] as const)('a client of the document server, protocol of %s', (era) => {
  test('DOC-01.4 ingests, reads, searches and follows a document', async () => {
    const one = await client({}, era);
    expect((await one.listTools()).tools.map(({ name }) => name).sort()).toEqual(TOOLS);
    expect((await one.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'document://{document_id}',
      'document://{document_id}/versions/{version}',
    ]);
    const id = `guide-${era}`;
    await call(one, 'ingest_document', { document_id: id, content: `# Guide of ${era}\n\nPenguins swim.` });
    expect(await call(one, 'search_documents', { query: `penguins swimming ${era}`, limit: 1 })).toMatchObject({
      results: [{ document: { document_id: id }, snippet: expect.stringContaining('Penguins') }],
    });
    expect(await read(one, `document://${id}`)).toContain('Penguins swim.');
    const updated: string[] = [];
    one.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
    if (era === '2025') await one.subscribeResource({ uri: `document://${id}` });
    else await one.listen({ resourceSubscriptions: [`document://${id}`] });
    await call(await client({ agent_did: 'did:example:writer' }), 'ingest_document', {
      document_id: id,
      content: '# Two',
    });
    await expect.poll(() => updated).toEqual([`document://${id}`]);
    expect(await read(one, `document://${id}/versions/1`)).toContain('Penguins swim.');
    await expect(read(one, 'document://nobody')).rejects.toThrow('no such resource');
    const refused = await one.callTool({
      name: 'deprecate_document',
      arguments: { document_id: 'nobody', reason: 'r' },
    });
    expect(refused).toMatchObject({ isError: true });
    await expect(call(one, 'search_documents', { query: 'x', tenant_id: 'other' })).rejects.toThrow('tenant_id');
  });
});

test('DOC-01.4 a read resource says how long a client may keep it', async () => {
  const one = await client();
  await call(one, 'ingest_document', { document_id: 'kept', content: 'Kept.' });
  expect(await one.readResource({ uri: 'document://kept' })).toMatchObject({ ttlMs: 60_000, cacheScope: 'private' });
  expect(await one.readResource({ uri: 'document://kept/versions/1' })).toMatchObject({ ttlMs: 86_400_000 });
});

test('PRM-10.4 another tenant takes the server from the catalogue, and has documents of its own', async () => {
  const other = { tenant_id: 'other', agent_did: 'did:example:other' };
  await call(await client(), 'ingest_document', { document_id: 'mine', content: 'Walrus.' });
  await expect(client(other)).rejects.toThrow('sees nothing of a server named');
  const operator = await desk.token({ ...other, roles: ['admin'] });
  for (const tool of [...TOOLS, 'resources-read']) {
    const body = { tool_id: `documents__${tool}`, available: true };
    const { status } = await desk.rest('POST', '/v1/availability', operator, body);
    expect(status).toBe(200);
  }
  const one = await client(other);
  expect(await call(one, 'search_documents', { query: 'walrus' })).toMatchObject({ results: [] });
  await expect(read(one, 'document://mine')).rejects.toThrow('no such resource');
  const updated: string[] = [];
  one.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
  await one.listen({ resourceSubscriptions: ['document://mine'] });
  await call(await client(), 'ingest_document', { document_id: 'mine', content: 'Walrus again.' });
  await call(one, 'ingest_document', { document_id: 'mine', content: 'Seal.' });
  await expect.poll(() => updated).toEqual(['document://mine']);
  expect(await read(one, 'document://mine')).toBe('Seal.');
  expect(await read(await client(), 'document://mine')).toBe('Walrus again.');
});

test('DOC-01.4 a grant, a policy and the audit hold for it as for any upstream', async () => {
  const reader = await client({ tool_id: 'documents__get_*' });
  expect((await reader.listTools()).tools.map(({ name }) => name)).not.toContain('ingest_document');
  expect(await reader.callTool({ name: 'ingest_document', arguments: { content: '# X' } })).toMatchObject({
    isError: true,
    _meta: { error: { e_code: 'E3209' } },
  });
  const answer = await desk.rest('POST', '/v1/invocations', await desk.token(), {
    tool_id: 'documents__get_document_metadata',
    parameters: { document_ids: ['kept', 'nobody'] },
  });
  expect(answer.body).toMatchObject({ status: 'success' });
  const found = await desk.rest('GET', `/v1/invocations/${answer.body['invocation_id']}`, await desk.token());
  expect(found.body).toMatchObject({ tool_id: 'documents__get_document_metadata', status: 'success' });
});

test('DOC-01.4 an operator may switch it off, like any upstream', async () => {
  await desk.layer.ask('upstreams.disable', { name: 'documents' }, LOCAL_CALLER);
  const answer = await desk.rest('POST', '/v1/invocations', await desk.token(), {
    tool_id: 'documents__search_documents',
    parameters: { query: 'x' },
  });
  expect(answer.body).toMatchObject({ status: 'error', error: { e_code: 'E3310' } });
  await desk.layer.ask('upstreams.enable', { name: 'documents' }, LOCAL_CALLER);
  expect(await call(await client(), 'search_documents', { query: 'walrus' })).toMatchObject({ mode: 'keyword' });
});

test('DOC-01.4 EXE-04.2 EXE-04.3 files of the folders that the operator opened are ingested by their path, and no others', async () => {
  const ingest = async (path: string, claims = {}) => {
    const tool = { tool_id: 'documents__ingest_document', parameters: { path } };
    return (await desk.rest('POST', '/v1/invocations', await desk.token(claims), tool)).body;
  };
  const long = `# Rules\n\n${'No running on the deck. '.repeat(60_000)}`;
  writeFileSync(join(handbook, 'rules.md'), long);
  writeFileSync(join(handbook, '.env'), 'SECRET=1');
  writeFileSync(join(handbook, 'large.md'), 'x'.repeat(2 * MiB + 1));
  writeFileSync(join(folder, 'outside.md'), '# Outside');
  symlinkSync('../outside.md', join(handbook, 'link.md'));
  // Longer than an argument may be.
  for (const path of ['rules.md', join(handbook, 'rules.md')])
    expect(await ingest(path)).toMatchObject({ status: 'success' });
  for (const [path, code] of [
    ['../outside.md', 'E3105'],
    [join(folder, 'outside.md'), 'E3105'],
    ['link.md', 'E3105'],
    ['.env', 'E3210'],
  ] as const)
    expect(await ingest(path), path).toMatchObject({ status: 'permission_denied', error: { e_code: code } });
  const other = { tenant_id: 'other', agent_did: 'did:example:other' };
  expect(await ingest('rules.md', other)).toMatchObject({ status: 'permission_denied', error: { e_code: 'E3105' } });
  for (const [path, message] of [
    ['large.md', 'longer than'],
    ['none.md', 'does not exist'],
    ['.', 'is a folder'],
  ] as const)
    expect(JSON.stringify(await ingest(path)), path).toContain(message);
});

test('DOC-01.4 a file becomes a document of the type of its ending, with its path as the source', async () => {
  const one = await client();
  const ingest = async (name: string, content: string | Uint8Array, more = {}) => {
    const path = join(handbook, name);
    writeFileSync(path, content);
    return call(one, 'ingest_document', { path, ...more });
  };
  const source = join(handbook, 'heads.md');
  expect(await ingest('heads.md', '# Heads\n\nText.')).toMatchObject({ document: { title: 'Heads', source } });
  const page = '<title>Page</title><p>Words</p><script>x()</script>';
  expect(await ingest('page.HTML', page, { source: 'https://example.com' })).toMatchObject({
    document: { title: 'Page', content_type: 'text/html', source: 'https://example.com' },
  });
  expect(await ingest('some notes.csv', 'one,two')).toMatchObject({
    document: { document_id: 'some-notes', title: 'some notes', content_type: 'text/plain' },
  });
  await expect(ingest('both.md', 'x', { content: 'x' })).rejects.toThrow('one of the three');
  await expect(ingest('bytes.md', Uint8Array.of(0xff, 0x00))).rejects.toThrow('no text in UTF-8');
  await expect(ingest('none.md', 'x', { content_type: 'application/pdf' })).rejects.toThrow(/PDF|sandbox/);
});

// The last test here: the tools are others after it.
test('REG-09 an operator who states one thing of a tool of a reference server keeps what ships with its tools', async () => {
  const add = (overrides: Readonly<Record<string, object>>) =>
    desk.layer.ask(
      'upstreams.add',
      { upstream: { name: 'documents', transport: { type: 'embedded', server: 'documents' }, overrides } },
      LOCAL_CALLER,
    );
  const manifestOf = async (tool: string) =>
    (await desk.layer.ask('tools.get', { tool_id: `documents__${tool}` }, LOCAL_CALLER)).manifest;
  await add({ delete_document: { requires_approval: false } });
  expect(await manifestOf('delete_document')).toMatchObject({
    side_effect_policy: 'irreversible',
    execution_config: { requires_approval: false },
  });
  expect(await manifestOf('search_documents')).toMatchObject({ side_effect_policy: 'pure' });
  await add({ '*': { side_effect_policy: 'irreversible' }, ingest_document: { side_effect_policy: 'pure' } });
  expect(await manifestOf('search_documents')).toMatchObject({ side_effect_policy: 'irreversible' });
  expect(await manifestOf('ingest_document')).toMatchObject({ side_effect_policy: 'pure' });
  expect(await manifestOf('delete_document')).toMatchObject({ execution_config: { requires_approval: true } });
});
