import type { Readable, Writable } from 'node:stream';
import type { SandboxSpec } from '../../../driver.port.ts';
import { MARK_VARIABLE } from '../../../linux/crash/clear-leftovers.ts';
import type { CrashTarget } from '../../../linux/crash/crash-watch.ts';
import type { ControlGroup } from '../../../linux/limits/control-group.ts';
import type { Staged } from '../../../linux/stage/stage.ts';
import type { LauncherProcess } from '../fork-server/forked-process.ts';
import { ETC_FILES, HOSTS_PATH } from '../view/base-system.ts';
import { bubblewrapArguments, type FixedArguments, OPTIONS_THAT_NEED_ARGUMENTS } from '../view/bubblewrap-arguments.ts';
import { LAUNCHER_FDS, type Launcher, type LauncherParts } from './launcher.ts';
import { ladderLines, processLimitLines, shellArguments } from './rlimits.ts';
import { quoted } from './shell-text.ts';
import { readStatusPipe, type StatusPipe } from './status-pipe.ts';

/** Parts that a driver prepares once. */
export interface Launchpad extends LauncherParts {
  /** Absolute path of bubblewrap. */
  readonly program: string;
  readonly fixed: FixedArguments;
  /** The system call filter, as bubblewrap reads it. */
  readonly filter: Uint8Array;
  /** The system call filter for sandboxes without control groups. */
  readonly uncountedFilter: Uint8Array;
  /** Identifies the layer on the command line of its sandboxes. */
  readonly mark: string;
}

/** One sandbox before it is started. */
export interface Launch {
  readonly spec: SandboxSpec;
  /** Order for a launcher that waits for its stage; undefined without mounts. */
  readonly stage: Buffer | undefined;
  /** Content of that stage. */
  readonly mounts: readonly Staged[];
  /** Names that the sandbox may reach, as lines of /etc/hosts; empty for none. */
  readonly hosts: string;
  /** Set for a sandbox that will wait for its job: path inside of the waiting runtime's program. */
  readonly waiting?: { readonly runtimeAt: string | undefined };
}

/** A launcher that becomes bubblewrap, with its pipes. bubblewrap waits for its arguments, and later for the filter. */
export interface Launched {
  readonly launcher: LauncherProcess;
  readonly group: ControlGroup | undefined;
  /** The crash watch's target for the launcher. */
  readonly target: CrashTarget;
  readonly noted: Promise<void>;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly status: StatusPipe;
  /** Bidirectional; open only for a sandbox that waits for its job. */
  readonly job: Readable & Writable;
  /** Sends the orders and the arguments, so that the namespaces are made and the command gets its limits. */
  begin(): void;
  /** Sends the filter, without which bubblewrap does not start the command. */
  release(): void;
  /** Closes all pipes. A bubblewrap that waits for the filter ends. */
  abandon(): void;
}

/** Files of `ETC_FILES` except the names, which differ per sandbox. */
export const SHARED_FILES: readonly string[] = Object.keys(ETC_FILES).filter((path) => path !== HOSTS_PATH);

/** Prepares the data for a launcher. Nothing happens before `begin`. */
export function launch(
  pad: Launchpad,
  { child, pipes, group, joining, target, noted }: Launcher,
  order: Launch,
): Launched {
  const { spec, mounts, hosts } = order;
  const args = bubblewrapArguments(spec, mounts, pad.fixed, filesOf(order));
  const writable = (place: keyof typeof LAUNCHER_FDS): Writable => pipes[LAUNCHER_FDS[place]] as Writable;
  return {
    launcher: child,
    group,
    target,
    noted,
    stdin: writable('stdin'),
    stdout: pipes[LAUNCHER_FDS.stdout] as Readable,
    stderr: pipes[LAUNCHER_FDS.stderr] as Readable,
    status: readStatusPipe(pipes[LAUNCHER_FDS.status] as Readable),
    job: pipes[LAUNCHER_FDS.job] as Readable & Writable,
    begin() {
      if (order.stage !== undefined) writable('orders').write(order.stage);
      writable('orders').end(joining + orders(pad, order, group));
      writable('arguments').end(`${args.join('\0')}\0`);
      writable('hosts').end(`${ETC_FILES[HOSTS_PATH]}${hosts}`);
      // While the shell becomes bubblewrap: no foreign code runs before the filter is sent.
      if (order.waiting === undefined) group?.bound(spec.limits);
    },
    release: () => writable('filter').end(group === undefined ? pad.uncountedFilter : pad.filter),
    abandon() {
      for (const pipe of pipes) pipe?.destroy();
    },
  };
}

/** Descriptors of files to make, by path inside. */
function filesOf({ waiting }: Launch): Record<string, number> {
  const shared = SHARED_FILES.map((path, index) => [path, LAUNCHER_FDS.firstFile + index] as const);
  const runtimeAt = waiting?.runtimeAt;
  const own = runtimeAt === undefined ? [] : [[runtimeAt, LAUNCHER_FDS.runtime] as const];
  return Object.fromEntries([...shared, [HOSTS_PATH, LAUNCHER_FDS.hosts], ...own]);
}

/**
 * Input of the shell: limits of each process, and then the command to become bubblewrap. With control groups it is in
 * them already; without, more limits are set inside.
 */
function orders(pad: Launchpad, { spec, waiting }: Launch, group: ControlGroup | undefined): string {
  const perProcess = processLimitLines(spec.limits);
  const command =
    group === undefined
      ? shellArguments([...perProcess, ...ladderLines(spec.limits)], spec.command)
      : [...spec.command];
  const { stdin, job, runtime } = LAUNCHER_FDS;
  const closed = [
    stdin,
    ...(waiting === undefined ? [job] : []),
    ...(waiting?.runtimeAt === undefined ? [runtime] : []),
  ];
  const line = [pad.program, ...ownOptions(pad), '--', ...command].map(quoted).join(' ');
  const redirections = [`<&${stdin}`, ...closed.map((descriptor) => `${descriptor}<&-`)].join(' ');
  return [...(group === undefined ? [] : perProcess), `exec ${line} ${redirections}`, ''].join('\n');
}

/** Options on the command line. Nothing runs without the filter. */
function ownOptions({ mark }: Launchpad): readonly string[] {
  const { filter, status } = LAUNCHER_FDS;
  const descriptors = [
    ...['--seccomp', `${filter}`, '--json-status-fd', `${status}`],
    ...['--args', `${LAUNCHER_FDS.arguments}`],
  ];
  // The arguments clear the environment, so that the tool never gets the variable.
  return ['--setenv', MARK_VARIABLE, mark, ...OPTIONS_THAT_NEED_ARGUMENTS, ...descriptors];
}
