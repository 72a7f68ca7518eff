import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { type McpServer, startMcpServer } from '../../mcp-transports/http/mcp-http.fixture.ts';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { type WaitingLayer, waitingLayer } from './waiting-layer.fixture.ts';

let server: McpServer;
let desk: WaitingLayer;
const logged: string[] = [];
const log = { ...silentLog, info: (event: string) => void logged.push(event) };

beforeEach(async () => {
  const made = waitingLayer(() => server.layer);
  desk = made;
  server = await startMcpServer({ keepAliveMs: 20 }, { confirmations: made, stateKey: Buffer.alloc(32, 7), log });
  made.install();
  server.layer.addTool(manifestOf('ask'), () => ({}));
});
afterEach(async () => {
  await server.close();
  logged.length = 0;
});

type Message = {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown> & { content?: { text: string }[] };
  error?: { code: number };
};
const YES = { action: 'accept', content: { confirm: true } };
const AGENT_B = { authorization: 'Bearer agent-b' };

/** Opens a session of the 2025 era whose client declares the capability `elicitation`, or none if it is null. */
async function session(elicitation: unknown = {}, headers: Record<string, string> = {}) {
  const capabilities = elicitation === null ? {} : { elicitation };
  const params = { protocolVersion: '2025-11-25', capabilities };
  const response = await server.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, headers);
  await response.body?.cancel();
  return { ...headers, 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
}

/** Makes a call and reads its messages one by one; comments of the event stream are left out. */
async function call(headers: Record<string, string>, n = 1, signal?: AbortSignal) {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer agent',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params: { name: 'ask', arguments: { n } } }),
    ...(signal === undefined ? {} : { signal }),
  });
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  const parts = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  return async (): Promise<Message> => {
    for (;;) {
      const end = isStream ? rest.indexOf('\n\n') : -1;
      if (end >= 0) {
        const data = /^data: (.*)$/m.exec(rest.slice(0, end))?.[1];
        rest = rest.slice(end + 2);
        if (data !== undefined) return JSON.parse(data);
        continue;
      }
      const { value, done } = (await parts?.read()) ?? { done: true };
      if (done) return isStream ? {} : JSON.parse(rest);
      rest += value ?? '';
    }
  };
}
const answer = (headers: Record<string, string>, id: unknown, result: unknown = YES) =>
  server.post({ jsonrpc: '2.0', id, result }, headers);
/** Makes the token `agent-b` that of another agent. */
const agentsDiffer = () =>
  server.layer.answers.set('tokens.inspect', (_input, { token }) => ({
    tenant_id: 'acme',
    agent_did: token === 'agent' ? 'did:example:a' : 'did:example:b',
    roles: ['agent'],
  }));
const textOf = ({ result }: Message): string => result?.content?.[0]?.text ?? '';

it('ORC-05 a client that answers twice has answered once', async () => {
  const headers = await session();
  const next = await call(headers);
  const { id, method } = await next();
  expect(method).toBe('elicitation/create');
  expect((await answer(headers, id, { action: 'decline' })).status).toBe(202);
  expect((await answer(headers, id)).status).toBe(202);
  expect(textOf(await next())).toContain('PolicyBlocked');
  expect(desk.answers.map(({ accepted }) => accepted)).toEqual([false]);
  expect(desk.ran).toEqual([]);
});

it('ORC-05 an invented answer, one of another session, and one with another id confirm nothing', async () => {
  agentsDiffer();
  const [headers, neighbour, stranger] = [await session(), await session(), await session({}, AGENT_B)];
  const next = await call(headers);
  const { id } = await next();
  await answer(neighbour, id);
  await answer(stranger, id);
  expect((await answer({ ...headers, ...AGENT_B }, id)).status).toBe(404);
  await answer(headers, 'ask-1');
  await answer(headers, 1);
  await answer(headers, [...desk.calls.keys()][0]);
  expect(desk.answers).toEqual([]);
  await answer(headers, id, { action: 'decline' });
  await next();
  expect(desk.ran).toEqual([]);
});

it('a client that said nothing of elicitation is asked nothing', async () => {
  for (const can of [null, { url: {} }, 'yes', []]) {
    const next = await call(await session(can));
    expect(textOf(await next())).toContain('[pending_approval]');
  }
  expect(desk.answers).toEqual([]);
});

it('a client that lies about elicitation is told that the call waits', async () => {
  const headers = await session();
  const next = await call(headers);
  const { id } = await next();
  const error = { code: -32601, message: 'Method not found' };
  await server.post({ jsonrpc: '2.0', id, error }, headers);
  expect(textOf(await next())).toContain('has not decided');
  expect([desk.answers, desk.ran]).toEqual([[], []]);
});

it.each([
  [null],
  ['yes'],
  [[YES]],
  [{ action: 'ACCEPT', content: { confirm: true } }],
  [{ action: 'accept', content: { confirm: 'true' } }],
  [{ action: 'accept', content: [true] }],
  [{ action: 'accept', content: { Confirm: true } }],
])('the answer %j is no approval', async (result) => {
  const headers = await session();
  const next = await call(headers);
  const { id } = await next();
  await answer(headers, id, result);
  await next();
  expect([desk.answers, desk.ran]).toEqual([[], []]);
});

