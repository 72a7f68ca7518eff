import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { type CrashTarget, type CrashWatch, groupTarget } from '../../../linux/crash/crash-watch.ts';
import { withCover } from '../../../linux/inherited-descriptors.ts';
import { type KeptBytes, withDescriptors } from '../../../linux/kept-bytes.ts';
import type { ControlGroup } from '../../../linux/limits/control-group.ts';
import { signal } from '../../../linux/signal.ts';
import { AWAIT_STAGE_COMMAND } from '../../../linux/stage/stage.ts';
import { takePipes } from '../../../linux/tool-pipes.ts';
import type { ForkServer } from '../fork-server/fork-server.ts';
import type { LauncherProcess } from '../fork-server/forked-process.ts';
import { LAUNCHER_FAILED, quoted } from './shell-text.ts';

/**
 * A launcher's descriptors. Those that a shell must name are below ten, the most that every shell supports. The shell
 * itself reads its orders from 0; the tool's input waits at another descriptor until then.
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

/** Number of a launcher's sockets, at its first descriptors. */
export const LAUNCHER_SOCKETS = LAUNCHER_FDS.runtime;
/** The shell that becomes bubblewrap. */
export const LAUNCHER_COMMAND = ['/bin/sh'] as const;

/** Parts that every launcher of a driver gets. */
export interface LauncherParts {
  /** The files of `ETC_FILES` that all sandboxes share, in order. */
  readonly etcFiles: readonly KeptBytes[];
  /** Program of a waiting runtime, see `warm/`. */
  readonly runtimeStub: KeptBytes;
  /** Covers inherited descriptors. */
  readonly nothing: KeptBytes;
  readonly inherited: readonly number[];
  readonly watch: CrashWatch;
  /** Starts launchers with the files above, once it is there. */
  readonly forkServer: ForkServer;
}

/**
 * A shell, or a process that becomes one after its stage, that waits for its orders and then becomes bubblewrap: in its
 * control groups, under its uid, with all pipes, and noted with the crash watch. It was made before any spec was known,
 * so it can serve any.
 */
export interface Launcher {
  readonly child: LauncherProcess;
  readonly pipes: Pipes;
  readonly group: ControlGroup | undefined;
  /** Uid and gid lent to it. */
  readonly lentUid: number | undefined;
  /** Its uid and gid; the layer's own when undefined. */
  readonly uid: number | undefined;
  /** First order for the shell: to join the control group. Empty when it is in it already. */
  readonly joining: string;
  /** The crash watch's target: its process group, in which it is alone. */
  readonly target: CrashTarget;
  /** Resolves when the note is effective; rejects when there is no watch. */
  readonly noted: Promise<void>;
  /** True while it waits. */
  readonly waits: () => boolean;
  /** Keeps the layer alive for the waiting launcher (true), or not (false). */
  hold(held: boolean): void;
  /** Ends a launcher without orders, and withdraws the note. Group and uid stay with the caller. */
  discard(): void;
}

/** Parameters of a launcher's start. */
export interface LauncherStart {
  readonly lentUid: number | undefined;
  /** Uid and gid; the layer's own when undefined. */
  readonly uid: number | undefined;
  /** True when it waits for a stage before it becomes the shell. */
  readonly stages: boolean;
}

type Pipes = readonly (Readable | Writable | null | undefined)[];

/** Starts a launcher. @throws the system's error when no process can be made */
export async function startLauncher(
  parts: LauncherParts,
  group: ControlGroup | undefined,
  { lentUid, uid, stages }: LauncherStart,
): Promise<Launcher> {
  const { child, pipes } = await startShell(parts, uid, stages);
  admit(child, group);
  const joining = (group?.joinFiles ?? [])
    .map((file) => `echo 0 >${quoted(file)} || exit ${LAUNCHER_FAILED}\n`)
    .join('');
  // A launcher that waits for its stage is not a shell yet.
  if (!stages) (pipes[LAUNCHER_FDS.orders] as Writable).write(joining);
  const target = groupTarget(child.pid);
  const noted = parts.watch.note(target);
  noted.catch(() => {});
  return {
    child,
    pipes,
    group,
    lentUid,
    uid,
    joining: stages ? joining : '',
    target,
    noted,
    waits: () => child.exitCode === null && child.signalCode === null,
    hold(held) {
      for (const part of [child, ...(pipes as (Socket | null | undefined)[])]) held ? part?.ref() : part?.unref();
    },
    discard() {
      signal(-child.pid, 'SIGKILL');
      parts.watch.forget(target);
      for (const pipe of pipes) pipe?.destroy();
    },
  };
}

interface Shell {
  readonly child: LauncherProcess;
  readonly pipes: Pipes;
}

async function startShell(parts: LauncherParts, uid: number | undefined, stages: boolean): Promise<Shell> {
  try {
    const forked = await parts.forkServer.fork(uid, stages);
    if (forked !== undefined) return forked;
  } catch {
    // Whatever is wrong with the server: the layer starts the process itself, or reports why not.
  }
  return spawnShell(parts, uid, stages ? AWAIT_STAGE_COMMAND : LAUNCHER_COMMAND);
}

async function spawnShell(
  { nothing, runtimeStub, etcFiles, inherited }: LauncherParts,
  uid: number | undefined,
  [program, ...rest]: readonly [string, ...string[]],
): Promise<Shell> {
  const sockets = Array.from({ length: LAUNCHER_SOCKETS }, () => 'pipe' as const);
  const child = withDescriptors([nothing, runtimeStub, ...etcFiles], ([cover, ...files]) =>
    spawn(program, rest, {
      cwd: '/',
      env: {},
      // Outside the layer's process group: Ctrl-C is for the layer, which then ends its sandboxes in order.
      detached: true,
      stdio: withCover([...sockets, ...files], inherited, cover ?? 'ignore'),
      ...(uid === undefined ? {} : { uid, gid: uid }),
    }),
  );
  const { pid } = child;
  if (pid === undefined) throw (await once(child, 'error'))[0];
  return { child: Object.assign(child, { pid }), pipes: takePipes(child) };
}

/** Moves a launcher into its control group when its later uid may not do so itself. */
export function joined(launcher: Launcher): Launcher {
  for (const file of launcher.group?.joinFiles ?? []) writeFileSync(file, String(launcher.child.pid));
  return { ...launcher, joining: '' };
}

/** The launcher waits for its orders, so it has no children yet that would have to be moved too. */
function admit({ pid }: LauncherProcess, group: ControlGroup | undefined): void {
  try {
    group?.admit?.(pid);
  } catch (error) {
    signal(-pid, 'SIGKILL');
    throw error;
  }
}
