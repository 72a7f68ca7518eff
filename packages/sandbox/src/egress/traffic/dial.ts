import { Socket } from 'node:net';
import { type DirectReader, directReader } from './direct-reader.ts';

/** A connection to an outside address. */
export interface Upstream {
  readonly socket: Socket;
  /** Its bytes arrive here, not as events. */
  readonly reader: DirectReader;
}

/**
 * Connects to the first address that answers. Addresses are literals, so nothing is looked up here.
 * @param timeoutMs for each address
 * @throws the error of the last address; the reason of `signal` when it was aborted
 */
export async function dial(
  addresses: readonly string[],
  port: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Upstream> {
  let failed: unknown = new Error('no address');
  for (const address of addresses) {
    try {
      return await connectTo(address, port, timeoutMs, signal);
    } catch (error) {
      failed = error;
    }
    signal.throwIfAborted();
  }
  throw failed;
}

function connectTo(address: string, port: number, timeoutMs: number, signal: AbortSignal): Promise<Upstream> {
  const { promise, resolve, reject } = Promise.withResolvers<Upstream>();
  const reader = directReader();
  const socket = new Socket({ allowHalfOpen: true, onread: reader.options });
  const stop = (): void => void socket.destroy(new Error('the connection is no longer wanted'));
  const settle = (): void => {
    signal.removeEventListener('abort', stop);
    socket.setTimeout(0);
  };
  socket.once('error', (error) => {
    settle();
    reject(error);
  });
  socket.once('timeout', () => socket.destroy(new Error(`${address} did not answer within ${timeoutMs} ms`)));
  socket.once('connect', () => {
    settle();
    socket.removeAllListeners('timeout');
    socket.setNoDelay(true);
    resolve({ socket, reader });
  });
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  socket.setTimeout(timeoutMs);
  if (!socket.destroyed) socket.connect({ host: address, port });
  return promise;
}
