import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer as createWebServer, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KiB, MiB } from '@sallyport/std/bytes';
import { afterEach, describe, expect, test } from 'vitest';
import { createEgressGate, type EgressBounds, type EgressOrder, type EgressRun } from './egress-gate.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server on the loopback, and its open connections. */
async function serve(onConnection: (socket: Socket) => void): Promise<{ port: number; open: Set<Socket> }> {
  const open = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, open };
}

const echo = (socket: Socket): void => void socket.pipe(socket);

interface Opened {
  readonly run: EgressRun;
  readonly path: string;
  readonly asked: string[];
}

/** Opens a gate at a unix socket. Every name resolves to the loopback. */
async function open(order: EgressOrder, bounds: Partial<EgressBounds> = {}): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'egress-gate-'));
  const path = join(folder, 'gate');
  const asked: string[] = [];
  const gate = createEgressGate({
    policy: { allowedAddresses: ['127.0.0.1'] },
    resolver: async (host) => {
      asked.push(host);
      return [host.startsWith('inner') ? '127.0.0.2' : '127.0.0.1'];
    },
    bounds,
  });
  const run = gate.open(order);
  await run.listenAt(path);
  closing.push(async () => {
    await run.close();
    rmSync(folder, { recursive: true });
  });
  return { run, path, asked };
}

const to = (port: number, host = 'a.test'): EgressOrder => ({ network: [{ host, port }] });

/** Sends bytes to the gate; resolves with the answer once the gate ends the connection. */
async function say(path: string, text: string, end = false): Promise<string> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on('error', () => {});
  let heard = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    heard += part;
  });
  socket.write(text);
  if (end) socket.end();
  await gone(socket);
  return heard;
}

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

/** Opens a tunnel; resolves once the tunnel is established. */
async function tunnel(path: string, target: string): Promise<Socket> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on('error', () => {});
  closing.push(() => socket.destroy());
  socket.write(`CONNECT ${target} HTTP/1.1\r\n\r\n`);
  await once(socket, 'readable');
  const answer = socket.read(ESTABLISHED.length) as Buffer | null;
  if (String(answer) !== ESTABLISHED) throw new Error(String(answer));
  return socket;
}

/** Resolves when the gate has ended a connection, in whatever way. */
async function gone(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => {});
  for (const event of ['end', 'close']) socket.once(event, () => resolve());
  socket.resume();
  if (socket.closed || socket.readableEnded) resolve();
  await promise;
  socket.destroy();
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(2);
};

describe('what is let through', () => {
  test('SBX-04.4 SBX-07.2 a tunnel to a granted address carries both ways, and both are counted', async () => {
    const { port } = await serve(echo);
    const { run, path } = await open(to(port));
    const heard = await say(path, `CONNECT a.test:${port} HTTP/1.1\r\nHost: x\r\n\r\nhello`, true);
    expect(heard).toBe('HTTP/1.1 200 Connection established\r\n\r\nhello');
    expect(run.usage()).toEqual({ bytesSent: 5, bytesReceived: 5, connections: 1, refused: 0, refusals: [] });
  });

  test('bytes that come piece by piece, and many of them, arrive whole', async () => {
    const { port } = await serve(echo);
    const { run, path } = await open(to(port));
    const socket = connect({ path, allowHalfOpen: true });
    for (const letter of `CONNECT a.test:${port} HTTP/1.1\r\n\r\n`) {
      socket.write(letter);
      await sleep(0);
    }
    await once(socket, 'data');
    let heard = 0;
    socket.on('data', (part: Buffer) => {
      heard += part.length;
    });
    socket.end(Buffer.alloc(8 * MiB));
    await once(socket, 'end');
    expect([heard, run.usage().bytesSent, run.usage().bytesReceived]).toEqual([8 * MiB, 8 * MiB, 8 * MiB]);
  });

  test('what comes back is what was sent, byte for byte, for a reader that stops and goes', async () => {
    const wanted = randomBytes(4 * MiB);
    const { port } = await serve((socket) => socket.end(wanted));
    const { path } = await open({ ...to(port), bandwidthMbps: 400 });
    const socket = await tunnel(path, `a.test:${port}`);
    const got: Buffer[] = [];
    for await (const part of socket) {
      got.push(part as Buffer);
      if (got.length % 7 === 0) await sleep(1);
    }
    expect(Buffer.concat(got).equals(wanted)).toBe(true);
  });

  test('a plain request is passed on without what was meant for the proxy', async () => {
    const web = createWebServer((asked, answer) =>
      answer.end(`${asked.url} ${asked.headers.host} ${asked.rawHeaders}`),
    );
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    closing.push(() => web.close());
    const { port } = web.address() as AddressInfo;
    const { path } = await open({ network: [{ host: '*', port: 0 }] });
    const asking = request({
      socketPath: path,
      path: `http://b.test:${port}/x?y`,
      headers: { Host: 'other', 'Proxy-Authorization': 'secret' },
    });
    asking.end();
    const [answer] = (await once(asking, 'response')) as [NodeJS.ReadableStream];
    let heard = '';
    for await (const part of answer) heard += String(part);
    expect(heard).toBe(`/x?y b.test:${port} Host,b.test:${port},Connection,close`);
  });

  test('the end of one direction leaves the other open', async () => {
    const { port } = await serve((socket) => {
      let got = '';
      socket.on('data', (part) => {
        got += String(part);
      });
      socket.on('end', () => setTimeout(() => socket.end(`got ${got}`), 20));
    });
    const { path } = await open(to(port));
    expect(await say(path, `CONNECT a.test:${port} HTTP/1.1\r\n\r\nall`, true)).toMatch(/got all$/);
  });
});

