import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import {
  type DocumentHttpServer,
  startDocumentHttpServer,
} from '../../../packages/sallyport/src/mcp-servers/test-servers/document-http-server.ts';
import { AGENT, type Desk, openDesk } from '../calls/desk.fixture.ts';

type Json = Readonly<Record<string, unknown>>;
type Given = readonly { readonly document_id: string; readonly version: string; readonly content: string }[];

const { works, problem } = await createBubblewrapDriver().probe();
const SECRET_CONTENT = 'the content of the specification';
const POLICY = `
@id("not-for-bob")
forbid (principal, action, resource)
when { context has document && context.document == "secret" && principal has user && principal.user == "did:user:bob" };
@id("named-by-eve")
forbid (principal, action, resource)
when { context has document && context.document == "" && principal has user && principal.user == "did:user:eve" };
`;

let documents: DocumentHttpServer;
let desk: Desk;
let token: string;
/** What the tools of this process were given, in order. */
const given: Given[] = [];
/** Called in the middle of the tool \`twice\`. */
let midway: (attempt: number) => void = () => undefined;

const toolOf = (tool_id: string, more: Partial<ToolManifest> = {}): ToolManifest => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description: `Does ${tool_id}.`,
  side_effect_policy: 'pure',
  parameters_schema: { type: 'object', additionalProperties: false },
  executor: { kind: 'native' },
  ...more,
});
const shell = (tool_id: string, script: string) =>
  toolOf(tool_id, { executor: { kind: 'shell', config: { command: ['sh', '-c', script], output: 'text' } } });

beforeAll(async () => {
  documents = await startDocumentHttpServer();
  desk = await openDesk({ policy: POLICY, settings: { 'document_bridge.retry_seconds': 0 } });
  token = await desk.token(AGENT);
  const definition = { name: 'documents', transport: { type: 'http' as const, url: documents.url } };
  await desk.layer.ask('upstreams.add', { upstream: definition }, LOCAL_CALLER);
  const note = (read: Given) => {
    given.push(read);
    return read.map(({ document_id, version, content }) => `${document_id}@${version}: ${content}`);
  };
  await desk.layer.registerFunction(toolOf('read'), (_, context) => note(context.documents));
  await desk.layer.registerFunction(
    toolOf('depends', { document_dependencies: [{ document_pattern: 'gui*', access_mode: 'read' }] }),
    (_, context) => note(context.documents),
  );
  await desk.layer.registerFunction(toolOf('asked', { execution_config: { requires_approval: true } }), (_, context) =>
    note(context.documents),
  );
  let attempt = 0;
  await desk.layer.registerFunction(
    toolOf('twice', { execution_config: { retry_policy: { max_attempts: 2, base_delay_ms: 0 } } }),
    (_, context) => {
      const read = note(context.documents);
      attempt += 1;
      midway(attempt);
      return read;
    },
  );
  await desk.layer.registerFunction(toolOf('work'), async (_, { checkpoints, documents: read }) => {
    const lines = note(read);
    if (checkpoints.restored !== undefined) return lines;
    await checkpoints.save({ step: 1 }, { milestone: 'half' });
    throw new Error('the power fails');
  });
  for (const manifest of [
    toolOf('module', {
      executor: {
        kind: 'native',
        config: { module: 'export default (_, { documents }) => documents.map(({ content }) => content);' },
      },
    }),
    shell(
      'print',
      'cd "$SALLYPORT_DOCUMENTS"; cat documents.json *.md; test -w documents.json || echo unwritable; test -w . || echo closed; ls',
    ),
    shell(
      'peep',
      `echo "$SALLYPORT_DOCUMENTS."; cat $(find ${desk.folder} /tmp /proc/*/root -type f 2>/dev/null); true`,
    ),
    shell('hold', 'sleep 60'),
  ])
    await desk.layer.ask('tools.register', { manifest }, LOCAL_CALLER);
});
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await documents[Symbol.asyncDispose]();
});
beforeEach(() => {
  documents.behaviour = 'well';
  given.length = 0;
  midway = () => undefined;
  for (const id of ['spec', 'guide', 'secret', 'fresh', 'moving']) documents.remove(id);
  documents.put('spec', SECRET_CONTENT);
  documents.put('guide', 'the way');
});

const invoke = async (tool_id: string, document_context?: object, more: object = {}, bearer = token): Promise<Json> =>
  (
    await desk.rest('POST', '/v1/invocations', bearer, {
      tool_id,
      ...(document_context === undefined ? {} : { document_context }),
      ...more,
    })
  ).body;
