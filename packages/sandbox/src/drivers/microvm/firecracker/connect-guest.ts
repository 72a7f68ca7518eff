import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@sallyport/std/error/message-of';
import { MICROVM_BOUNDS } from '../settings.ts';

const ACCEPTED = /^OK \d+$/;
const ANSWER_BYTES_MAX = 64;

/**
 * Connects to a listening port in the guest, through the socket of its vsock device, retrying until somebody listens
 * there (`CONNECT <port>`, `OK <port of the host>`; Firecracker, docs/vsock.md).
 * @param signal ends the attempts, when the machine is gone
 * @throws Error when nobody listens in time, or the signal aborts
 */
export async function connectGuest(
  socketPath: string,
  port: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const problem = await attempt(socketPath, port, Math.max(1, giveUpAt - performance.now()), signal);
    if (typeof problem !== 'string') return problem;
    if (signal.aborted) throw new Error(`the machine ended before its port ${port} answered`);
    if (performance.now() > giveUpAt) throw new Error(`port ${port} of the guest does not answer: ${problem}`);
    await sleep(MICROVM_BOUNDS.retryMs);
  }
}

/** The peer is no vsock device, so waiting is useless. */
class NoVsock extends Error {
  override readonly name = 'NoVsock';
}

/** @returns the connection, or the error */
async function attempt(path: string, port: number, timeoutMs: number, signal: AbortSignal): Promise<Socket | string> {
  const socket = connect({ path, allowHalfOpen: true });
  const late = setTimeout(() => socket.destroy(new Error('no answer')), timeoutMs);
  const leave = (): void => void socket.destroy(new Error('the machine ended'));
  signal.addEventListener('abort', leave, { once: true });
  try {
    await once(socket, 'connect');
    socket.write(`CONNECT ${port}\n`);
    const answer = await firstLine(socket);
    if (!ACCEPTED.test(answer)) throw new NoVsock(`the vsock socket says ${JSON.stringify(answer)}`);
    socket.on('error', ignore);
    return socket;
  } catch (error) {
    socket.on('error', ignore).destroy();
    if (error instanceof NoVsock) throw error;
    return messageOf(error);
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', leave);
  }
}

/** Up to the first line feed; what follows stays in the socket, which is paused. */
async function firstLine(socket: Socket): Promise<string> {
  let line = '';
  while (line.length < ANSWER_BYTES_MAX) {
    const byte: unknown = socket.read(1);
    if (byte instanceof Buffer) {
      if (byte[0] === 0x0a) return line;
      line += byte.toString('latin1');
    } else {
      if (socket.readableEnded || socket.destroyed) throw new Error('nobody listens');
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const off = (): void =>
        void socket.off('readable', resolve).off('end', resolve).off('error', reject).off('close', resolve);
      socket.once('readable', resolve).once('end', resolve).once('error', reject).once('close', resolve);
      await promise.finally(off);
    }
  }
  throw new NoVsock('the answer of the vsock socket has no end');
}

function ignore(): void {}
