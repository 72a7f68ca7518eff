import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { type McpServer, startMcpServer } from '../http/mcp-http.fixture.ts';
import { relayStdio } from './relay-stdio.ts';

type Message = { id?: unknown; method?: string; result?: Record<string, unknown>; error?: { code: number } };

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const never = new AbortController().signal;

let server: McpServer;
let input: PassThrough;
let output: PassThrough;
let relayed: Promise<void>;
let heard: AsyncIterator<Message>;

beforeEach(async () => {
  server = await startMcpServer({ changesTogetherMs: 1 });
  server.layer.addTool(manifestOf('greet'), () => 'hello');
  input = new PassThrough();
  output = new PassThrough();
  heard = messages(output);
  const settings = { messageBytesMax: 1_000, closeGraceMs: 50, requestsMax: 2 };
  relayed = relayStdio({
    url: new URL(server.url),
    token: 'agent',
    log: silentLog,
    input,
    output,
    settings,
    signal: never,
  });
});
afterEach(async () => {
  input.end();
  await relayed;
  await server.close();
});

async function* messages(stream: PassThrough): AsyncGenerator<Message> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}

const next = async (): Promise<Message> => (await heard.next()).value;
const say = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function shakeHands(): Promise<void> {
  const clientInfo = { name: 'test', version: '1.0.0' };
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  expect(await next()).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
  say({ method: 'notifications/initialized' });
}

/** A tool that reports progress once and runs until it is cancelled. */
function waitingTool() {
  const cancelled = Promise.withResolvers<void>();
  server.layer.addTool(manifestOf('wait'), async (_parameters, { signal, onProgress }) => {
    onProgress?.({ progress: 1 });
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    cancelled.resolve();
    return 'too late';
  });
  return cancelled.promise;
}

it('passes a handshake and calls to the endpoint, and their answers back', async () => {
  await shakeHands();
  say({ id: 2, method: 'tools/call', params: { name: 'greet', arguments: {} } });
  expect(await next()).toMatchObject({ id: 2, result: { content: [{ text: 'hello' }] } });
  say({ id: 'three', method: 'tools/list' });
  expect(await next()).toMatchObject({ id: 'three', result: { tools: [{ name: 'greet' }] } });
});

it.each([
  ['2025', {}],
  ['2026', META],
])('progress comes back and a cancel goes through, in the %s era', async (era, envelope) => {
  if (era === '2025') await shakeHands();
  const cancelled = waitingTool();
  const _meta = { ...envelope, progressToken: 'p' };
  say({ id: 7, method: 'tools/call', params: { name: 'wait', arguments: {}, _meta } });
  expect(await next()).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'p' } });
  say({ method: 'notifications/cancelled', params: { requestId: 7, ...(era === '2026' ? { _meta: META } : {}) } });
  await cancelled;
  say({ id: 8, method: 'tools/call', params: { name: 'greet', arguments: {}, _meta: envelope } });
  expect(await next()).toMatchObject({ id: 8, result: { content: [{ text: 'hello' }] } });
});

it('changes are told, in the 2026 era too', async () => {
  const params = { _meta: META, notifications: { toolsListChanged: true } };
  say({ id: 'l', method: 'subscriptions/listen', params });
  expect(await next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  server.layer.addTool(manifestOf('fresh'), () => 'fresh');
  server.layer.notifyToolsChanged();
  expect(await next()).toMatchObject({ method: 'notifications/tools/list_changed' });
});

it.each([
  ['2025', undefined],
  ['2026', META],
])('API-03 an unknown method is answered as the endpoint answers it, in the %s era', async (era, _meta) => {
  if (era === '2025') await shakeHands();
  say({ id: 'odd', method: 'no/such', params: { _meta } });
  expect(await next()).toMatchObject({ id: 'odd', error: { code: -32601 } });
  say({ id: 9, method: 'tools/call', params: { name: 'greet', arguments: {}, _meta } });
  expect(await next()).toMatchObject({ id: 9, result: { content: [{ text: 'hello' }] } });
});

it('API-03 an open subscription does not keep the relay once its client is gone', async () => {
  const [own, said] = [new PassThrough(), new PassThrough()];
  // A grace period longer than the test may take.
  const settings = { closeGraceMs: 600_000 };
  const relay = relayStdio({
    url: new URL(server.url),
    token: 'agent',
    log: silentLog,
    input: own,
    output: said,
    settings,
    signal: never,
  });
  const params = { _meta: META, notifications: { toolsListChanged: true } };
  own.write(`${JSON.stringify({ jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params })}\n`);
  const told = (await messages(said).next()).value;
  expect(told).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  own.end();
  await relay;
});

it('VAL-06.6 VAL-06.7 a request that is refused for a member or a number is answered with its id', async () => {
  for (const params of ['{"name":"a","name":"b"}', '{"__proto__":{}}', '{"arguments":{"n":9007199254740993}}'])
    input.write(`{"jsonrpc":"2.0","id":"own","method":"tools/call","params":${params}}\n`);
  const answers = [await next(), await next(), await next()];
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    ['own', -32600],
    ['own', -32600],
    ['own', -32602],
  ]);
});

it('goes on after lines that cannot be read, and refuses more than may run', async () => {
  for (const line of ['{', '[]', `"${'x'.repeat(2_000)}"`, '{"jsonrpc":"2.0","id":{},"method":"ping"}'])
    input.write(`${line}\n`);
  const codes = [await next(), await next(), await next(), await next()].map(({ error }) => error?.code);
  expect(codes).toEqual([-32700, -32600, -32600, -32600]);
  await shakeHands();
  const cancelled = waitingTool();
  for (const id of [11, 12, 12]) say({ id, method: 'tools/call', params: { name: 'wait', arguments: {} } });
  expect(await next()).toMatchObject({ id: 12, error: { code: -32600 } });
  input.end();
  await cancelled;
});

it('an endpoint that is gone leaves no request without an answer', async () => {
  await shakeHands();
  await server.close();
  say({ id: 2, method: 'tools/list' });
  expect(await next()).toMatchObject({ id: 2, error: { code: -32603 } });
});

it.each([
  ['notifications', (at: number) => ({ method: 'notifications/roots/list_changed', params: { at } })],
  ['answers to questions', (at: number) => ({ id: `q${at}`, result: {} })],
])('API-03 %s count against the bound of what is under way, as requests do', async (_what, messageOf) => {
  const held: ServerResponse[] = [];
  const all = Promise.withResolvers<void>();
  let [most, seen] = [0, 0];
  const slow = createServer(async (request, response) => {
    request.resume();
    held.push(response);
    most = Math.max(most, held.length);
    seen += 1;
    if (seen === 20) all.resolve();
    // Slow enough that all requests sent at the same time have arrived by then.
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    held.splice(held.indexOf(response), 1);
    response.writeHead(202).end();
  });
  slow.listen(0, '127.0.0.1');
  await once(slow, 'listening');
  const [from, to] = [new PassThrough(), new PassThrough()];
  const url = new URL(`http://127.0.0.1:${(slow.address() as AddressInfo).port}/mcp`);
  const settings = { requestsMax: 2 };
  const done = relayStdio({ url, token: 'agent', log: silentLog, input: from, output: to, settings, signal: never });
  const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
  from.write(Array.from({ length: 20 }, (_, at) => line(messageOf(at))).join(''));
  await all.promise;
  from.end();
  await done;
  slow.close();
  expect({ most, seen }).toEqual({ most: 2, seen: 20 });
});