describe('what is refused', () => {
  test('SBX-04.1 other hosts, other ports, raw addresses and odd spellings lead nowhere', async () => {
    const { port, open: held } = await serve(echo);
    const { run, path, asked } = await open(to(port));
    const targets = [
      `b.test:${port}`,
      `sub.a.test:${port}`,
      `a.test:${port + 1}`,
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `2130706433:${port}`,
      `0x7f000001:${port}`,
      '169.254.169.254:80',
      'metadata.google.internal:80',
    ];
    for (const target of targets) {
      expect(await say(path, `CONNECT ${target} HTTP/1.1\r\n\r\n`), target).toMatch(/^HTTP\/1\.1 40[03] /);
    }
    expect(await say(path, `CONNECT a.test:0${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await say(path, `GET http://b.test:${port}/ HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403 /);
    expect(asked).toEqual([]);
    expect(held.size).toBe(0);
    expect(run.usage()).toMatchObject({ bytesSent: 0, bytesReceived: 0, refused: targets.length + 2 });
    expect(run.usage().refusals[0]).toEqual({
      target: { host: 'b.test', port },
      why: `b.test:${port} is not among the addresses that are granted`,
    });
  });

  test('SBX-04 a granted name that leads to an address which is not allowed is refused', async () => {
    const { port } = await serve(echo);
    const { path } = await open(to(port, 'inner.test'));
    expect(await say(path, `CONNECT inner.test:${port} HTTP/1.1\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 403 [\s\S]*127\.0\.0\.2/,
    );
  });

  test('a target that does not answer is told as such', async () => {
    const { port } = await serve(echo);
    for (const close of closing.splice(0)) await close();
    const { run, path } = await open(to(port));
    expect(await say(path, `CONNECT a.test:${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 502 [\s\S]*ECONNREFUSED/);
    expect(run.usage().refused).toBe(1);
  });

  test.each([
    ['a host that is none', { host: 'a b', port: 1 }],
    ['a host with a line break', { host: 'a\n10.0.0.1 b', port: 1 }],
    ['a port that is none', { host: 'a.test', port: 65_536 }],
  ])('SBX-04 a grant with %s is refused', (_, row) => {
    expect(() => createEgressGate().open({ network: [row] })).toThrow(expect.objectContaining({ code: 'E3104' }));
  });

  test('a policy that cannot be read is an error at once', () => {
    expect(() => createEgressGate({ policy: { deniedAddresses: ['10.0.0'] } })).toThrow(TypeError);
  });
});

describe('abuse', () => {
  test('SBX-04 a request that is too long, too slow, cut off or none at all is ended', async () => {
    const { port } = await serve(echo);
    const { run, path } = await open(to(port), { headBytesMax: 1 * KiB, headTimeoutMs: 50 });
    expect(await say(path, 'x'.repeat(64 * KiB))).toMatch(/^HTTP\/1\.1 400 [\s\S]*too long/);
    expect(await say(path, `CONNECT a.test:${port} HTTP/1.1\r\nX: ${'y'.repeat(2 * KiB)}\r\n\r\n`)).toMatch(/too long/);
    expect(await say(path, 'CONNECT a.test')).toMatch(/^HTTP\/1\.1 400 [\s\S]*too slow/);
    expect(await say(path, '')).toMatch(/too slow/);
    expect(await say(path, 'CONNECT a.test', true)).toBe('');
    expect(await say(path, '\x05\x01\x00\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect(await say(path, '\0\0\0\0\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    await run.close();
  });

  test('SBX-04 connections beyond the bound are reset, and the others go on', async () => {
    const { port, open: held } = await serve(echo);
    const { run, path } = await open(to(port), { connectionsMax: 8 });
    const first = await Promise.all(Array.from({ length: 8 }, () => tunnel(path, `a.test:${port}`)));
    const results = await Promise.all(Array.from({ length: 2000 }, () => say(path, 'CONNECT')));
    expect(new Set(results)).toEqual(new Set(['']));
    expect(held.size).toBe(8);
    const [socket] = first as [Socket];
    socket.write('still');
    expect(String((await once(socket, 'data'))[0])).toBe('still');
    expect(run.usage().refusals.length).toBeLessThanOrEqual(16);
    // The kernel refused the remaining connections before the gate saw them.
    expect(run.usage().refused).toBeGreaterThan(500);
  });

  test('a client that leaves while its target is looked up leaves nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'egress-gate-'));
    const { port, open: held } = await serve(echo);
    const { promise: answered, resolve: answer } = Promise.withResolvers<readonly string[]>();
    const gate = createEgressGate({ policy: { allowPrivate: true }, resolver: () => answered });
    const run = gate.open(to(port));
    await run.listenAt(join(folder, 'gate'));
    const socket = connect(join(folder, 'gate'));
    socket.write(`CONNECT a.test:${port} HTTP/1.1\r\n\r\n`);
    await until(() => run.usage().connections === 1);
    await sleep(5);
    socket.destroy();
    await once(socket, 'close');
    await sleep(5);
    answer(['127.0.0.1']);
    await sleep(20);
    // On a busy machine the gate may learn that the client left only after it received the address.
    await until(() => held.size === 0);
    await run.close();
    rmSync(folder, { recursive: true });
  });

  test('SBX-04 an idle connection and one that lasts too long are ended on both sides', async () => {
    for (const bounds of [{ idleTimeoutMs: 300 }, { connectionTimeoutMs: 300 }]) {
      const { port, open: held } = await serve(echo);
      const { path } = await open(to(port), bounds);
      const socket = await tunnel(path, `a.test:${port}`);
      await gone(socket);
      await until(() => held.size === 0);
    }
  });

  test('SBX-04 a sandbox that moves more than it may loses its way out', async () => {
    const { port, open: held } = await serve(echo);
    const { run, path } = await open(to(port), { bytesMax: 1 * MiB });
    const socket = await tunnel(path, `a.test:${port}`);
    socket.resume();
    socket.write(Buffer.alloc(4 * MiB));
    await gone(socket);
    await until(() => held.size === 0);
    const { bytesSent, bytesReceived, refusals } = run.usage();
    expect(bytesSent + bytesReceived).toBeLessThan(2 * MiB);
    expect(refusals[0]?.why).toContain('bytes');
    expect(await say(path, `CONNECT a.test:${port} HTTP/1.1\r\n\r\n`)).toBe('');
  });

  test('SBX-04 a sandbox that opens more connections than it may loses its way out', async () => {
    const { port } = await serve(echo);
    const { run, path } = await open(to(port), { connectionsTotalMax: 5 });
    for (let index = 0; index < 10; index += 1) await say(path, 'x', true);
    expect(run.usage().connections).toBe(5);
    expect(existsSync(path)).toBe(false);
  });

  test('a target that resets its connections resets nothing else', async () => {
    const { port } = await serve((socket) => void setTimeout(() => socket.resetAndDestroy(), 5));
    const { path } = await open(to(port));
    for (let index = 0; index < 5; index += 1) {
      expect(await say(path, `CONNECT a.test:${port} HTTP/1.1\r\n\r\nx`)).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  test('a client that reads nothing holds back its target, and no memory', async () => {
    const { port, open: held } = await serve((socket) => {
      const flood = (): void => {
        while (socket.writable && socket.write(Buffer.alloc(64 * KiB)));
      };
      socket.on('drain', flood);
      flood();
    });
    const { run, path } = await open(to(port));
    const socket = await tunnel(path, `a.test:${port}`);
    socket.pause();
    let seen = -1;
    while (run.usage().bytesReceived !== seen) {
      seen = run.usage().bytesReceived;
      await sleep(50);
    }
    expect(seen).toBeLessThan(16 * MiB);
    expect(held.size).toBe(1);
  });
});

describe('the end', () => {
  test('SBX-08 closing ends connections, listeners and files at once, and may be said twice', async () => {
    const { port, open: held } = await serve(echo);
    const { run, path } = await open(to(port));
    expect(statSync(path).isSocket()).toBe(true);
    const standing = await tunnel(path, `a.test:${port}`);
    const asking = connect(path);
    await until(() => run.usage().connections === 2);
    await Promise.all([run.close(), run.close(1000), gone(standing), gone(asking)]);
    await until(() => held.size === 0);
    expect(existsSync(path)).toBe(false);
    expect(run.usage().connections).toBe(2);
  });

  test('bytes that a tool wrote before its end may still leave', async () => {
    let got = 0;
    const { port } = await serve((socket) => {
      socket.on('data', (part: Buffer) => {
        got += part.length;
      });
      socket.on('end', () => socket.end());
    });
    const { run, path } = await open(to(port));
    const socket = await tunnel(path, `a.test:${port}`);
    socket.end(Buffer.alloc(1 * MiB));
    await once(socket, 'finish');
    await run.close(10_000);
    expect(got).toBe(1 * MiB);
  });

  test('a drain that never ends is cut', async () => {
    const { port } = await serve(() => {});
    const { run, path } = await open(to(port));
    const socket = await tunnel(path, `a.test:${port}`);
    await run.close(10);
    await gone(socket);
    expect(existsSync(path)).toBe(false);
  });
});
