import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import type { Gateway } from '../../mcp-gateway/create-gateway.ts';
import { createLayerDouble, type LayerDouble, manifestOf } from '../../tool-layer.fixture.ts';
import { openTestGateway } from '../doors.fixture.ts';
import { serveStdio } from './serve-stdio.ts';

const never = new AbortController().signal;

type Message = { id?: unknown; method?: string; result?: Record<string, unknown>; error?: { code: number } };

let layer: LayerDouble;
let gateway: Gateway;
let input: PassThrough;
let output: PassThrough;
let served: Promise<void>;

beforeEach(() => {
  layer = createLayerDouble();
  layer.addTool(manifestOf('greet'), () => 'hello');
  const settings = { messageBytesMax: 1_000, closeGraceMs: 20, requestsMax: 2 };
  gateway = openTestGateway(layer, { settings: { changesTogetherMs: 1 } });
  input = new PassThrough();
  output = new PassThrough();
  const caller = { door: 'mcp', token: 'agent' } as const;
  served = serveStdio({ server: gateway.serverIn(), log: silentLog, input, output, caller, settings, signal: never });
});

afterEach(async () => {
  input.end();
  await served;
  gateway.close();
});

function say(message: object): void {
  input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

/** The next message from the server. */
async function heard(): Promise<Message> {
  let text = '';
  while (!text.endsWith('\n')) {
    const chunk = output.read(1);
    if (chunk === null) await new Promise((resolve) => output.once('readable', resolve));
    else text += String(chunk);
  }
  return JSON.parse(text);
}

/** All messages from the server until it ends. */
async function hearAll(): Promise<Message[]> {
  input.end();
  await served;
  return String(output.read() ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

it('serves a handshake and calls, one message a line', async () => {
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
  expect(await heard()).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
  say({ method: 'notifications/initialized' });
  say({ id: 2, method: 'tools/call', params: { name: 'greet' } });
  expect(await heard()).toMatchObject({ id: 2, result: { content: [{ text: 'hello' }] } });
});

it('serves the 2026 era on the same pipe', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  say({ id: 'd', method: 'server/discover', params: { _meta } });
  expect(await heard()).toMatchObject({ id: 'd', result: { resultType: 'complete' } });
  say({ id: 'l', method: 'subscriptions/listen', params: { _meta, notifications: { toolsListChanged: true } } });
  expect(await heard()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  layer.addTool(manifestOf('fresh'), () => 'fresh');
  layer.notifyToolsChanged();
  expect(await heard()).toMatchObject({ method: 'notifications/tools/list_changed' });
  say({ id: 'x', method: 'server/discover', params: {} });
  expect(await heard()).toMatchObject({ id: 'x', error: { code: -32602 } });
  expect(await hearAll()).toMatchObject([{ id: 'l', result: { resultType: 'complete' } }]);
});

it('goes on after lines that cannot be read', async () => {
  for (const line of ['{', '[]', `"${'x'.repeat(2_000)}"`, '', '\r', '{"jsonrpc":"2.0","id":{},"method":"ping"}']) {
    input.write(`${line}\n`);
  }
  const codes = [await heard(), await heard(), await heard(), await heard()].map((message) => message.error?.code);
  expect(codes).toEqual([-32700, -32600, -32600, -32600]);
  say({ id: 1, method: 'ping' });
  expect(await heard()).toMatchObject({ id: 1, result: {} });
});

it('VAL-06.6 a request that is refused for a member is answered with its id; an answer of a client has none', async () => {
  input.write('{"jsonrpc":"2.0","id":"own","method":"ping","params":{"a":1,"a":2}}\n');
  input.write('{"jsonrpc":"2.0","id":"own","method":"ping","params":{"__proto__":{}}}\n');
  input.write('{"jsonrpc":"2.0","id":"own","result":{"a":1,"a":2}}\n');
  const answers = [await heard(), await heard(), await heard()];
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    ['own', -32600],
    ['own', -32600],
    [null, -32600],
  ]);
});

it('reads a message that comes in pieces, and a last one without a newline', async () => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  for (const character of text) input.write(character);
  input.write('\n');
  expect(await heard()).toMatchObject({ id: 1 });
  input.write(text);
  expect(await hearAll()).toMatchObject([{ id: 1, result: {} }]);
});

it('says nothing more of a call that was cancelled', async () => {
  const started = Promise.withResolvers<void>();
  layer.addTool(manifestOf('wait'), async (_parameters, { signal }) => {
    started.resolve();
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    return 'too late';
  });
  say({ id: 1, method: 'tools/call', params: { name: 'wait' } });
  await started.promise;
  say({ method: 'notifications/cancelled', params: { requestId: 1 } });
  say({ id: 2, method: 'ping' });
  expect(await hearAll()).toMatchObject([{ id: 2 }]);
});

