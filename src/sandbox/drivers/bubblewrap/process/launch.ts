import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { SandboxSpec } from '../../../driver.port.ts';
import { MARK_VARIABLE } from '../../../linux/crash/clear-leftovers.ts';
import type { CrashWatch } from '../../../linux/crash/crash-watch.ts';
import { type Stdio, withCover } from '../../../linux/inherited-descriptors.ts';
import { type KeptBytes, withDescriptors } from '../../../linux/kept-bytes.ts';
import type { ControlGroup } from '../../../linux/limits/control-group.ts';
import type { Mount } from '../../../linux/mounts.ts';
import { ETC_FILES } from '../view/base-system.ts';
import { bubblewrapArguments, type FixedArguments, OPTIONS_THAT_NEED_ARGUMENTS } from '../view/bubblewrap-arguments.ts';
import { JOIN_LINES, ladderLines, processLimitLines, shellArguments } from './rlimits.ts';
import { readStatusPipe, type StatusPipe } from './status-pipe.ts';

/** Places of the descriptors that bubblewrap gets beside the standard streams. */
const ARGUMENTS_FD = 3;
const STATUS_FD = 4;
const SECCOMP_FD = 5;
const FIRST_FILE_FD = 6;
const HOSTS_FD = FIRST_FILE_FD + Object.keys(ETC_FILES).indexOf('/etc/hosts');
/** The standard streams and the three above. */
const PIPES = Array.from({ length: FIRST_FILE_FD }, () => 'pipe' as const);

/** What a driver prepares once. */
export interface Launchpad {
  /** Absolute path of bubblewrap. */
  readonly program: string;
  readonly fixed: FixedArguments;
  /** The system call filter, as bubblewrap reads it. */
  readonly filter: Uint8Array;
  /** In the order of `ETC_FILES`. */
  readonly etcFiles: readonly KeptBytes[];
  /** Covers inherited descriptors. */
  readonly nothing: KeptBytes;
  readonly inherited: readonly number[];
  /** Names the layer on the command line of its sandboxes. */
  readonly mark: string;
  readonly watch: CrashWatch;
}

/** One sandbox before it is started. */
export interface Launch {
  readonly spec: SandboxSpec;
  readonly mounts: readonly Mount[];
  readonly group: ControlGroup | undefined;
  /** Uid and gid outside; the layer's own when undefined. */
  readonly uid: number | undefined;
  /** Names that the sandbox may reach, as lines of /etc/hosts; empty for none. */
  readonly hosts: string;
}

/** bubblewrap running, with its pipes. It waits for its arguments, and later for the filter. */
export interface Launched {
  readonly launcher: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly status: StatusPipe;
  /** Gives the arguments, so that the namespaces are made. */
  begin(): void;
  /** Gives the filter, without which bubblewrap does not go on to start the command. */
  release(): void;
  /** Closes all pipes. A bubblewrap that waits for the filter ends. */
  abandon(): void;
}

/** Starts bubblewrap. A missing program is told by the `error` event. */
export function launch(pad: Launchpad, { spec, mounts, group, uid, hosts }: Launch): Launched {
  const files = Object.fromEntries(Object.keys(ETC_FILES).map((path, index) => [path, FIRST_FILE_FD + index]));
  const sandboxArguments = bubblewrapArguments(spec, mounts, pad.fixed, files, (uid ?? process.getuid?.()) === 0);
  const [program, ...rest] = commandLine(pad, spec, group);
  const launcher = withDescriptors([pad.nothing, ...pad.etcFiles], ([nothing, ...given]) =>
    spawn(program ?? pad.program, rest, {
      cwd: '/',
      env: {},
      // Out of the layer's process group: Ctrl-C is for the layer, which then ends its sandboxes in order.
      detached: true,
      stdio: withCover(withHosts([...PIPES, ...given], hosts), pad.inherited, nothing ?? 'ignore'),
      ...(uid === undefined ? {} : { uid, gid: uid }),
    }),
  );
  const pipes = takePipes(launcher);
  for (const pipe of pipes) pipe?.on('error', ignoreBrokenPipe);
  admit(launcher, group);
  return {
    launcher,
    stdin: pipes[0] as Writable,
    stdout: pipes[1] as Readable,
    stderr: pipes[2] as Readable,
    status: readStatusPipe(pipes[STATUS_FD] as Readable),
    begin() {
      (pipes[ARGUMENTS_FD] as Writable).end(`${sandboxArguments.join('\0')}\0`);
      if (hosts !== '') (pipes[HOSTS_FD] as Writable).end(`${ETC_FILES['/etc/hosts']}${hosts}`);
    },
    release: () => (pipes[SECCOMP_FD] as Writable).end(pad.filter),
    abandon() {
      for (const pipe of pipes) pipe?.destroy();
    },
  };
}

/** A sandbox with names of its own gets its /etc/hosts through a pipe instead of the file that the others share. */
function withHosts(stdio: readonly Stdio[], hosts: string): Stdio[] {
  return stdio.map((given, descriptor) => (descriptor === HOSTS_FD && hosts !== '' ? 'pipe' : given));
}

/** With control groups the launcher joins them and becomes bubblewrap; without, the limits are set inside. */
function commandLine(pad: Launchpad, spec: SandboxSpec, group: ControlGroup | undefined): readonly string[] {
  const bubblewrap = [pad.program, ...ownOptions(pad), '--'];
  const perProcess = processLimitLines(spec.limits);
  if (group === undefined) {
    return [...bubblewrap, ...shellArguments([...perProcess, ...ladderLines(spec.limits)], spec.command)];
  }
  const joining = [...group.joinFiles, '--', ...bubblewrap, ...spec.command];
  return shellArguments([...perProcess, ...JOIN_LINES], joining);
}

/** What stands on the command line. Nothing runs without the filter. */
function ownOptions({ mark }: Launchpad): readonly string[] {
  const descriptors = ['--seccomp', `${SECCOMP_FD}`, '--json-status-fd', `${STATUS_FD}`, '--args', `${ARGUMENTS_FD}`];
  // The arguments clear the environment, so that the variable reaches nobody.
  return ['--setenv', MARK_VARIABLE, mark, ...OPTIONS_THAT_NEED_ARGUMENTS, ...descriptors];
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

/** A tool that does not read its input is no fault of the layer; its exit says what happened. */
function ignoreBrokenPipe(): void {}
