import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ClientAnswer } from '../../../domain/questions/client-question.ts';
import { META_CLIENT_CAPABILITIES, META_VERSION } from '../../mcp-protocol.ts';
import { type McpServer, startMcpServer } from '../../mcp-transports/http/mcp-http.fixture.ts';
import { manifestOf } from '../../tool-layer.fixture.ts';

type Body = { result?: Record<string, unknown>; error?: { code: number; data?: { e_code?: string } } };

const ID = 'one';
const FORM = { type: 'object', properties: { name: { type: 'string' } } };
/** The signal of the running call. */
let signal: AbortSignal | undefined;
let ended = 0;
let answers: ClientAnswer[] = [];
let server: McpServer;

beforeEach(() => start());
afterEach(() => server.close());

const whileAsking = <Answer>(wait: () => Promise<Answer>): Promise<Answer> => wait();

/** @param confirmationWaitMs how long a client may take until it repeats the request with the answers */
async function start(confirmationWaitMs = 60_000, waitingCallsMax = 100): Promise<void> {
  [signal, ended, answers] = [undefined, 0, []];
  const signalOf = (_tenant: string, id: string) => (id === ID ? signal : undefined);
  server = await startMcpServer({ confirmationWaitMs, waitingCallsMax }, { signalOf });
  const { ask } = server.gateway.clientAsker;
  server.layer.addTool(manifestOf('ask'), async ({ times = 1 }, caller) => {
    signal = caller.signal;
    caller.signal?.addEventListener('abort', () => (ended += 1));
    for (let turn = 0; turn < Number(times); turn += 1) {
      const about = {
        tenantId: 'acme',
        author: { kind: 'server' as const, name: 'crm' },
        invocationIds: [ID],
        whileAsking,
      };
      const form = { kind: 'elicitation' as const, mode: 'form' as const, requestedSchema: FORM };
      answers.push(
        await ask({ ...about, asked: { ...form, message: `Who ${turn}?` } }, caller.signal ?? AbortSignal.abort()),
      );
    }
    return { answers };
  });
}

/** Sends a tools/call of the 2026 era; `more` holds what a client adds when it repeats the request. */
async function call(args: object, more: object = {}, token = 'agent'): Promise<Body> {
  const _meta = { [META_VERSION]: '2026-07-28', [META_CLIENT_CAPABILITIES]: { elicitation: { form: {} } } };
  const params = { name: 'ask', arguments: args, _meta, ...more };
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'ask',
    authorization: `Bearer ${token}`,
  };
  const response = await server.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers);
  return (await response.json()) as Body;
}

/** What the client adds to its next request: the same answer to each question. */
function answering({ result }: Body, answer: object = { action: 'accept', content: { name: 'Ada' } }) {
  const { requestState, inputRequests = {} } = result as { requestState: string; inputRequests?: object };
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer]));
  return { requestState, inputResponses };
}

it('EXE-07 API-03.3 a call goes on from question to question, and its last request gets its result', async () => {
  const first = await call({ times: 2 });
  expect(first.result).toMatchObject({ resultType: 'input_required' });
  expect(JSON.stringify(first.result?.['inputRequests'])).toContain('The server crm asks; never give it a password');
  const second = await call({ times: 2 }, answering(first));
  expect(JSON.stringify(second.result?.['inputRequests'])).toContain('Who 1?');
  // The state of a round that is over answers nothing of the next one.
  expect((await call({ times: 2 }, answering(first))).error).toMatchObject({ code: -32602, data: { e_code: 'E3801' } });
  const last = await call({ times: 2 }, answering(second));
  expect(last.result).toMatchObject({ structuredContent: { answers: [{ result: { content: { name: 'Ada' } } }, {}] } });
  expect(server.layer.asked.filter(({ operation }) => operation === 'tools.invoke')).toHaveLength(1);
  const again = await call({ times: 2 }, answering(second));
  expect(JSON.stringify(again)).toContain('E3801');
});

it('EXE-07 a state is for its own holder, its own call and one request at a time', async () => {
  const first = await call({});
  const next = answering(first);
  server.layer.answers.set('tokens.inspect', (_input, { token }) => ({
    tenant_id: 'acme',
    agent_did: token === 'agent' ? 'did:example:a' : 'did:example:b',
    roles: ['agent'],
  }));
  expect(JSON.stringify(await call({}, next, 'agent-other'))).toContain('E3801');
  expect(JSON.stringify(await call({ times: 1 }, next))).toContain('E3801');
  expect(JSON.stringify(await call({}, { ...next, requestState: `${next.requestState}0` }))).toContain('E3801');
  expect(answers).toEqual([]);
  expect((await call({}, next)).result).toMatchObject({
    structuredContent: { answers: [{ result: { action: 'accept' } }] },
  });
});

it('EXE-07 a client that comes without an answer is asked again', async () => {
  const first = await call({});
  const again = await call({}, { requestState: answering(first).requestState });
  expect(again.result).toMatchObject({ resultType: 'input_required' });
  expect((await call({}, answering(again, { action: 'decline' }))).result).toMatchObject({
    structuredContent: { answers: [{ result: { action: 'decline' } }] },
  });
});

it('EXE-07 a client that does not come back leaves the question unanswered, and the call goes on without it', async () => {
  await server.close();
  await start(50);
  const first = await call({});
  await expect.poll(() => answers).toEqual([{ ended: 'the client did not answer' }]);
  expect(ended).toBe(0);
  expect(JSON.stringify(await call({}, answering(first)))).toContain('E3801');
});