const refs = (...document_refs: string[]) => ({ document_refs });
const accessedIn = ({ execution_metadata: metadata }: Json) => (metadata as Json)['documents_accessed'];
const codeOf = ({ error }: Json) => ((error as Json | undefined)?.['details'] as Json | undefined)?.['e_code'];
const eCode = (body: Json): unknown => codeOf(body) ?? (body['error'] as Json | undefined)?.['e_code'];

describe('documents of a call', () => {
  test('DOC-05.1 DOC-05.2 PIPE-11.4 reach a function, and are counted in the answer, the record and the audit', async () => {
    const body = await invoke('read', refs('document://spec', 'guide@1'));
    expect(body).toMatchObject({ status: 'success', result: [`spec@1: ${SECRET_CONTENT}`, 'guide@1: the way'] });
    const accessed = [
      { document_id: 'spec', document_version: '1', access_count: 1 },
      { document_id: 'guide', document_version: '1', access_count: 1 },
    ];
    expect(accessedIn(body)).toEqual(accessed);
    const id = String(body['invocation_id']);
    expect(accessedIn(await desk.status(id))).toEqual(accessed);
    const { events } = await desk.layer.ask('audit.query', { invocation_id: id }, LOCAL_CALLER);
    const end = events.find(({ type }) => type === 'ai.agent.tool.succeeded');
    expect(accessedIn(end?.data as Json)).toEqual(accessed);
    // The result of this tool is the content, which no event holds.
    expect(JSON.stringify(events)).not.toContain(SECRET_CONTENT);
    expect(accessedIn(await invoke('read'))).toEqual([]);
  });

  test('DOC-05.1 REG-01.9 come with the tool that depends on them', async () => {
    expect(await invoke('depends')).toMatchObject({ result: ['guide@1: the way'] });
    expect(await invoke('depends', refs('spec'))).toMatchObject({
      result: ['guide@1: the way', `spec@1: ${SECRET_CONTENT}`],
    });
  });

  test('DOC-05.1 come through every door', async () => {
    const client = await desk.mcp(token);
    const viaMcp = await client.callTool({ name: 'read', _meta: { 'sallyport/document_context': refs('spec') } });
    expect(JSON.stringify(viaMcp)).toContain(SECRET_CONTENT);
    await expect(client.callTool({ name: 'read', _meta: { 'sallyport/document_context': 'spec' } })).rejects.toThrow(
      'must be an object',
    );
    const viaCli = await desk.cli(['invoke', 'read', '--document', 'spec', '--document', 'guide@1', '--json']);
    expect(viaCli.out).toContain(SECRET_CONTENT);
    const asked = await desk.cli(['invoke', 'read', '--document-query', 'the way', '--no-document-pinning', '--json']);
    expect(asked.out).toContain('guide@1');
    const request = { tool_id: 'read', document_context: refs('guide') };
    const viaLibrary = await desk.layer.ask('tools.invoke', request, { door: 'library', token });
    expect(viaLibrary).toMatchObject({ result: ['guide@1: the way'] });
  });

  test('DOC-05 what is no reference is refused, and so are documents for a tool that gets none', async () => {
    expect(eCode(await invoke('read', refs('two words')))).toBe('E3801');
    const mcpTool = await invoke('documents__get_document_metadata', refs('spec'));
    expect(eCode(mcpTool)).toBe('E3901');
    expect(eCode(await invoke('read', refs('none')))).toBe('E3601');
    expect(given).toEqual([]);
  });

  test('DOC-05.1 a tool of an MCP server gets them in the parameter that it marks, which no caller sets', async () => {
    const body = await invoke('documents__count', refs('spec', 'guide'), { parameters: { n: 1 } });
    expect(body).toMatchObject({ status: 'success', result: { structuredContent: { count: 2 } } });
    const { args } = documents.asked.at(-1) ?? {};
    expect(args).toMatchObject({ n: 1, texts: [{ document_id: 'spec', content: SECRET_CONTENT }, {}] });
    const forged = { parameters: { texts: [{ document_id: 'spec', content: 'forged' }] } };
    for (const context of [refs('spec'), undefined]) {
      expect(eCode(await invoke('documents__count', context, forged))).toBe('E3801');
    }
  });

  test('PIPE-09 a key with other documents is another request', async () => {
    const keyed = { execution_options: { idempotency_key: 'k-documents' } };
    expect(await invoke('read', refs('spec'), keyed)).toMatchObject({ status: 'success' });
    expect(eCode(await invoke('read', refs('guide'), keyed))).toBe('E3802');
  });
});

