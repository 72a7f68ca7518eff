import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { type CrashTarget, type CrashWatch, groupTarget } from '../../../linux/crash/crash-watch.ts';
import { withCover } from '../../../linux/inherited-descriptors.ts';
import { type KeptBytes, withDescriptors } from '../../../linux/kept-bytes.ts';
import type { ControlGroup } from '../../../linux/limits/control-group.ts';
import { signal } from '../../../linux/signal.ts';
import { takePipes } from '../../../linux/tool-pipes.ts';
import { LAUNCHER_FAILED, quoted } from './shell-text.ts';

/**
 * Places of a launcher's descriptors. Those that a shell has to name are below ten, which is all that every shell can.
 * The shell itself reads from 0 what it shall do; the tool's input waits in a place of its own until then.
 */
export const LAUNCHER_FDS = {
  orders: 0,
  stdout: 1,
  stderr: 2,
  stdin: 3,
  status: 4,
  filter: 5,
  arguments: 6,
  hosts: 7,
  job: 8,
  runtime: 9,
  firstFile: 10,
} as const;

const PIPES = Array.from({ length: LAUNCHER_FDS.runtime }, () => 'pipe' as const);

/** What every launcher of a driver gets. */
export interface LauncherParts {
  /** The files of `ETC_FILES` that are the same for every sandbox, in their order. */
  readonly etcFiles: readonly KeptBytes[];
  /** Program of a waiting runtime, see `warm/`. */
  readonly runtimeStub: KeptBytes;
  /** Covers inherited descriptors. */
  readonly nothing: KeptBytes;
  readonly inherited: readonly number[];
  readonly watch: CrashWatch;
}

/**
 * A shell that waits for its orders and then becomes bubblewrap: in its control groups, under its uid, with all pipes, and
 * noted with the crash watch. It was made before anything of a spec was known, so it may wait for any.
 */
export interface Launcher {
  readonly child: ChildProcess;
  readonly pipes: readonly (Readable | Writable | null | undefined)[];
  readonly group: ControlGroup | undefined;
  /** Uid and gid outside; the layer's own when undefined. */
  readonly uid: number | undefined;
  /** How the crash watch knows it: its process group, in which it is alone. */
  readonly target: CrashTarget | undefined;
  /** Resolves when the note holds; rejects when there is no watch or no shell. */
  readonly noted: Promise<void>;
  /** Whether it still waits. */
  readonly waits: () => boolean;
  /** Lets the layer end although the launcher waits (false), or not (true). */
  hold(held: boolean): void;
  /** Ends a launcher that got no orders, and takes the note back. Its group and its uid stay the caller's. */
  discard(): void;
}

/** Starts a launcher. A shell that cannot be started is told by `noted`. */
export function startLauncher(
  parts: LauncherParts,
  group: ControlGroup | undefined,
  uid: number | undefined,
): Launcher {
  const child = withDescriptors([parts.nothing, parts.runtimeStub, ...parts.etcFiles], ([nothing, ...given]) =>
    spawn('/bin/sh', [], {
      cwd: '/',
      env: {},
      // Out of the layer's process group: Ctrl-C is for the layer, which then ends its sandboxes in order.
      detached: true,
      stdio: withCover([...PIPES, ...given], parts.inherited, nothing ?? 'ignore'),
      ...(uid === undefined ? {} : { uid, gid: uid }),
    }),
  );
  const failed = Promise.withResolvers<never>();
  child.once('error', failed.reject);
  const pipes = takePipes(child);
  admit(child, group);
  const joining = (group?.joinFiles ?? []).map((file) => `echo 0 >${quoted(file)} || exit ${LAUNCHER_FAILED}\n`);
  (pipes[LAUNCHER_FDS.orders] as Writable).write(joining.join(''));
  const target = child.pid === undefined ? undefined : groupTarget(child.pid);
  const noted = Promise.race([target === undefined ? failed.promise : parts.watch.note(target), failed.promise]);
  noted.catch(() => {});
  return {
    child,
    pipes,
    group,
    uid,
    target,
    noted,
    waits: () => child.exitCode === null && child.signalCode === null,
    hold(held) {
      for (const part of [child, ...(pipes as (Socket | null | undefined)[])]) held ? part?.ref() : part?.unref();
    },
    discard() {
      if (child.pid !== undefined) signal(-child.pid, 'SIGKILL');
      if (target !== undefined) parts.watch.forget(target);
      for (const pipe of pipes) pipe?.destroy();
    },
  };
}

/** The launcher waits for its orders, so nothing was started yet that would have to be admitted too. */
function admit(child: ChildProcess, group: ControlGroup | undefined): void {
  try {
    if (child.pid !== undefined) group?.admit?.(child.pid);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}
