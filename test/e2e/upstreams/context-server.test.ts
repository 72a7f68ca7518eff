import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const { works, problem } = await createBubblewrapDriver().probe();
let open: OpenLayer;
const clients: Client[] = [];

type Answer = Readonly<Record<string, unknown>>;
type Claims = Parameters<OpenLayer['layer']['mintToken']>[0];

const ADA = { agent_did: 'did:example:a', user_did: 'did:user:ada', session_id: 'session-1' };
const BOB = { ...ADA, user_did: 'did:user:bob' };
const ELSEWHERE = { ...ADA, tenant_id: 'elsewhere' };

beforeAll(async () => {
  open = await openLayer({ 'context.embedded': 'on' });
  await open.layer.registerFunction(DOUBLE, double);
  for (const tool of ['save_context_snapshot', 'get_unified_context', 'rollback_to']) {
    const offered = { tool_id: `context__${tool}`, available: true };
    await open.layer.ask('availability.set', offered, { ...LOCAL_CALLER, tenantId: ELSEWHERE.tenant_id });
  }
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await open[Symbol.asyncDispose]();
});

const tokenOf = async (claims: Claims): Promise<string> => (await open.layer.mintToken(claims)).capability_token;

/** Calls a tool of the context server over REST. */
async function call(claims: Claims, tool: string, parameters: Answer): Promise<{ status: number; body: Answer }> {
  const token = await tokenOf(claims);
  const body = JSON.stringify({ tool_id: `context__${tool}`, parameters });
  return post({ server: open.server, token }, '/v1/invocations', body);
}

/** The structured content of a call that succeeded. */
async function answer(claims: Claims, tool: string, parameters: Answer): Promise<Answer> {
  const { body } = await call(claims, tool, parameters);
  expect(body['status'], JSON.stringify(body)).toBe('success');
  return (body['result'] as { structuredContent: Answer }).structuredContent;
}

/** The error that the tool itself reported. */
async function refusal(claims: Claims, tool: string, parameters: Answer): Promise<Answer> {
  return errorIn((await call(claims, tool, parameters)).body);
}

function errorIn({ error }: Answer): Answer {
  const { details } = error as { details: { result: { structuredContent: { error: Answer } } } };
  return details.result.structuredContent.error;
}