it('EXE-07 where as many requests wait as may, the next one is not asked and goes on without an answer', async () => {
  await server.close();
  await start(60_000, 1);
  const first = await call({});
  expect(first.result).toMatchObject({ resultType: 'input_required' });
  expect((await call({ times: 1 })).result).toMatchObject({
    structuredContent: { answers: [{ unasked: expect.any(String) }] },
  });
  expect((await call({}, answering(first))).result).toMatchObject({ resultType: 'complete' });
  expect((await call({})).result).toMatchObject({ resultType: 'input_required' });
});

it('EXE-07 a request has 16 questions at once; one more ends without an answer', async () => {
  server.layer.addTool(manifestOf('many'), async (_given, caller) => {
    signal = caller.signal;
    const form = { kind: 'elicitation' as const, mode: 'form' as const, message: 'Who?', requestedSchema: FORM };
    const about = {
      tenantId: 'acme',
      author: { kind: 'server' as const, name: 'crm' },
      invocationIds: [ID],
      whileAsking,
    };
    const { clientAsker } = server.gateway;
    const asking = Array.from({ length: 17 }, () =>
      clientAsker.ask({ ...about, asked: form }, caller.signal ?? AbortSignal.abort()),
    );
    return { answered: (await Promise.all(asking)).map((each) => 'result' in each) };
  });
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'many' };
  const _meta = { [META_VERSION]: '2026-07-28', [META_CLIENT_CAPABILITIES]: { elicitation: {} } };
  const send = async (more: object) => {
    const params = { name: 'many', _meta, ...more };
    return (await (await server.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)).json()) as Body;
  };
  const asked = await send({});
  expect(Object.keys(asked.result?.['inputRequests'] as object)).toHaveLength(16);
  const { result } = await send(answering(asked));
  expect(result).toMatchObject({ structuredContent: { answered: [...Array(16).fill(true), false] } });
});

it('EXE-07 a client that goes away while it waits ends its call', async () => {
  const gone = new AbortController();
  server.layer.addTool(manifestOf('hold'), async (_given, caller) => {
    caller.signal?.addEventListener('abort', () => (ended += 1));
    await new Promise<void>((resolve) => caller.signal?.addEventListener('abort', () => resolve()));
  });
  const _meta = { [META_VERSION]: '2026-07-28', [META_CLIENT_CAPABILITIES]: { elicitation: {} } };
  const held = fetch(server.url, {
    method: 'POST',
    signal: gone.signal,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer agent',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'hold',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'hold', arguments: {}, _meta },
    }),
  });
  const running = () => server.layer.asked.some(({ input }) => (input as { tool_id?: string }).tool_id === 'hold');
  await expect.poll(running).toBe(true);
  gone.abort();
  await expect(held).rejects.toThrow();
  await expect.poll(() => ended).toBe(1);
});

it('API-03 progress and log messages after an answer go to the request that waits then, as that one asks for them', async () => {
  server.layer.addTool(manifestOf('report'), async (_given, caller) => {
    signal = caller.signal;
    const form = { kind: 'elicitation' as const, mode: 'form' as const, message: 'Who?', requestedSchema: FORM };
    const about = {
      tenantId: 'acme',
      author: { kind: 'server' as const, name: 'crm' },
      invocationIds: [ID],
      whileAsking,
    };
    await server.gateway.clientAsker.ask({ ...about, asked: form, key: 'who' }, caller.signal as AbortSignal);
    caller.onProgress?.({ progress: 1 });
    for (const level of ['info', 'error'] as const) caller.logs?.take({ level, data: level });
    return {};
  });
  const send = async (more: object, meta: object) => {
    const _meta = { [META_VERSION]: '2026-07-28', [META_CLIENT_CAPABILITIES]: { elicitation: {} }, ...meta };
    const params = { name: 'report', _meta, ...more };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'report' };
    return (await server.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)).text();
  };
  const level = (name: string) => ({ 'io.modelcontextprotocol/logLevel': name });
  const first = JSON.parse(await send({}, { progressToken: 'one', ...level('info') })) as Body;
  const answer = { inputResponses: { who: { action: 'decline' } }, requestState: first.result?.['requestState'] };
  const events = await send(answer, { progressToken: 'two', ...level('error') });
  const messages = [...events.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(String(data)) as object);
  expect(messages).toMatchObject([
    { method: 'notifications/progress', params: { progressToken: 'two' } },
    { method: 'notifications/message', params: { level: 'error' } },
    { result: { resultType: 'complete' } },
  ]);
});

it('API-03.3 an answer that came before its question is used once, and only for the question of its name', async () => {
  const early = { inputResponses: { who: { action: 'decline' }, other: { action: 'accept' } } };
  server.layer.addTool(manifestOf('twice'), async (_given, caller) => {
    signal = caller.signal;
    const form = { kind: 'elicitation' as const, mode: 'form' as const, message: 'Who?', requestedSchema: FORM };
    const about = {
      tenantId: 'acme',
      author: { kind: 'server' as const, name: 'crm' },
      invocationIds: [ID],
      whileAsking,
    };
    const ask = () =>
      server.gateway.clientAsker.ask({ ...about, asked: form, key: 'who' }, caller.signal as AbortSignal);
    return { first: await ask(), second: await ask() };
  });
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'twice' };
  const _meta = { [META_VERSION]: '2026-07-28', [META_CLIENT_CAPABILITIES]: { elicitation: {} } };
  const send = async (more: object) => {
    const params = { name: 'twice', _meta, ...more };
    return (await (await server.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)).json()) as Body;
  };
  const asked = await send(early);
  expect(Object.keys(asked.result?.['inputRequests'] as object)).toEqual(['who']);
  const { requestState } = asked.result as { requestState: string };
  const last = await send({ requestState, inputResponses: { who: { action: 'accept', content: { name: 'Ada' } } } });
  expect(last.result).toMatchObject({
    structuredContent: { first: { result: { action: 'decline' } }, second: { result: { action: 'accept' } } },
  });
});