describe('policies', () => {
  test('DOC-04.1 judge each document for each user: what one had, the other does not get', async () => {
    documents.put('secret', 'for alice');
    const bob = await desk.token({ ...AGENT, user_did: 'did:user:bob' });
    expect(await invoke('read', refs('secret'))).toMatchObject({ result: ['secret@1: for alice'] });
    const asked = documents.asked.length;
    for (const ref of ['secret', 'secret@1', 'document://secret']) {
      const refused = await invoke('read', refs('spec', ref), {}, bob);
      expect([refused['status'], eCode(refused)]).toEqual(['permission_denied', 'E3603']);
      expect(JSON.stringify(refused)).not.toContain('for alice');
    }
    expect(eCode(await invoke('read', refs('secr*'), {}, bob))).toBe('E3603');
    expect(documents.asked.slice(asked).every(({ args }) => !JSON.stringify(args).includes('"secret"'))).toBe(true);
    expect(await invoke('read', refs('spec'), {}, bob)).toMatchObject({ status: 'success' });
  });

  test('DOC-04.1 PIPE-15 are asked before a person is, and by a dry run, for what is named by its id', async () => {
    documents.put('secret', 'for alice');
    const bob = await desk.token({ ...AGENT, user_did: 'did:user:bob' });
    const rehearse = async (document_context: object, bearer: string): Promise<Json> =>
      (await desk.rest('POST', '/v1/dry-runs', bearer, { tool_id: 'asked', document_context })).body;
    const of = (document_context: object) => invoke('asked', document_context, {}, bob);
    for (const context of [refs('secret'), refs('spec', 'document://secret/versions/1')]) {
      expect(eCode(await of(context))).toBe('E3603');
      expect(await rehearse(context, bob)).toMatchObject({ would: 'refuse', error: { e_code: 'E3603' } });
      expect(await rehearse(context, token)).toMatchObject({ would: 'ask' });
    }
    // Which document a pattern or a question finds is known when it is read.
    for (const context of [refs('secr*'), { query: 'secret' }, refs('spec')])
      expect(await of(context)).toMatchObject({ status: 'pending_approval' });
    expect(given).toEqual([]);
  });

  test('DOC-04.5 a server elsewhere makes the id of a document that has none, so they judge it by an empty one', async () => {
    const parameters = { content: '# Of eve' };
    const ingest = (bearer: string, more = {}) =>
      invoke('documents__ingest_document', undefined, { parameters: { ...parameters, ...more } }, bearer);
    const eve = await desk.token({ ...AGENT, user_did: 'did:user:eve' });
    const asked = documents.asked.length;
    expect(eCode(await ingest(eve))).toBe('E3603');
    expect(documents.asked).toHaveLength(asked);
    expect(await ingest(eve, { document_id: 'of-eve' })).toMatchObject({ status: 'success' });
    expect(await ingest(token)).toMatchObject({ status: 'success' });
  });
});

describe('versions', () => {
  test('DOC-04.2 a document that changes while the tool runs does not change for it', async () => {
    documents.put('moving', 'old');
    midway = (attempt) => {
      documents.put('moving', 'new');
      if (attempt === 1) throw new ToolLayerError('E3304', 'Try again.');
    };
    const body = await invoke('twice', refs('moving'));
    expect(given.map(([one]) => one?.content)).toEqual(['old', 'old']);
    expect(accessedIn(body)).toEqual([{ document_id: 'moving', document_version: '1', access_count: 2 }]);
  });

  test('DOC-04.2 a call that resumes from a checkpoint gets the same versions, unless it wants the newest', async () => {
    documents.put('moving', 'old');
    const failed = await invoke('work', refs('moving'));
    expect(failed['status']).toBe('error');
    const created = (failed['execution_metadata'] as Json)['checkpoints_created'] as readonly Json[];
    const resume = { checkpoint_config: { resume_from_checkpoint_id: created[0]?.['checkpoint_id'] } };
    documents.put('moving', 'new');
    const other = await invoke('read', refs('moving@2'));
    expect(other).toMatchObject({ result: ['moving@2: new'] });
    expect(await invoke('work', refs('moving'), resume)).toMatchObject({ result: ['moving@1: old'] });
  });

  test('DOC-04.4 a deprecated document is a warning of the call', async () => {
    documents.deprecate('spec', 'guide');
    expect(await invoke('read', refs('spec@1'))).toMatchObject({
      status: 'success',
      warnings: [{ code: 'document_deprecated', details: { document_id: 'spec' } }],
    });
  });
});

