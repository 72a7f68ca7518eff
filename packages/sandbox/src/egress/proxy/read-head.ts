import type { Socket } from 'node:net';
import type { EgressBounds } from '../settings.ts';

/** The head of a request, without the empty line at its end, and what came after it. */
export interface Head {
  readonly text: string;
  readonly rest: Buffer;
}

const END = Buffer.from('\r\n\r\n');

/**
 * Reads up to the first empty line, within bytes and time. The socket is paused afterwards.
 * @returns why not, when there is no head; `gone` when the client has left
 */
export function readHead(
  socket: Socket,
  { headBytesMax, headTimeoutMs }: Pick<EgressBounds, 'headBytesMax' | 'headTimeoutMs'>,
): Promise<Head | 'too long' | 'too slow' | 'gone'> {
  const { promise, resolve } = Promise.withResolvers<Head | 'too long' | 'too slow' | 'gone'>();
  let held: Buffer = Buffer.alloc(0);
  const finish = (outcome: Head | 'too long' | 'too slow' | 'gone'): void => {
    clearTimeout(timer);
    socket.pause();
    socket.off('data', onData).off('end', onGone).off('close', onGone);
    resolve(outcome);
  };
  const onData = (part: Buffer): void => {
    // The end may lie across two parts.
    const from = Math.max(0, held.length - END.length + 1);
    held = held.length === 0 ? part : Buffer.concat([held, part]);
    const end = held.indexOf(END, from);
    if (end > headBytesMax || (end === -1 && held.length > headBytesMax)) finish('too long');
    else if (end !== -1) finish({ text: held.toString('latin1', 0, end), rest: held.subarray(end + END.length) });
  };
  const onGone = (): void => finish('gone');
  const timer = setTimeout(finish, headTimeoutMs, 'too slow');
  socket.on('data', onData).once('end', onGone).once('close', onGone);
  if (socket.destroyed) finish('gone');
  else socket.resume();
  return promise;
}