async function connect(path: string, claims: Claims): Promise<Client> {
  const requestInit = { headers: { Authorization: `Bearer ${await tokenOf(claims)}` } };
  const client = new Client({ name: 'agent', version: '1.0.0' });
  clients.push(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}${path}`), { requestInit }));
  return client;
}

describe('the context server over REST', () => {
  test('STA-04.3 snapshots, checkpoints and rollback, durable and for their owner alone', async () => {
    const taskId = 'report';
    expect(await answer(ADA, 'save_context_snapshot', { taskId, updates: { step: 1 } })).toMatchObject({ version: 1 });
    const { checkpointId } = await answer(ADA, 'create_checkpoint', { taskId, label: 'first' });
    await answer(ADA, 'save_context_snapshot', { taskId, updates: { step: 2 } });
    const target = { type: 'checkpoint', checkpointId };
    for (const other of [BOB, ELSEWHERE, { ...ADA, agent_did: 'did:example:b' }]) {
      expect(await refusal(other, 'get_unified_context', { taskId })).toMatchObject({ e_code: 'E3702' });
      expect(await refusal(other, 'rollback_to', { taskId, target })).toMatchObject({ e_code: 'E3702' });
      await answer(other, 'save_context_snapshot', { taskId, updates: { mine: true } });
    }
    expect(await answer(ADA, 'rollback_to', { taskId, target })).toMatchObject({ immediateContext: { step: 1 } });
    const unknown = { taskId, target: { type: 'checkpoint', checkpointId: 'ctx_unknown' } };
    expect(await refusal(ADA, 'rollback_to', unknown)).toMatchObject({ e_code: 'E3702' });
    expect(await answer(ADA, 'get_unified_context', { taskId })).toMatchObject({
      version: 3,
      immediateContext: { step: 1 },
    });
  });

  test('STA-04.2 of two writers at once the second is refused with the members that differ', async () => {
    const taskId = 'shared';
    await answer(ADA, 'save_context_snapshot', { taskId, updates: { owner: 'nobody' } });
    const writes = ['Ada', 'Eve'].map((owner) =>
      call(ADA, 'save_context_snapshot', { taskId, updates: { owner }, baseVersion: 1 }),
    );
    const ends = (await Promise.all(writes)).map(({ body }) => body);
    expect(ends.map(({ status }) => status === 'success').toSorted()).toEqual([false, true]);
    const refused = ends.find(({ status }) => status !== 'success') ?? {};
    expect(errorIn(refused)).toMatchObject({ e_code: 'E3704', details: { fields: ['owner'] } });
  });

  test('STA-04.3 rubbish is refused before it reaches the server', async () => {
    for (const [tool, parameters] of [
      ['save_context_snapshot', { taskId: 'x', updates: 'everything' }],
      ['save_context_snapshot', { taskId: 'x'.repeat(300), updates: {} }],
      ['rollback_to', { taskId: 'x', target: { type: 'moon' } }],
      ['detect_conflicts', { taskId: 'x', baseVersion: -1 }],
    ] as const) {
      const { status, body } = await call(ADA, tool, parameters);
      expect([status, (body['error'] as Answer)['category']]).toEqual([400, 'InvalidParameters']);
    }
    const large = { taskId: 'x', updates: { text: 'x'.repeat(300_000) } };
    expect(await refusal(ADA, 'save_context_snapshot', large)).toMatchObject({ e_code: 'E3102' });
  });
});

describe('the context server over MCP', () => {
  test('STA-04.3 any MCP client uses it at an address of its own', async () => {
    const client = await connect('/mcp/servers/context', ADA);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'create_checkpoint',
      'detect_conflicts',
      'get_unified_context',
      'rollback_to',
      'save_context_snapshot',
      'switch_task',
    ]);
    const saved = await client.callTool({
      name: 'save_context_snapshot',
      arguments: { taskId: 'letters', updates: { done: 3 }, sessionId: 'monday' },
    });
    expect(saved.structuredContent).toMatchObject({ taskId: 'letters', version: 1 });
    const switched = await client.callTool({
      name: 'switch_task',
      arguments: { fromTaskId: 'letters', toTaskId: 'invoices', updates: { done: 4 } },
    });
    expect(switched.structuredContent).toMatchObject({ saved: { version: 2 }, loaded: { version: 0 } });
    const other = await connect('/mcp/servers/context', BOB);
    const unknown = await other.callTool({ name: 'get_unified_context', arguments: { taskId: 'letters' } });
    expect(unknown.isError).toBe(true);
  });
});

describe('checkpoints of calls', () => {
  const COUNTING = { ...DOUBLE, tool_id: 'counting' };

  test('STA-04.1 the agent reads the state of its call at the context server', async () => {
    await open.layer.registerFunction(COUNTING, async ({ n }, { checkpoints }) => {
      await checkpoints.save({ counted: Number(n) }, { milestone: 'counted', phase: 'counting' });
      return { value: Number(n) };
    });
    const body = JSON.stringify({ tool_id: 'counting', invocation_id: 'counting-1', parameters: { n: 7 } });
    await post({ server: open.server, token: await tokenOf(ADA) }, '/v1/invocations', body);
    const read = () => call(ADA, 'get_unified_context', { taskId: 'counting-1' });
    await expect
      .poll(async () => (await read()).body['result'])
      .toMatchObject({
        structuredContent: {
          immediateContext: { tool_id: 'counting', state: { phase: 'counting', custom_state: { counted: 7 } } },
          checkpoints: [{ label: 'counted', checkpointType: 'macro' }],
        },
      });
    expect(await refusal(BOB, 'get_unified_context', { taskId: 'counting-1' })).toMatchObject({ e_code: 'E3702' });
  });
});

describe('the context of a tool', () => {
  const TOOL = {
    ...DOUBLE,
    tool_id: 'paying',
    permissions: { credentials: ['bank_key'] },
    execution_config: {
      default_timeout_seconds: 12,
      retry_policy: { max_attempts: 2 },
      rate_limit: { per_minute: 30 },
    },
  };
  const FIXED = `/api/v1/context/agent/${encodeURIComponent(ADA.agent_did)}/tool/paying`;

  beforeAll(() => open.layer.registerFunction(TOOL, double));

  async function get(path: string, claims: Claims): Promise<{ status: number; body: Answer }> {
    const headers = { authorization: `Bearer ${await tokenOf(claims)}` };
    const response = await fetch(open.server.url + path, { headers });
    return { status: response.status, body: (await response.json()) as Answer };
  }

  test('EXT-04.1 it is at the given address, with references in place of secrets, and at our own', async () => {
    await answer(ADA, 'save_context_snapshot', { taskId: 'session-1', updates: { project_id: 'p1' } });
    const expected = {
      credentials: { bank_key_ref: 'secret://bank_key' },
      config: { timeout: 12_000, retry_max_attempts: 2, rate_limit_per_minute: 30 },
      session_context: { project_id: 'p1' },
    };
    for (const path of [FIXED, '/v1/contexts/paying'])
      expect(await get(path, ADA)).toEqual({ status: 200, body: expected });
    expect((await get('/v1/contexts/double', ADA)).body).toMatchObject({
      credentials: {},
      config: { timeout: 30_000 },
    });
  });

  test('EXT-04.1 it is for the agent and its user, and for roles that read', async () => {
    expect((await get(FIXED, BOB)).body).toMatchObject({ session_context: {} });
    const others = { ...ADA, agent_did: 'did:example:b' };
    expect(await get(FIXED, others)).toMatchObject({ status: 403, body: { e_code: 'E3213' } });
    expect(await get(`${FIXED}?user_id=did:user:ada`, BOB)).toMatchObject({ status: 403, body: { e_code: 'E3213' } });
    const asked = `${FIXED}?user_id=did:user:ada&session_id=session-1`;
    const viewer = { agent_did: 'did:example:viewer', roles: ['viewer'] } as const;
    expect((await get(asked, { ...viewer, roles: ['viewer'] })).body).toMatchObject({
      session_context: { project_id: 'p1' },
    });
    expect((await get(asked, { ...viewer, roles: ['viewer'], tenant_id: 'elsewhere' })).status).toBe(404);
    expect((await get(FIXED.replace('paying', 'unknown'), ADA)).status).toBe(404);
    expect((await get(`${FIXED}?agent_id=did:example:b`, ADA)).status).toBe(400);
  });

  test('EXT-04.2 a change of the agent itself is seen at once', async () => {
    await answer(ADA, 'save_context_snapshot', { taskId: 'session-1', updates: { project_id: 'p2' } });
    expect((await get(FIXED, ADA)).body).toMatchObject({ session_context: { project_id: 'p2' } });
  });
});

describe('a function that reads the context of the session', () => {
  const reading = (tool_id: string, session_context: boolean) => ({
    ...DOUBLE,
    tool_id,
    execution_config: { session_context },
  });

  const run = async (claims: Claims, tool_id: string): Promise<Answer> => {
    const body = JSON.stringify({ tool_id, parameters: { n: 1 } });
    return (await post({ server: open.server, token: await tokenOf(claims) }, '/v1/invocations', body)).body;
  };

  test('STA-04.1 EXT-04.1 it gets that of its agent and user, when its manifest asks for it', async () => {
    for (const asks of [true, false])
      await open.layer.registerFunction(reading(`reading-${asks}`, asks), async (_given, { sessionContext }) => ({
        project: (await sessionContext())?.['project_id'] ?? 'none',
      }));
    const session = { ...ADA, session_id: 'session-2' };
    await answer(session, 'save_context_snapshot', { taskId: 'session-2', updates: { project_id: 'p7' } });
    expect(await run(session, 'reading-true')).toMatchObject({ result: { project: 'p7' } });
    expect(await run({ ...BOB, session_id: 'session-2' }, 'reading-true')).toMatchObject({
      result: { project: 'none' },
    });
    expect(await run(session, 'reading-false')).toMatchObject({ error: { e_code: 'E3109' } });
  });

  test('EXT-04.1 a tool of another kind that asks for it is refused', async () => {
    const { parameters_schema, description } = DOUBLE;
    const manifest = {
      ...{ tool_id: 'shown', tool_name: 'Shown', version: '1.0.0', description, parameters_schema },
      execution_config: { session_context: true },
      executor: { kind: 'file' as const, config: { operation: 'read' } },
    };
    await expect(open.layer.ask('tools.register', { manifest }, LOCAL_CALLER)).rejects.toMatchObject({
      code: 'E3008',
      failure: {
        details: {
          faults: expect.arrayContaining([expect.objectContaining({ path: '/execution_config/session_context' })]),
        },
      },
    });
  });
});

describe.skipIf(!works)(`programs that read the context of the session${works ? '' : `, skipped: ${problem}`}`, () => {
  const SHOW =
    'cat "$SALLYPORT_SESSION_CONTEXT"; test -w "$SALLYPORT_SESSION_CONTEXT" || echo unwritable; echo "$SALLYPORT_DOCUMENTS."';
  const MODULE =
    'export default async (_, { sessionContext }) => ({ project: (await sessionContext())?.project_id ?? "none" });';
  const SKILL = [
    { path: 'SKILL.md', content: '---\nname: show\ndescription: Shows.\n---\nRun scripts/show.sh.' },
    { path: 'scripts/show.sh', content: `#!/bin/sh\n${SHOW}\n`, executable: true },
  ];
  const session = { ...ADA, session_id: 'session-3' };
  const manifestOf = (tool_id: string, session_context: boolean, executor: object) => ({
    ...{ ...DOUBLE, tool_id, parameters_schema: { type: 'object' } },
    execution_config: { session_context },
    executor: executor as typeof DOUBLE.executor,
  });
  const run = async (claims: Claims, tool_id: string, parameters = {}): Promise<Answer> => {
    const capability_token = await tokenOf(claims);
    return { ...(await open.layer.invoke({ tool_id, parameters, capability_token })) };
  };

  beforeAll(async () => {
    for (const asks of [true, false])
      for (const [name, executor] of [
        ['command', { kind: 'shell', config: { command: ['sh', '-c', SHOW], output: 'text' } }],
        ['module', { kind: 'native', config: { module: MODULE } }],
      ] as const)
        await open.layer.ask(
          'tools.register',
          { manifest: manifestOf(`${name}-${asks}`, asks, executor) },
          LOCAL_CALLER,
        );
    await open.layer.ask('tools.import-skill', { files: SKILL }, LOCAL_CALLER);
    const { manifest } = await open.layer.ask('tools.get', { tool_id: 'skill__show' }, LOCAL_CALLER);
    const asking = {
      ...manifest,
      version: '1.0.1',
      execution_config: { ...manifest.execution_config, session_context: true },
    };
    await open.layer.ask('tools.register', { manifest: asking }, LOCAL_CALLER);
    await answer(session, 'save_context_snapshot', { taskId: 'session-3', updates: { project_id: 'p8' } });
  });

  test('EXT-04.1 a command and a script find it in a file that they cannot change, and of their own session alone', async () => {
    const script = { script: 'scripts/show.sh' };
    for (const [tool, parameters] of [
      ['command-true', {}],
      ['skill__show', script],
    ] as const) {
      const shown = JSON.stringify((await run(session, tool, parameters))['result']);
      expect(shown).toMatch(/project_id.*p8.*unwritable/);
      // No documents, so no folder of them.
      expect(shown).toMatch(/\\n\.\\n/);
      const other = JSON.stringify((await run({ ...session, user_did: BOB.user_did }, tool, parameters))['result']);
      expect(other).toMatch(/\{\}.*unwritable/);
    }
    expect(await run(session, 'command-false')).toMatchObject({ result: 'unwritable\n.\n' });
  });

  test('EXT-04.1 a sandboxed function reads it as one of the embedding program does', async () => {
    expect(await run(session, 'module-true')).toMatchObject({ result: { project: 'p8' } });
    expect(await run({ ...session, session_id: 'session-9' }, 'module-true')).toMatchObject({
      result: { project: 'none' },
    });
    expect(JSON.stringify(await run(session, 'module-false'))).toContain('Add it to execution_config');
  });
});
