// The tool, inside or beside the sandbox: reads orders, one JSON object a line, and answers with what it measured.
// It stands alone, since the sandbox shows it nothing but this folder.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

const [, , host = '', portText = ''] = process.argv;
const port = Number(portText);
const MS_PER_SECOND = 1000;
const WARM_UP = 20;
const BLOCK = Buffer.alloc(262_144, 'u');

export interface Order {
  readonly what: 'new' | 'kept' | 'down' | 'up';
  readonly ms: number;
}

/** Milliseconds at the median for `new` and `kept`, bytes a second for the others. */
export interface Answer {
  readonly value: number;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { what, ms } = JSON.parse(line) as Order;
  console.log(JSON.stringify({ value: await MEASURES()[what](ms) } satisfies Answer));
}

function MEASURES(): Readonly<Record<Order['what'], (ms: number) => Promise<number>>> {
  return { new: newConnections, kept: keptConnection, down: (ms) => flow('d', ms), up: (ms) => flow('u', ms) };
}

async function open(): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

async function exchange(socket: Socket): Promise<void> {
  socket.write('e');
  await once(socket, 'data');
}

function newConnections(ms: number): Promise<number> {
  return medianOf(ms, async () => {
    const socket = await open();
    await exchange(socket);
    socket.destroy();
  });
}

async function keptConnection(ms: number): Promise<number> {
  const socket = await open();
  const median = await medianOf(ms, () => exchange(socket));
  socket.destroy();
  return median;
}

async function medianOf(ms: number, once: () => Promise<void>): Promise<number> {
  for (let count = 0; count < WARM_UP; count += 1) await once();
  const times: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const began = performance.now();
    await once();
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

/** From the first byte on, so that the connection itself is no part of it. */
async function flow(direction: 'd' | 'u', ms: number): Promise<number> {
  const socket = await open();
  socket.on('error', () => {});
  let moved = 0;
  const began = performance.now();
  if (direction === 'd') {
    socket.on('data', (part) => {
      moved += part.length;
    });
    socket.write('d');
    await new Promise((resolve) => setTimeout(resolve, ms));
  } else {
    while (performance.now() - began < ms) {
      moved += BLOCK.length;
      if (!socket.write(BLOCK)) await once(socket, 'drain');
    }
  }
  const perSecond = moved / ((performance.now() - began) / MS_PER_SECOND);
  socket.destroy();
  return perSecond;
}