it('ends calls that still run a while after the client has closed its end', async () => {
  layer.addTool(manifestOf('wait'), (_parameters, { signal }) => {
    return new Promise((resolve) => signal?.addEventListener('abort', () => resolve('stopped')));
  });
  say({ id: 1, method: 'tools/call', params: { name: 'wait' } });
  expect(await hearAll()).toEqual([]);
});

it('reads no further while as many requests run as may', async () => {
  const finish = Promise.withResolvers<string>();
  layer.addTool(manifestOf('wait'), () => finish.promise);
  for (const id of [1, 2, 3]) say({ id, method: 'tools/call', params: { name: 'wait' } });
  await new Promise((resolve) => setImmediate(resolve));
  expect(layer.asked).toHaveLength(2);
  finish.resolve('done');
  expect((await hearAll()).map((message) => message.id)).toEqual([1, 2, 3]);
});

it('MOD-11 serves the meta-tools where the client chose them', async () => {
  input.end();
  await served;
  [input, output] = [new PassThrough(), new PassThrough()];
  const caller = { door: 'mcp', token: 'agent' } as const;
  served = serveStdio({ server: gateway.serverIn('meta'), log: silentLog, input, output, caller, signal: never });
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
  expect(await heard()).toMatchObject({ id: 1, result: { capabilities: { tools: {} } } });
  say({ id: 2, method: 'tools/call', params: { name: 'call_tool', arguments: { name: 'greet' } } });
  expect(await heard()).toMatchObject({ id: 2, result: { content: [{ text: 'hello' }] } });
});

it('a session is told of changes after its handshake, and nobody before', async () => {
  layer.notifyToolsChanged();
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
  expect(await heard()).toMatchObject({ id: 1 });
  layer.addTool(manifestOf('fresh'), () => 'fresh');
  layer.notifyToolsChanged();
  expect(await heard()).toMatchObject({ method: 'notifications/tools/list_changed' });
});

it('a subscription that its client cancelled is told nothing more', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  say({ id: 'l', method: 'subscriptions/listen', params: { _meta, notifications: { toolsListChanged: true } } });
  expect(await heard()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  say({ method: 'notifications/cancelled', params: { requestId: 'l' } });
  say({ id: 1, method: 'ping' });
  expect(await heard()).toMatchObject({ id: 1 });
  layer.notifyToolsChanged();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await hearAll()).toEqual([]);
});

it('API-03.8 a second subscription of an id that is subscribed is refused, and the first one goes on', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const listen = {
    id: 'l',
    method: 'subscriptions/listen',
    params: { _meta, notifications: { toolsListChanged: true } },
  };
  say(listen);
  expect(await heard()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  say(listen);
  expect(await heard()).toMatchObject({ id: 'l', error: { code: -32600 } });
  layer.addTool(manifestOf('fresh'), () => 'fresh');
  layer.notifyToolsChanged();
  expect(await heard()).toMatchObject({ method: 'notifications/tools/list_changed' });
});

it('a question to the client goes out on the pipe, and its answer is read though as many requests run as may', async () => {
  const can = { capabilities: { elicitation: {} } };
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', ...can } });
  await heard();
  const signals: AbortSignal[] = [];
  layer.addTool(manifestOf('ask'), async (_parameters, { signal }) => {
    signals.push(signal as AbortSignal);
    const author = { kind: 'server' as const, name: 'u' };
    const question = { tenantId: 'acme', author, invocationIds: [String(signals.length - 1)] };
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
    const whileAsking = <Answer>(wait: () => Promise<Answer>): Promise<Answer> => wait();
    const asked = { kind: 'elicitation' as const, mode: 'form' as const, message: 'Who?', requestedSchema };
    return asking.clientAsker.ask({ ...question, asked, whileAsking }, new AbortController().signal);
  });
  const asking = openTestGateway(layer, { signalOf: (_tenantId, id) => signals[Number(id)] });
  gateway.close();
  input.end();
  await served;
  [input, output, gateway] = [new PassThrough(), new PassThrough(), asking];
  const caller = { door: 'mcp', token: 'agent' } as const;
  served = serveStdio({
    server: gateway.serverIn(),
    log: silentLog,
    input,
    output,
    caller,
    signal: never,
    settings: { requestsMax: 2 },
  });
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', ...can } });
  await heard();
  say({ id: 2, method: 'tools/call', params: { name: 'ask' } });
  say({ id: 3, method: 'tools/call', params: { name: 'ask' } });
  const [one, two] = [await heard(), await heard()];
  expect([one.method, two.method]).toEqual(['elicitation/create', 'elicitation/create']);
  say({ id: two.id, result: { action: 'accept', content: { name: 'Bob' } } });
  expect(await heard()).toMatchObject({
    id: 3,
    result: { structuredContent: { result: { content: { name: 'Bob' } } } },
  });
  say({ id: one.id, result: { action: 'decline' } });
  say({ id: one.id, result: { action: 'accept', content: { name: 'Eve' } } });
  expect(await heard()).toMatchObject({ id: 2, result: { structuredContent: { result: { action: 'decline' } } } });
  expect(await hearAll()).toEqual([]);
});
