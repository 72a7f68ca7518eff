import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { SandboxSpec } from '../../../driver.port.ts';
import type { ControlGroup } from '../limits/control-group.ts';
import { JOIN_LINES, ladderLines, processLimitLines, shellArguments } from '../limits/rlimits.ts';
import { ETC_FILES } from '../view/base-system.ts';
import { bubblewrapArguments, type FixedArguments } from '../view/bubblewrap-arguments.ts';
import type { Mount } from '../view/mounts.ts';
import { type KeptBytes, withDescriptors } from './kept-bytes.ts';
import { readStatusPipe, type StatusPipe } from './status-pipe.ts';

/** Places of the descriptors that bubblewrap gets beside the standard streams. */
const ARGUMENTS_FD = 3;
const STATUS_FD = 4;
const SECCOMP_FD = 5;
const FIRST_FILE_FD = 6;

/** What a driver prepares once. */
export interface Launchpad {
  /** Absolute path of bubblewrap. */
  readonly program: string;
  readonly fixed: FixedArguments;
  readonly seccomp: KeptBytes;
  /** In the order of `ETC_FILES`. */
  readonly etcFiles: readonly KeptBytes[];
  /** Covers inherited descriptors. */
  readonly nothing: KeptBytes;
  readonly inherited: readonly number[];
}

/** One sandbox before it is started. */
export interface Launch {
  readonly spec: SandboxSpec;
  readonly mounts: readonly Mount[];
  readonly group: ControlGroup | undefined;
  /** Uid and gid outside; the layer's own when undefined. */
  readonly uid: number | undefined;
}

/** bubblewrap running, with its pipes. */
export interface Launched {
  readonly launcher: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly status: StatusPipe;
}

/** Starts bubblewrap. Whether its sandbox stands is told by the status pipe; a missing program by the `error` event. */
export function launch(pad: Launchpad, { spec, mounts, group, uid }: Launch): Launched {
  const files = Object.fromEntries(Object.keys(ETC_FILES).map((path, index) => [path, FIRST_FILE_FD + index]));
  const descriptors = { seccomp: SECCOMP_FD, status: STATUS_FD, files };
  const sandboxArguments = bubblewrapArguments(spec, mounts, pad.fixed, descriptors, (uid ?? process.getuid?.()) === 0);
  const [program, ...rest] = commandLine(pad, spec, group);
  const launcher = withDescriptors([pad.nothing, pad.seccomp, ...pad.etcFiles], ([nothing, ...given]) =>
    spawn(program ?? pad.program, rest, {
      cwd: '/',
      env: {},
      // Out of the layer's process group: Ctrl-C is for the layer, which then ends its sandboxes in order.
      detached: true,
      stdio: withCover(['pipe', 'pipe', 'pipe', 'pipe', 'pipe', ...given], pad.inherited, nothing ?? 'ignore'),
      ...(uid === undefined ? {} : { uid, gid: uid }),
    }),
  );
  const pipes = takePipes(launcher);
  for (const pipe of pipes) pipe?.on('error', ignoreBrokenPipe);
  admit(launcher, group);
  (pipes[ARGUMENTS_FD] as Writable).end(`${sandboxArguments.join('\0')}\0`);
  return {
    launcher,
    stdin: pipes[0] as Writable,
    stdout: pipes[1] as Readable,
    stderr: pipes[2] as Readable,
    status: readStatusPipe(pipes[STATUS_FD] as Readable),
  };
}

/** With control groups the launcher joins them and becomes bubblewrap; without, the limits are set inside. */
function commandLine(pad: Launchpad, spec: SandboxSpec, group: ControlGroup | undefined): readonly string[] {
  const bubblewrap = [pad.program, '--args', String(ARGUMENTS_FD), '--'];
  const perProcess = processLimitLines(spec.limits);
  if (group === undefined) {
    return [...bubblewrap, ...shellArguments([...perProcess, ...ladderLines(spec.limits)], spec.command)];
  }
  const joining = [...group.joinFiles, '--', ...bubblewrap, ...spec.command];
  return shellArguments([...perProcess, ...JOIN_LINES], joining);
}

/** bubblewrap waits for its arguments, so nothing was started yet that would have to be admitted too. */
function admit(launcher: ChildProcess, group: ControlGroup | undefined): void {
  try {
    if (launcher.pid !== undefined) group?.admit?.(launcher.pid);
  } catch (error) {
    launcher.kill('SIGKILL');
    throw error;
  }
}

/**
 * Takes the pipes out of Node's hands: when a process ends, Node throws away what nobody has begun to read (`flushStdio`),
 * and a tool may end before its reader is there.
 */
function takePipes({ stdio }: ChildProcess): readonly (Readable | Writable | null | undefined)[] {
  const slots: (Readable | Writable | null | undefined)[] = stdio;
  const pipes = [...slots];
  slots.fill(null);
  return pipes;
}

type Stdio = 'pipe' | 'ignore' | number;

function withCover(used: readonly Stdio[], inherited: readonly number[], cover: Stdio): Stdio[] {
  const last = Math.max(used.length - 1, ...inherited);
  return Array.from({ length: last + 1 }, (_, index) => used[index] ?? (inherited.includes(index) ? cover : 'ignore'));
}

/** A tool that does not read its input is no fault of the layer; its exit says what happened. */
function ignoreBrokenPipe(): void {}
