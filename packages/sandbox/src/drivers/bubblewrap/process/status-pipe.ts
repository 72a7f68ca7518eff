import type { Readable } from 'node:stream';
import { SANDBOX_BOUNDS } from '../settings.ts';

/** What bubblewrap says of itself on its status pipe (`--json-status-fd`). */
export interface StatusPipe {
  /** Host pid of the sandbox's first process; undefined when the pipe ended without it. */
  readonly firstPid: Promise<number | undefined>;
  /** Exit code of the command, once the pipe has ended; undefined when the command was never started. */
  exitCode(): number | undefined;
  readonly ended: Promise<void>;
}

/** Reads the status messages: one JSON object a line. */
export function readStatusPipe(pipe: Readable): StatusPipe {
  const { promise: firstPid, resolve: foundPid } = Promise.withResolvers<number | undefined>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let text = '';
  pipe.setEncoding('utf8');
  pipe.on('data', (part: string) => {
    if (text.length < SANDBOX_BOUNDS.statusBytesMax) text += part;
    const pid = numberIn(text, 'child-pid');
    if (pid !== undefined) foundPid(pid);
  });
  const finish = (): void => {
    foundPid(undefined);
    end();
  };
  pipe.on('error', finish);
  pipe.on('close', finish);
  return { firstPid, ended, exitCode: () => numberIn(text, 'exit-code') };
}

function numberIn(text: string, name: string): number | undefined {
  const found = new RegExp(`"${name}": (\\d+)[,\\s}]`).exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
