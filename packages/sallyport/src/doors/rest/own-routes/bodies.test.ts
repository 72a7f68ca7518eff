import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { KiB, MiB } from '@sallyport/std/bytes';
import { heldBytes } from '@sallyport/std/held-bytes';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { type RunningDoor, startRestDoor } from '../rest-door.fixture.ts';

let running: RunningDoor;
const sockets: Socket[] = [];

beforeEach(async () => {
  running = await startRestDoor({ bodiesBytesMax: 4 * MiB });
  running.layer.addTool(manifestOf('add'), () => 'added');
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  // After each refused request the door still works.
  expect((await running.ask('POST', '/v1/invocations', { tool_id: 'add' })).status).toBe(200);
  await running.door.close();
});

const CALL = '/v1/invocations';
const TOOLS = '/v1/tools';
const head = (path: string, more: string, token = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
  `${token === '' ? '' : `authorization: Bearer ${token}\r\n`}${more}\r\n\r\n`;

/**
 * Sends bytes and keeps the connection open; resolves with the answer once it matches `until`, or at the connection's
 * end.
 */
function send(bytes: string | Buffer, until: RegExp = /\r\n\r\n/): Promise<string> {
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
  sockets.push(socket);
  socket.write(bytes);
  return new Promise((resolve) => {
    let seen = '';
    socket.on('data', (part) => {
      seen += part;
      if (until.test(seen)) resolve(seen);
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(seen));
  });
}

it.each([
  ['without a token', ''],
  ['with one', 'agent'],
])('API-01 bodies of one-byte chunks from six connections %s cost no more than their size', async (_who, token) => {
  const bytes = Buffer.from(head(CALL, 'transfer-encoding: chunked', token) + '1\r\n \r\n'.repeat(1_000_000));
  const start = heldBytes();
  let most = 0;
  const answered = (answer: string): string => {
    most = Math.max(most, heldBytes() - start);
    return answer;
  };
  const answers = await Promise.all(Array.from({ length: 6 }, () => send(bytes).then(answered)));
  expect(most).toBeLessThan(2 * bytes.length);
  // The server may cut the connection while the client still sends; then the answer is lost.
  for (const answer of answers) expect(answer).toMatch(token === '' ? /^$|^HTTP\/1.1 401 / : /^$|^HTTP\/1.1 413 /);
  expect(running.layer.asked.filter(({ operation }) => operation === 'tools.invoke')).toEqual([]);
});

it('API-01 the extensions of chunks count as well', async () => {
  const chunk = `1;ext=${'A'.repeat(200)}\r\n \r\n`;
  const answer = await send(head(CALL, 'transfer-encoding: chunked', 'agent') + chunk.repeat(100_000));
  expect(answer).toMatch(/^$|^HTTP\/1.1 4(?:00|13) /);
  expect(running.layer.asked.filter(({ operation }) => operation === 'tools.invoke')).toEqual([]);
});

it('API-01 whoever brings no token, or a bad one, is answered before the body is there', async () => {
  for (const answer of await Promise.all([
    send(head(TOOLS, 'content-length: 100')),
    send(head(TOOLS, 'transfer-encoding: chunked')),
    send(head(TOOLS, 'content-length: 100000', 'stolen')),
    send(head(CALL, 'content-length: 100000')),
    send(head(CALL, 'content-length: 100000', 'stolen')),
  ])) {
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    expect(answer).toMatch(/www-authenticate/i);
  }
});

it('API-01 the connection of whoever was refused is cut, though the client would go on', async () => {
  expect(await send(head(TOOLS, 'content-length: 100'), /never/)).toMatch(/^HTTP\/1.1 401 /);
});

it('API-01 a refused body that has arrived is not taken for a silent client when the layer was busy', async () => {
  const length = 64 * KiB;
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
  sockets.push(socket);
  let seen = '';
  socket.on('data', (part) => {
    seen += part;
  });
  socket.write(head(TOOLS, `content-length: ${length}`));
  await expect.poll(() => seen).toMatch(/^HTTP\/1.1 401 /);
  // An immediate, after which timers come before what has arrived.
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      socket.write(' '.repeat(length));
      // Longer than a client may be silent.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
      resolve();
    });
  });
  socket.write(head(TOOLS, 'content-length: 0', 'agent'));
  await expect.poll(() => seen).toMatch(/HTTP\/1.1 401 .*HTTP\/1.1 /s);
});

it('API-01 a call may still carry its token in a small body, in chunks too', async () => {
  const body = JSON.stringify({ tool_id: 'add', capability_token: 'agent' });
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  expect(await send(head(CALL, `content-length: ${body.length}`) + body)).toMatch(/^HTTP\/1.1 200 /);
  expect(await send(head(CALL, 'transfer-encoding: chunked') + chunked)).toMatch(/^HTTP\/1.1 200 /);
});

it('API-01 a page of a foreign origin is refused before its body', async () => {
  const answer = await send(head(CALL, 'origin: https://evil.example\r\ncontent-length: 100000', 'agent'));
  expect(answer).toMatch(/^HTTP\/1.1 403 /);
});

it('API-01 bodies together have a bound; beyond it a length is refused at once, and room comes back', async () => {
  const large = head(CALL, `content-length: ${1 * MiB}`, 'agent');
  const waiting = [send(large, /never/), send(large, /never/), send(large, /never/)];
  await expect.poll(() => running.layer.asked.length).toBe(3);
  const full = await send(large);
  expect(full).toMatch(/^HTTP\/1.1 503 /);
  expect(full).toMatch(/retry-after: 1/i);
  expect(full).toContain('E3803');
  // Small bodies have a limit of their own, which is not reached.
  expect((await running.ask('POST', CALL, { tool_id: 'add' })).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await Promise.all(waiting);
  const parameters = { text: 'x'.repeat(500 * KiB) };
  const call = () => running.ask('POST', CALL, { tool_id: 'add', parameters });
  await expect.poll(async () => (await call()).status).toBe(200);
});

it('API-01 senders who are not known cannot take the room of those who are', async () => {
  for (let count = 0; count < 20; count += 1) void send(head(CALL, `content-length: ${64 * KiB}`), /never/);
  await sleep(100);
  expect((await running.ask('POST', CALL, { tool_id: 'add' })).status).toBe(200);
  expect(await send(head(CALL, `content-length: ${64 * KiB}`))).toMatch(/^HTTP\/1.1 401 /);
});

it('API-01 connections are kept, and requests that follow at once are answered in turn', async () => {
  const body = '{"tool_id":"add"}';
  const one = head(CALL, `content-length: ${body.length}`, 'agent') + body;
  const answer = await send(one.repeat(3), /(?:HTTP\/1.1 200 .*?){3}/s);
  expect(answer.match(/HTTP\/1.1 200 /g)?.length).toBe(3);
});
