import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { fastify } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Gateway } from '../mcp-gateway/create-gateway.ts';
import { mountTestMcp, openTestDoor, openTestGateway } from '../mcp-transports/doors.fixture.ts';
import { createLayerDouble, manifestOf } from '../tool-layer.fixture.ts';
import type { RestDoor } from './create-rest-door.ts';
import { createDirectPosts } from './direct-posts.ts';

/** With a query a request is handled by the framework's router, and otherwise in the same way. */
const ROUTED = '?way=routed';

const layer = createLayerDouble();
layer.addTool(manifestOf('add'), ({ a, b }) => ({ sum: Number(a) + Number(b) }));
let door: RestDoor;
let gateway: Gateway;
let url: string;
let routed: number;

beforeEach(async () => {
  door = openTestDoor(layer, { settings: { bodyBytesMax: 2_000 } });
  gateway = openTestGateway(layer);
  mountTestMcp(door.app, { path: '/mcp', serverOf: gateway.serverOf, direct: door.direct });
  routed = 0;
  door.app.addHook('onRequest', async () => {
    routed += 1;
  });
  url = await door.listen(0);
});

afterEach(async () => {
  await door.close();
  gateway.close();
});

const CALL = { tool_id: 'add', invocation_id: 'call-a', parameters: { a: 1, b: 2 } };

test.each([
  ['a call', '/v1/invocations', JSON.stringify(CALL)],
  ['a call of a tool that there is not', '/v1/invocations', '{"tool_id":"none","invocation_id":"call-b"}'],
  ['a call that is not well formed', '/v1/invocations', '{"tool_id":7}'],
  ['a body that is not JSON', '/v1/invocations', '{"tool_id":'],
  ['a body that is no object', '/v1/invocations', '[]'],
  ['no body', '/v1/invocations', ''],
  ['a body that is too large', '/v1/invocations', `"${'x'.repeat(3_000)}"`],
  ['an MCP ping without a session', '/mcp', '{"jsonrpc":"2.0","id":1,"method":"ping"}'],
  ['an MCP message that is not JSON', '/mcp', '{'],
])('%s is answered alike with and without the framework', async (_what, path, body) => {
  const post = async (address: string) => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer agent' };
    const response = await fetch(address, { method: 'POST', body, headers });
    const { date: _, ...sent } = Object.fromEntries(response.headers);
    return { status: response.status, headers: sent, body: await response.text() };
  };
  const direct = await post(url + path);
  expect(routed).toBe(0);
  expect(await post(url + path + ROUTED)).toEqual(direct);
  expect(routed).toBe(1);
});

test.each([
  ['application/json', 0],
  ['application/json; charset=utf-8', 0],
  ['application/json;charset=UTF-8', 0],
  ['Application/JSON', 0],
  ['application/json; charset=utf-16', 1],
  ['application/json; charset=utf-8; profile=x', 1],
  ['application/jsonp', 1],
  ['text/plain', 1],
])('a body of the type %s is answered alike with and without the framework', async (type, ways) => {
  const post = async (address: string) => {
    const headers = { 'content-type': type, authorization: 'Bearer agent' };
    const body = JSON.stringify({ ...CALL, parameters: { a: 1, b: 2, note: 'é𝄞' } });
    const response = await fetch(address, { method: 'POST', body, headers });
    return { status: response.status, body: await response.text() };
  };
  const direct = await post(`${url}/v1/invocations`);
  expect(routed).toBe(ways);
  expect(await post(`${url}/v1/invocations${ROUTED}`)).toEqual(direct);
});

test.each([
  ['a host that is not served', 'host: evil.example\r\n', 403],
  ['a page of a foreign origin', 'host: localhost\r\norigin: https://evil.example\r\n', 403],
  ['two credentials', 'host: localhost\r\nauthorization: Bearer agent\r\nx-api-key: k\r\n', 400],
])('%s is refused before anything is asked', async (_what, headers, status) => {
  const asked = layer.asked.length;
  for (const path of ['/v1/invocations', '/mcp']) {
    const answer = await raw(
      `POST ${path} HTTP/1.1\r\n${headers}content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  }
  expect(layer.asked).toHaveLength(asked);
});

test('OPS-03 what comes on a busy connection while the door stops is refused by the door itself', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  layer.addTool(manifestOf('wait'), () => {
    begin();
    return released;
  });
  const request = (toolId: string): string => {
    const body = JSON.stringify({ tool_id: toolId });
    const head = 'host: localhost\r\nauthorization: Bearer agent\r\ncontent-type: application/json\r\n';
    return `POST /v1/invocations HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body}`;
  };
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const all = text(socket);
  socket.write(request('wait'));
  await begun;
  const arrived = new Promise((resolve) => door.app.server.once('request', () => setImmediate(resolve)));
  const closed = door.close();
  socket.write(request('add'));
  await arrived;
  release();
  expect((await all).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503']);
  expect(await all).toMatch(/connection: close.*"e_code":"E3811"/is);
  await closed;
});

test('a request whose answer fails is not left open', async () => {
  const app = fastify();
  const direct = createDirectPosts(
    app,
    () => true,
    () => true,
  );
  direct.add('/broken', () => Promise.reject(new Error('broken')));
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  const headers = { 'content-type': 'application/json' };
  await expect(fetch(`${address}/broken`, { method: 'POST', body: '{}', headers })).rejects.toThrow();
  await app.close();
});

/** Sends bytes over a socket; resolves with all bytes of the answer. */
function raw(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}
