import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { failureOf } from '../../domain/error/tool-layer-error.ts';
import { KiB, MiB } from '../../std/bytes.ts';
import { BODY_BOUNDS, readBody } from '../request-body.ts';

const BODY_BYTES_MAX = 1 * MiB;
const CONNECTIONS = 6;
const TOKEN = 'authorization: Bearer some.token.here\r\n';

let server: Server;
/** Ends of bodies: their bytes, or the code of the refusal. */
let ends: (number | string)[];
const sockets: Socket[] = [];

beforeEach(async () => {
  ends = [];
  server = createServer((request, response) => {
    const answer = (end: number | string): void => {
      ends.push(end);
      response.end(String(end));
    };
    readBody(request, BODY_BYTES_MAX).then(
      (body) => answer(body.length),
      (thrown: unknown) => answer(failureOf(thrown).code),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
  server.closeAllConnections();
});

/** Sends the head of a POST and waits until it can be written to. */
async function post(headers: string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(`POST / HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`);
  return socket;
}

/** Writes a text again and again, as long as somebody takes it. */
async function pour(socket: Socket, text: string, times: number): Promise<void> {
  const piece = Buffer.from(text.repeat(1024));
  for (let count = 0; count < times / 1024 && !socket.destroyed && socket.writable; count += 1) {
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close'), sleep(2_000)]);
  }
}

const held = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

test('bodies of one-byte chunks cost their bytes, not their chunks', async () => {
  const before = held();
  const open = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => post(`${TOKEN}transfer-encoding: chunked\r\n`)),
  );
  // A sixth of a body on the wire, so that none ends.
  await Promise.all(open.map((socket) => pour(socket, '1\r\nx\r\n', BODY_BYTES_MAX / 8)));
  await sleep(200);
  expect(ends).toEqual([]);
  // Each of the 800 000 pieces was once an object of some hundred bytes.
  expect(held() - before).toBeLessThan(40 * MiB);
  for (const socket of open) socket.write('0\r\n\r\n');
  while (ends.length < CONNECTIONS) await sleep(10);
  expect(ends).toEqual(Array.from({ length: CONNECTIONS }, () => BODY_BYTES_MAX / 8));
});

test.each([
  ['without a credential', '', 'E3212'],
  ['with one', TOKEN, 'E3810'],
])('what surrounds the bytes of a body is counted too, %s', async (_, headers, code) => {
  const socket = await post(`${headers}transfer-encoding: chunked\r\n`);
  await pour(socket, `1;extension=${'a'.repeat(200)}\r\nx\r\n`, 16 * KiB);
  while (ends.length === 0) await sleep(10);
  expect(ends).toEqual([code]);
});

test('a request without a credential is refused before its body, when that is large', async () => {
  const socket = await post(`content-length: ${BODY_BOUNDS.strangerBytesMax + 1}\r\n`);
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toContain('E3212');
  const small = await post(`content-length: ${BODY_BOUNDS.strangerBytesMax}\r\n`);
  small.write('x'.repeat(BODY_BOUNDS.strangerBytesMax));
  while (ends.length < 2) await sleep(10);
  expect(ends).toEqual(['E3212', BODY_BOUNDS.strangerBytesMax]);
});

test('PIPE-08 all bodies that are being received are bounded together, and small ones pass nevertheless', async () => {
  const count = BODY_BOUNDS.allBytesMax / BODY_BYTES_MAX + 4;
  const large = await Promise.all(
    Array.from({ length: count }, () => post(`${TOKEN}content-length: ${BODY_BYTES_MAX}\r\n`)),
  );
  for (const socket of large) {
    socket.write('x'.repeat(1 * KiB));
    await sleep(2);
    socket.write('x'.repeat(1 * KiB));
  }
  while (ends.length < 4) await sleep(10);
  expect(ends).toEqual(['E3803', 'E3803', 'E3803', 'E3803']);
  const small = await post(`${TOKEN}content-length: 2\r\n`);
  small.write('{}');
  while (ends.length < 5) await sleep(10);
  expect(ends.at(-1)).toBe(2);

  // What was held by connections that end is free again.
  for (const socket of large) socket.destroy();
  while (ends.length < count + 1) await sleep(10);
  const next = await post(`${TOKEN}content-length: 4\r\n`);
  next.write('12');
  await sleep(20);
  next.write('34');
  while (ends.at(-1) !== 4) await sleep(10);
});