it('a client that goes away while its user is asked leaves the call waiting, and a late answer changes nothing', async () => {
  const headers = await session();
  const gone = new AbortController();
  const next = await call(headers, 1, gone.signal);
  const { id } = await next();
  gone.abort();
  await next().catch(() => undefined);
  await expect.poll(() => logged).toEqual(['confirmation-not-answered']);
  await answer(headers, id);
  expect([...desk.calls.values()].map(({ response }) => response.status)).toEqual(['pending_approval']);
  expect([desk.answers, desk.ran]).toEqual([[], []]);
  const again = await call(headers);
  const { id: anew } = await again();
  expect(anew).not.toBe(id);
  await answer(headers, anew);
  expect((await again()).result).toMatchObject({ structuredContent: { ran: { n: 1 } } });
  expect([desk.calls.size, desk.ran.length]).toEqual([1, 1]);
});

it('a client that cancels its request has the question taken back', async () => {
  const headers = await session();
  const next = await call(headers);
  const { id } = await next();
  await server.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, headers);
  expect(await next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
  await answer(headers, id);
  expect(desk.ran).toEqual([]);
});

it('a session that ends while its user is asked ends the question', async () => {
  const headers = await session();
  const next = await call(headers);
  const { id } = await next();
  await fetch(server.url, { method: 'DELETE', headers: { authorization: 'Bearer agent', ...headers } });
  expect((await answer(headers, id)).status).toBe(404);
  expect([desk.answers, desk.ran]).toEqual([[], []]);
});

it('a stream that waits for a person is kept open, and the user who is silent is not asked for ever', async () => {
  await server.close();
  const made = waitingLayer(() => server.layer);
  desk = made;
  server = await startMcpServer({ keepAliveMs: 10, confirmationWaitMs: 60 }, { confirmations: made });
  made.install();
  server.layer.addTool(manifestOf('ask'), () => ({}));
  const headers = await session();
  const next = await call(headers);
  const { id } = await next();
  expect(await next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
  expect(textOf(await next())).toContain('has not decided');
  await answer(headers, id);
  expect([desk.answers, desk.ran]).toEqual([[], []]);
});

it('API-03 one holder with many waiting calls has its own forgotten, never those of another', async () => {
  await server.close();
  server = await startMcpServer({ waitingCallsMax: 3 }, { confirmations: desk });
  (desk as ReturnType<typeof waitingLayer>).install();
  server.layer.addTool(manifestOf('ask'), () => ({}));
  const waits = async (headers: Record<string, string>, n: number): Promise<number> => {
    await (await call(headers, n))();
    return desk.calls.size;
  };
  const far = await session(null, { authorization: 'Bearer agent-elsewhere' });
  expect(await waits(far, 1)).toBe(1);
  const own = await session(null);
  for (const n of [1, 2, 3, 4]) expect(await waits(own, n)).toBe(n + 1);
  expect(await waits(far, 1)).toBe(5);
  expect(await waits(own, 4)).toBe(5);
  expect(await waits(own, 1)).toBe(6);
});

it('a user is asked about one approval three times at most, however often the call is repeated', async () => {
  const headers = await session();
  for (let time = 0; time < 3; time += 1) {
    const next = await call(headers);
    await answer(headers, (await next()).id, { action: 'cancel' });
    expect(textOf(await next())).toContain('has not decided');
  }
  expect(textOf(await (await call(headers))())).not.toContain('has not decided');
  expect(desk.calls.size).toBe(1);
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};
async function modern(params: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Message> {
  const standard = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'ask' };
  const body = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'ask', _meta: META, ...params } };
  return (await (await server.post(body, { ...standard, ...headers })).json()) as Message;
}

it('ORC-05 a carried state counts for its holder and its call alone, and as it was given', async () => {
  const { result } = await modern({ arguments: { n: 1 } });
  expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
  const requestState = String(result?.['requestState']);
  const [key = ''] = Object.keys(result?.['inputRequests'] ?? {});
  const inputResponses = { [key]: YES };
  const refused = { error: { code: -32602 } };
  agentsDiffer();
  expect(await modern({ arguments: { n: 1 }, requestState, inputResponses }, AGENT_B)).toMatchObject(refused);
  expect(await modern({ arguments: { n: 2 }, requestState, inputResponses })).toMatchObject(refused);
  for (const forged of [
    '',
    'x',
    `${requestState}x`,
    requestState.slice(1),
    `${requestState}.${requestState}`,
    `${Buffer.from('[]').toString('base64url')}.${requestState.split('.')[1]}`,
  ])
    expect(await modern({ arguments: { n: 1 }, requestState: forged, inputResponses })).toMatchObject(refused);
  for (const other of [undefined, {}, { confirmation: YES }, { other: YES }, [YES], { [key]: { action: 'cancel' } }])
    expect(textOf(await modern({ arguments: { n: 1 }, requestState, inputResponses: other }))).toContain('not decided');
  expect([desk.answers, desk.ran]).toEqual([[], []]);
  const done = await modern({ arguments: { n: 1 }, requestState, inputResponses });
  expect(done).toMatchObject({ result: { structuredContent: { ran: { n: 1 } } } });
  const again = await modern({ arguments: { n: 1 }, requestState, inputResponses });
  expect(again).toMatchObject({ result: { structuredContent: { ran: { n: 1 } } } });
  expect(desk.ran).toEqual([{ n: 1 }]);
});
