import { MiB } from '@sallyport/std/bytes';
import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { beforeEach, expect, test } from 'vitest';
import type { TokenMintRequest } from '../../../../api/schemas/capability-token.ts';
import { memoryDocumentPins } from '../../../../test/stores/outcomes/memory-document-pins.ts';
import type { DocumentServer } from '../../../bridges/document-server.port.ts';
import type { DocumentPinStore } from '../../../bridges/document-stores.port.ts';
import type { DocumentUpdate } from '../../../bridges/document-updates.port.ts';
import { DOCUMENT_DEFAULTS } from '../../../bridges/documents/documents.fixture.ts';
import { createDocuments } from '../../../bridges/documents.ts';
import { decisionsOf } from '../../../permission/gates/gates.fixture.ts';
import type { PolicyQuestion } from '../../../permission/policy-engine.port.ts';
import { memoryDocumentCache } from '../../../storage/memory/memory-document-cache.ts';
import { silentLog } from '../../../telemetry/log.ts';
import type { Resumed } from '../../ongoing/ongoing-call.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

/** Contents of the versions of the one document, the first being version 1. */
let versions: string[];
let pins: DocumentPinStore;
let now: number;
beforeEach(() => {
  versions = ['old'];
  policies = '1';
  now = Date.now();
  pins = memoryDocumentPins();
});

/** A document server in this process with one document. */
const server: DocumentServer = {
  scopeOf: () => '',
  async call(_reader, tool, args) {
    const [wanted] = (args['documents'] ?? []) as readonly { readonly version: string }[];
    const version = wanted?.version ?? String(versions.length);
    const content = versions[Number(version) - 1];
    const document = { document_id: 'spec', version, content, tags: ['released'], status: 'active' };
    return { structuredContent: { documents: [document], missing: [] }, tool };
  },
};

const REQUEST = { tool_id: 'read', parameters: { n: 1 }, document_context: { document_refs: ['spec'] } };

/** Version of the policies. */
let policies = '1';
/** Notifies of a change of the document. */
let changed: (update: DocumentUpdate | undefined) => void;
const updates = {
  subscribe(listener: typeof changed) {
    changed = listener;
    return { [Symbol.dispose]: () => undefined };
  },
};

async function open(allows: (question: PolicyQuestion) => boolean = () => true, bytesMax = 0, from = server) {
  const bridge = createDocuments({
    server: from,
    updates,
    cache: memoryDocumentCache({ bytesMax }),
    clock: { now: () => now, monotonic: () => performance.now() },
    log: silentLog,
    settings: DOCUMENT_DEFAULTS,
  });
  const decide = (question: PolicyQuestion) => ({ allowed: allows(question), policies: ['own'] });
  const policy = decisionsOf({ name: 'own', version: () => policies, decide });
  const made = await pipeline({ documents: { bridge, pins, serverAt: () => undefined, isPinning: true }, policy });
  await made.add(manifest('read'), (_, { documents }) => documents.map(({ content }) => content));
  return made;
}

test('DOC-04.3 a tool does not run when the versions of its documents cannot be stored', async () => {
  const { call } = await open();
  const failing = async (): Promise<never> => Promise.reject(new ToolLayerError('E3812', 'down'));
  pins.put = failing;
  expect((await call(REQUEST)).failure).toMatchObject({ code: 'E3608' });
  const unpinned = { ...REQUEST, document_context: { document_refs: ['spec'], version_pinning: false } };
  expect(await call(unpinned)).toMatchObject({ state: 'COMPLETED', result: ['old'] });
});

