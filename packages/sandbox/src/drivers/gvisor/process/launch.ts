import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { withCover } from '../../../linux/inherited-descriptors.ts';
import { withDescriptors } from '../../../linux/kept-bytes.ts';
import type { ControlGroup } from '../../../linux/limits/control-group.ts';
import { takePipes } from '../../../linux/tool-pipes.ts';

/** Descriptor on which the launcher waits for the signal to begin. */
const WORD_FD = 3;
/** Exit code of the launcher when nothing was started. */
export const LAUNCHER_FAILED = 125;
const NOTHING = { open: () => openSync('/dev/null', 'r') };

/** How runsc is started. */
export interface Launch {
  /** runsc and all its arguments; nothing secret. */
  readonly command: readonly string[];
  /** Uid and gid outside; the layer's own when undefined. */
  readonly uid: number | undefined;
  readonly group: ControlGroup;
  readonly inherited: readonly number[];
}

/** A launcher that waits for the signal to begin. */
export interface Launched {
  readonly launcher: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Lets it join its control group and become runsc. Otherwise, and when the layer ends before, it ends. */
  begin(): void;
  abandon(): void;
}

const SCRIPT = [
  'ulimit -c 0',
  `read -r word <&${WORD_FD} || exit ${LAUNCHER_FAILED}`,
  `exec ${WORD_FD}<&-`,
  `while [ "$1" != -- ]; do echo 0 >"$1" || exit ${LAUNCHER_FAILED}; shift; done`,
  'shift',
  'exec "$@"',
].join('\n');

/** Starts the launcher. A failure is reported by its `error` event. */
export function launch({ command, uid, group, inherited }: Launch): Launched {
  const launcher = withDescriptors([NOTHING], ([nothing]) =>
    spawn('/bin/sh', ['-c', SCRIPT, 'sh', ...group.joinFiles, '--', ...command], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: withCover(['pipe', 'pipe', 'pipe', 'pipe'], inherited, nothing ?? 'ignore'),
      ...(uid === undefined ? {} : { uid, gid: uid }),
    }),
  );
  const pipes = takePipes(launcher);
  return {
    launcher,
    stdin: pipes[0] as Writable,
    stdout: pipes[1] as Readable,
    stderr: pipes[2] as Readable,
    begin() {
      if (launcher.pid !== undefined) group.admit?.(launcher.pid);
      (pipes[WORD_FD] as Writable).end('go\n');
    },
    abandon() {
      for (const pipe of pipes) pipe?.destroy();
    },
  };
}
