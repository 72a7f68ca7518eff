import type { Readable } from 'node:stream';
import { SANDBOX_BOUNDS } from '../settings.ts';

/** Report of the waiting program of a sandbox, see `program-stub.ts`. */
export interface JobReport {
  /** Resolves when it waits for its job; rejects when it ended before. */
  readonly ready: Promise<void>;
  /** Whether the job's program began to run. */
  hasBegun(): boolean;
  readonly ended: Promise<void>;
}

/** Reads the letters, each of which is one word. */
export function readJobReport(pipe: Readable): JobReport {
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  let said = '';
  pipe.setEncoding('latin1');
  pipe.on('data', (part: string) => {
    if (said.length < SANDBOX_BOUNDS.reportBytesMax) said += part;
    if (said.startsWith('r')) ready.resolve();
  });
  const finish = (): void => {
    ready.reject(new Error('what should wait for a job has ended'));
    ended.resolve();
  };
  pipe.on('end', finish);
  pipe.on('error', finish);
  pipe.on('close', finish);
  return {
    ready: ready.promise,
    hasBegun: () => said.includes('+') && !said.includes('x'),
    ended: ended.promise,
  };
}