test('DOC-04.2 a call that resumes the work of another has its versions, and nothing of work of other owners or tools', async () => {
  const { add, call, token } = await open();
  await add(manifest('save'), async (_, { documents, checkpoints }) => {
    if (checkpoints.restored !== undefined) return documents.map(({ content }) => content);
    await checkpoints.save({ at: 1 });
    throw new ToolLayerError('E3109', 'It failed.');
  });
  const first = await call({ ...REQUEST, tool_id: 'save' });
  const [saved] = first.metadata?.checkpoints_created ?? [];
  const resume = { checkpoint_config: { resume_from_checkpoint_id: saved?.checkpoint_id ?? '' } };
  versions.push('new');
  expect(await call(REQUEST)).toMatchObject({ result: ['new'] });
  const asked: string[] = [];
  const { find } = pins;
  pins.find = (tenantId, invocationId) => {
    asked.push(invocationId);
    return find(tenantId, invocationId);
  };
  // Before the work is taken over: afterwards its checkpoint is gone for everybody.
  const other = { capability_token: await token({ agent_did: 'did:agent:other' }) };
  expect((await call({ ...REQUEST, ...resume, ...other, tool_id: 'save' })).failure?.code).toMatch(/^E37/);
  expect(asked).toEqual([]);
  expect(await call({ ...REQUEST, ...resume, tool_id: 'save' })).toMatchObject({ result: ['old'] });
  expect(asked).toEqual([first.invocationId]);
});

test('DOC-04.2 a run that was cut off begins again with the same versions', async () => {
  const { call, run, parts, token } = await open();
  await pins.put('acme', 'cut-off', [{ ref: 'spec', documentId: 'spec', version: '1', sha256: sha256('old') }]);
  versions.push('new');
  const identity = await parts.identify({ door: 'library', token: await token() });
  if (isFailure(identity)) throw new Error('the token is refused');
  const waiting = {
    request: REQUEST,
    claims: identity.claims,
    wait: { for: 'worker' as const, confirmed: false },
    since: 0,
  };
  const resumed: Resumed = { invocationId: 'cut-off', nonce: 'cut-off', acceptedAt: 0, waiting, cutOff: true };
  const again = await run({ request: REQUEST, caller: { door: 'library' } }, resumed);
  expect(again).toMatchObject({ state: 'COMPLETED', result: ['old'] });
  expect((await call(REQUEST)).result).toEqual(['new']);
});

test('DOC-04.1 the policies are asked with the tool, the document and the mode, after the call itself', async () => {
  const asked: unknown[] = [];
  const { add, call } = await open(({ toolId, document }) => {
    asked.push([toolId, document]);
    return document?.mode !== 'write';
  });
  await add(
    manifest('write', { document_dependencies: [{ document_pattern: 'spec', access_mode: 'write' }] }),
    () => 'done',
  );
  expect((await call({ tool_id: 'write', parameters: { n: 1 } })).failure).toMatchObject({
    code: 'E3603',
    details: { document_id: 'spec', access_mode: 'write' },
  });
  expect((await call(REQUEST)).state).toBe('COMPLETED');
  expect(asked).toEqual([
    ['write', undefined],
    ['write', { id: 'spec', mode: 'write' }],
    ['read', undefined],
    ['read', { id: 'spec', mode: 'read' }],
  ]);
});

test('DOC-04.1 DOC-02.3 what is remembered is not given on after the policies, the token or the document changed', async () => {
  const forbidden = new Set<string | undefined>();
  const asked: unknown[] = [];
  const { call, token } = await open(({ document, principal }) => {
    if (document !== undefined) asked.push(principal);
    return document === undefined || !forbidden.has(principal.userDid);
  }, MiB);
  const withToken = async (claims: TokenMintRequest) => ({ ...REQUEST, capability_token: await token(claims) });
  const ann = await withToken({ user_did: 'did:user:ann' });
  const pinnedVersion = { ...ann, document_context: { document_refs: ['spec@1'] } };
  for (const request of [ann, ann, pinnedVersion, pinnedVersion]) expect((await call(request)).result).toEqual(['old']);
  expect(asked).toHaveLength(1);

  forbidden.add('did:user:bob');
  expect((await call(await withToken({ user_did: 'did:user:bob' }))).failure?.code).toBe('E3603');
  await call(await withToken({ user_did: 'did:user:ann', session_id: 'another' }));
  expect(asked).toHaveLength(3);

  versions.push('new');
  now += 1;
  changed({ tenantId: 'acme', documentId: 'spec', version: '2' });
  expect((await call(ann)).result).toEqual(['new']);

  forbidden.add('did:user:ann');
  expect((await call(ann)).result).toEqual(['new']);
  policies = '2';
  for (const request of [ann, pinnedVersion]) expect((await call(request)).failure?.code).toBe('E3603');
});

