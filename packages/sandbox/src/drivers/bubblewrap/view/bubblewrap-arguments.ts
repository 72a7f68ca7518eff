import { MiB } from '@sallyport/std/bytes';
import type { SandboxSpec } from '../../../driver.port.ts';
import { DEFAULT_PATH, INSIDE_ID } from '../../../linux/made-up-files.ts';
import type { Staged } from '../../../linux/stage/stage.ts';

/** Working directory of a tool whose spec names none. */
export const DEFAULT_FOLDER = '/tmp';

/**
 * Options for the command line that bubblewrap refuses, before it starts anything, unless complete arguments follow: a
 * host name needs a namespace for it. A killed layer may leave arguments that are empty or cut off.
 */
export const OPTIONS_THAT_NEED_ARGUMENTS = ['--hostname', 'sandbox'];

/** Arguments that all sandboxes of a driver share. */
export interface FixedArguments {
  readonly baseSystem: readonly string[];
  readonly kernel: readonly string[];
}

/**
 * The arguments of one sandbox. They hold the environment, so they travel over a pipe (`--args`), never on a command
 * line that other users of the machine can read.
 * @param mounts what the stage holds; each has its mode already
 * @param files descriptors of files to make, by path inside
 */
export function bubblewrapArguments(
  spec: SandboxSpec,
  mounts: readonly Staged[],
  fixed: FixedArguments,
  files: Readonly<Record<string, number>>,
): readonly string[] {
  const diskBytes = Math.max(1, spec.limits.diskMb) * MiB;
  return [
    ...['--uid', `${INSIDE_ID}`, '--gid', `${INSIDE_ID}`],
    // No `--disable-userns`: the filter refuses every way to a namespace, and a second one costs more than a millisecond.
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
    ...fixed.baseSystem,
    ...fileArguments(files, (path) => !isScratch(path)),
    ...fixed.kernel,
    ...['--perms', '1777', '--size', String(diskBytes), '--tmpfs', '/tmp'],
    ...fileArguments(files, isScratch),
    ...mounts.flatMap(({ source, target }) => ['--bind', source, target]),
    // The root is a tmpfs without a size limit, and nobody needs to write to /proc.
    ...['--remount-ro', '/', '--remount-ro', '/proc'],
    ...['--chdir', spec.workingDirectory ?? DEFAULT_FOLDER, '--clearenv'],
    ...Object.entries({ PATH: DEFAULT_PATH, ...spec.environment }).flatMap((pair) => ['--setenv', ...pair]),
    // At the end: arguments that were cut off lack them, see `OPTIONS_THAT_NEED_ARGUMENTS`.
    ...['--unshare-user', '--unshare-all'],
  ];
}

function fileArguments(files: Readonly<Record<string, number>>, isWanted: (path: string) => boolean): string[] {
  return Object.entries(files)
    .filter(([path]) => isWanted(path))
    .flatMap(([path, fd]) => ['--perms', '0444', '--file', String(fd), path]);
}

function isScratch(path: string): boolean {
  return path.startsWith(`${DEFAULT_FOLDER}/`);
}
