import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '../../mcp-gateway/create-gateway.ts';
import { mountTestMcp, openTestGateway } from '../../mcp-transports/doors.fixture.ts';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { type RunningDoor, startRestDoor } from '../rest-door.fixture.ts';

let running: RunningDoor;
let gateway: Gateway;

beforeEach(async () => {
  running = await startRestDoor({}, (door, layer) => {
    gateway = openTestGateway(layer);
    mountTestMcp(door.app, { path: '/mcp', serverOf: gateway.serverOf, direct: door.direct });
  });
  running.layer.addTool(manifestOf('add'), () => 'added');
});
afterEach(async () => {
  await running.door.close();
  gateway.close();
});

const CALL = '{"tool_id":"add"}';
const PING = '{"jsonrpc":"2.0","id":1,"method":"server/discover"}';

/** Sends a POST request; without a query it is handled before the framework. */
const post = (target: string, body: string, hosts: readonly string[], more = '') =>
  running.raw(
    `POST ${target} HTTP/1.1\r\n${hosts.map((host) => `host: ${host}\r\n`).join('')}${more}authorization: Bearer agent\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );

describe.each([
  ['REST, past the framework', '/v1/invocations', CALL],
  ['REST, through the framework', '/v1/invocations?way=routed', CALL],
  ['MCP, past the framework', '/mcp', PING],
  ['MCP, through the framework', '/mcp?way=routed', PING],
])('%s', (_way, path, body) => {
  it.each([
    ['twice ours', ['localhost', 'localhost']],
    ['ours, then a foreign one', ['localhost', 'evil.example']],
    ['a foreign one, then ours', ['evil.example', 'localhost']],
  ])('API-01 two Host headers are refused: %s', async (_what, hosts) => {
    const answer = await post(path, body, hosts);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('application/problem+json');
    expect(answer).toContain('more than one Host');
    expect(running.layer.asked).toEqual([]);
  });

  it.each([
    ['a foreign name, with our Host', 'http://evil.example', 'localhost'],
    ['a foreign name, with the same Host', 'http://evil.example', 'evil.example'],
    ['another of our names', 'http://127.0.0.1', 'localhost'],
    ['our name behind another user', 'http://evil@localhost', 'localhost'],
    ['another port', 'http://localhost:81', 'localhost'],
    ['another scheme', 'ftp://localhost', 'localhost'],
  ])('API-01 an absolute target is refused when it names %s', async (_what, origin, host) => {
    const answer = await post(origin + path, body, [host]);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('E3801');
    expect(running.layer.asked).toEqual([]);
  });

  it('API-01 an absolute target that names what Host names is answered as any other', async () => {
    const plain = await post(path, body, ['LOCALHOST:7070']);
    const absolute = await post(`http://localhost:7070${path}`, body, ['LOCALHOST:7070']);
    expect(absolute.split('\r\n')[0]).toBe(plain.split('\r\n')[0]);
    expect(plain).not.toMatch(/host|target/);
  });
});

it('API-01 a GET with two Host headers or a foreign absolute target is refused too', async () => {
  const end = 'connection: close\r\n\r\n';
  expect(await running.raw(`GET /readyz HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n${end}`)).toMatch(/ 400 /);
  expect(await running.raw(`GET http://evil.example/readyz HTTP/1.1\r\nhost: localhost\r\n${end}`)).toMatch(/ 400 /);
  expect(await running.raw(`GET http://localhost/readyz HTTP/1.1\r\nhost: localhost\r\n${end}`)).toMatch(/ 200 /);
});
