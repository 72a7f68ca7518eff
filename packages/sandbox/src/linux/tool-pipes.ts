import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** How long an output pipe may be silent after the end before it is closed, in ms; another process may hold it open. */
const SILENCE_MS = 100;
/** How long to wait for a slow reader of the output after the end, in ms. */
const READER_TIMEOUT_MS = 30_000;

/**
 * Takes the pipes of a child over from Node: when a process ends, Node discards unread data (`flushStdio`), and a tool
 * may end before its reader is there. A broken pipe is no fault of the layer.
 */
export function takePipes({ stdio }: ChildProcess): readonly (Readable | Writable | null | undefined)[] {
  const slots: (Readable | Writable | null | undefined)[] = stdio;
  const pipes = [...slots];
  slots.fill(null);
  for (const pipe of pipes) pipe?.on('error', ignoreBrokenPipe);
  return pipes;
}

/** Closes an output pipe after its writer ended, once everything was read. */
export async function closeWhenSilent(pipe: Readable): Promise<void> {
  const giveUpAt = performance.now() + READER_TIMEOUT_MS;
  for (let seen = -1; !pipe.closed && !pipe.destroyed; ) {
    const read = 'bytesRead' in pipe ? Number(pipe.bytesRead) : 0;
    const busy = read !== seen || pipe.readableLength > 0 || !pipe.readableFlowing;
    if ((!busy || performance.now() > giveUpAt) && !pipe.destroyed) return void pipe.destroy();
    seen = read;
    await sleep(SILENCE_MS, undefined, { ref: false });
    // One whole turn of the event loop, so that data waiting in the kernel is read before silence is measured.
    await turn();
  }
}

/** The exit of the tool says what happened. */
export function ignoreBrokenPipe(): void {}
