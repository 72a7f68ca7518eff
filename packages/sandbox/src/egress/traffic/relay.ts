// Hot path: every byte of every sandbox passes here.
import type { Socket } from 'node:net';
import type { Upstream } from './dial.ts';

/** Called for every chunk. @returns milliseconds to wait before more is read */
export type Count = (bytes: number) => number;

/** How two sockets are joined. */
export interface RelayOptions {
  readonly sent: Count;
  readonly received: Count;
  readonly idleTimeoutMs: number;
}

/**
 * Relays bytes in both directions until both ends are done: the end of one side ends only the other's input, an error
 * or a reset destroys both. Both sockets allow half-open connections and have an `error` listener.
 */
export function relay(client: Socket, upstream: Upstream, { sent, received, idleTimeoutMs }: RelayOptions): void {
  const { socket, reader } = upstream;
  const send = valve(client, socket, sent);
  client.on('data', (part: Buffer) => {
    if (!send(part)) client.pause();
  });
  reader.deliverTo(client, valve(socket, client, received));
  for (const from of [client, socket]) {
    // It may have ended before anybody listened; a socket of the other kind continues.
    if (from.readableEnded) (from === client ? socket : client).end();
    else from.resume();
  }
  // All traffic passes through the client.
  client.setTimeout(idleTimeoutMs, () => {
    client.destroy();
    socket.destroy();
  });
}

/**
 * One direction. @returns a function that takes its chunks, and says whether more may come at once; it resumes `from`
 * by itself
 */
function valve(from: Socket, to: Socket, count: Count): (part: Buffer) => boolean {
  let timer: NodeJS.Timeout | undefined;
  const go = (): void => {
    if (timer === undefined && !to.writableNeedDrain) from.resume();
  };
  to.on('drain', go);
  from.on('end', () => to.end());
  from.on('close', () => {
    clearTimeout(timer);
    if (!isDone(to)) to.destroy();
  });
  return (part) => {
    const waitMs = count(part.length);
    // Counting may have closed the connection.
    if (to.destroyed) return false;
    const hasRoom = to.write(part);
    if (waitMs > 0) {
      timer = setTimeout(() => {
        timer = undefined;
        go();
      }, waitMs);
    }
    return hasRoom && waitMs === 0;
  };
}

/** True when it ends by itself: both directions are over, or the rest is being sent. */
const isDone = (socket: Socket): boolean => socket.destroyed || (socket.readableEnded && socket.writableEnded);