describe.skipIf(!works)(`programs in sandboxes${works ? '' : `, skipped: ${problem}`}`, () => {
  test('DOC-05.1 SBX-05 get read-only files that are gone afterwards', async () => {
    const body = await invoke('print', refs('spec', 'guide'));
    const text = String(body['result'] ?? JSON.stringify(body));
    expect(text).toContain(SECRET_CONTENT);
    expect(text).toContain('"file": "1-spec.md"');
    expect(text).toMatch(/unwritable\nclosed\n/);
    expect(text).toMatch(/1-spec\.md\n2-guide\.md\ndocuments\.json/);
    const left = await readdir(join(desk.folder, 'documents'), { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile())).toEqual([]);
    expect(left).toHaveLength(1);
    const { events } = await desk.layer.ask(
      'audit.query',
      { invocation_id: String(body['invocation_id']) },
      LOCAL_CALLER,
    );
    expect(JSON.stringify(events)).not.toContain(SECRET_CONTENT);
  });

  test('SBX-05.5 a tool that asked for none has no variable, and finds no document of a tool that runs beside it', async () => {
    const held = await invoke('hold', refs('spec'), { execution_options: { async_mode: true } });
    const folder = join(desk.folder, 'documents');
    await expect
      .poll(async () => (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('1-spec.md')))
      .toHaveLength(1);
    const [without, other] = [await invoke('peep'), await invoke('peep', refs('guide'))];
    await desk.rest('DELETE', `/v1/invocations/${held['invocation_id']}`, token);
    expect(String(without['result'])).toMatch(/^\.\n/);
    expect(String(other['result'])).toContain('the way');
    for (const { result } of [without, other]) expect(String(result)).not.toContain(SECRET_CONTENT);
  });

  test('DOC-05.1 a sandboxed function gets them in its context', async () => {
    expect(await invoke('module', refs('spec'))).toMatchObject({ result: [SECRET_CONTENT] });
    expect(await invoke('module')).toMatchObject({ result: [] });
  });
});

describe('a document server that fails', () => {
  test('DOC-03.1 the call is refused where no source has the document, and the tool does not run', async () => {
    documents.put('fresh', 'never read');
    documents.behaviour = 'lost';
    expect(eCode(await invoke('read', refs('fresh')))).toBe('E3602');
    documents.behaviour = 'rubbish';
    expect(eCode(await invoke('read', refs('fresh')))).toBe('E3606');
    expect(given).toEqual([]);
  });

  test('DOC-03.5 CIR-01 its circuit counts each request, and while it is open none is made', async () => {
    const name = 'mcp:documents';
    const counts = async () => (await desk.layer.ask('circuits.get', { name }, LOCAL_CALLER)).failure_count;
    const set = (state: 'forced_open' | 'closed') =>
      desk.layer.ask('circuits.set', { name, state, reason: 'a test' }, LOCAL_CALLER);
    await set('closed');
    documents.put('fresh', 'never read');
    documents.behaviour = 'lost';
    expect(eCode(await invoke('read', refs('fresh')))).toBe('E3602');
    expect(await counts()).toBe(4);
    documents.behaviour = 'well';
    await set('forced_open');
    const asked = documents.asked.length;
    expect(eCode(await invoke('read', refs('fresh')))).toBe('E3602');
    expect(eCode(await invoke('documents__search_documents', undefined, { parameters: { query: 'q' } }))).toBe('E3401');
    expect(documents.asked).toHaveLength(asked);
    await set('closed');
    expect(await invoke('read', refs('fresh'))).toMatchObject({ result: ['fresh@1: never read'] });
  });
});

describe("the layer's own server", () => {
  let own: Desk;
  let agent: string;
  beforeAll(async () => {
    own = await openDesk({ settings: { 'documents.embedded': 'on', 'search.embedder': 'none' } });
    agent = await own.token(AGENT);
    await own.layer.registerFunction(toolOf('read'), (_, { documents: read }) => read.map(({ content }) => content));
  });
  afterAll(() => own[Symbol.asyncDispose]());
  const ask = async (tool_id: string, more: object, bearer = agent): Promise<Json> =>
    (await own.rest('POST', '/v1/invocations', bearer, { tool_id, ...more })).body;

  test('DOC-02.3 DOC-04.2 a new version is there at once, and a pinned one stays', async () => {
    const ingest = (content: string) =>
      ask('documents__ingest_document', { parameters: { document_id: 'plan', title: 'Plan', content } });
    const newest = { document_context: refs('plan') };
    expect(await ingest('one')).toMatchObject({ status: 'success' });
    expect(await ask('read', newest)).toMatchObject({ result: ['one'] });
    expect(await ingest('two')).toMatchObject({ status: 'success' });
    expect(await ask('read', newest)).toMatchObject({ result: ['two'] });
    expect(await ask('read', { document_context: refs('plan@1') })).toMatchObject({ result: ['one'] });
    const deprecation = { document_id: 'plan', reason: 'done' };
    expect(await ask('documents__deprecate_document', { parameters: deprecation })).toMatchObject({
      status: 'success',
    });
    expect(await ask('read', { document_context: refs('plan@1') })).toMatchObject({
      result: ['one'],
      warnings: [{ code: 'document_deprecated' }],
    });
  });
});