test('DOC-05 PIPE-10 a deterministic tool may answer otherwise when its documents are others', async () => {
  const { add, call } = await open();
  await add(manifest('sum', { deterministic: true }), (_, { documents }) => documents.map(({ content }) => content));
  expect((await call({ ...REQUEST, tool_id: 'sum' })).result).toEqual(['old']);
  versions.push('new');
  expect(await call({ ...REQUEST, tool_id: 'sum' })).toMatchObject({ result: ['new'], warnings: [] });
});

test('DOC-05 DOC-02 what a tool does to its documents reaches no other call, no other attempt, and nothing that is remembered', async () => {
  const { add, call } = await open(() => true, MiB);
  const seen: unknown[] = [];
  await add(manifest('spoil', { execution_config: { retry_policy: { base_delay_ms: 1 } } }), (_, { documents }) => {
    seen.push(structuredClone(documents));
    for (const document of documents as unknown as { content: string; tags: string[] }[]) {
      document.content = 'spoilt';
      document.tags.push('spoilt');
    }
    (documents as unknown as unknown[]).push('spoilt');
    if (seen.length === 1) throw new ToolLayerError('E3304', 'passing');
    return 'done';
  });
  for (const ref of ['spec', 'spec@1', 'spec@1'])
    await call({ ...REQUEST, tool_id: 'spoil', document_context: { document_refs: [ref] } });
  await call({ tool_id: 'spoil', parameters: { n: 1 } });
  const whole = [expect.objectContaining({ content: 'old', tags: ['released'] })];
  expect(seen).toEqual([whole, whole, whole, whole, []]);
  await call({ tool_id: 'spoil', parameters: { n: 1 } });
  expect(seen.at(-1)).toEqual([]);
});

test.each([
  ['a pattern', { document_refs: ['s*'] }],
  ['a question', { query: 'what do we plan?' }],
  ['a deprecated document', { document_refs: ['plan'] }],
])(
  'DOC-04.1 who asks with %s does not learn the name of a document that the policies keep from them, and the audit has it',
  async (_, document_context) => {
    const { call, eventsOf } = await open(({ document }) => document?.id !== 'spec');
    const { failure, invocationId } = await call({ ...REQUEST, document_context });
    expect(failure?.code).toBe('E3603');
    expect(JSON.stringify(failure)).not.toContain('spec');
    // The audit is for those who may know.
    const events = await eventsOf(invocationId);
    const refused = events.filter(({ type }) => type === 'ai.agent.tool.document_refused');
    expect(refused.map(({ data }) => data)).toMatchObject([
      { document_id: 'spec', access_mode: 'read', tool_id: 'read' },
    ]);
  },
);

test('DOC-03 DOC-04 a document that the server refuses to its caller is not given from what is remembered', async () => {
  const own: DocumentServer = { ...server, scopeOf: () => 'the caller' };
  const { call } = await open(() => true, MiB, own);
  const version = { ...REQUEST, document_context: { document_refs: ['spec@1'] } };
  for (const request of [REQUEST, version]) expect((await call(request)).result).toEqual(['old']);
  now += 3_600_000;
  own.call = async () => ({ content: [{ type: 'text', text: 'You may not.' }], isError: true });
  for (const request of [REQUEST, version]) expect((await call(request)).failure?.code).toBe('E3602');
});
