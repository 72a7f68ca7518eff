import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** How long an output pipe may stay silent after the end before it is closed; somebody may hold it open. */
const SILENCE_MS = 100;
/** How long a slow reader of the output is waited for after the end. */
const READER_TIMEOUT_MS = 30_000;

/**
 * Takes the pipes of a child out of Node's hands: when a process ends, Node throws away what nobody has begun to read
 * (`flushStdio`), and a tool may end before its reader is there. A pipe that breaks is no fault of the layer.
 */
export function takePipes({ stdio }: ChildProcess): readonly (Readable | Writable | null | undefined)[] {
  const slots: (Readable | Writable | null | undefined)[] = stdio;
  const pipes = [...slots];
  slots.fill(null);
  for (const pipe of pipes) pipe?.on('error', ignoreBrokenPipe);
  return pipes;
}

/** Closes an output pipe after the end of what wrote to it, when all that was written was read. */
export async function closeWhenSilent(pipe: Readable): Promise<void> {
  const giveUpAt = performance.now() + READER_TIMEOUT_MS;
  for (let seen = -1; !pipe.closed && !pipe.destroyed; ) {
    const read = 'bytesRead' in pipe ? Number(pipe.bytesRead) : 0;
    const busy = read !== seen || pipe.readableLength > 0 || !pipe.readableFlowing;
    if ((!busy || performance.now() > giveUpAt) && !pipe.destroyed) return void pipe.destroy();
    seen = read;
    await sleep(SILENCE_MS, undefined, { ref: false });
    // One whole turn of the event loop, so that what waits in the kernel is read before silence is judged.
    await turn();
  }
}

/** The exit of the tool says what happened. */
export function ignoreBrokenPipe(): void {}
