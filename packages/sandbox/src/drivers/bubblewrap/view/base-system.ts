import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { madeUpFiles, SHOWN_ETC } from '../../../linux/made-up-files.ts';

/** Roots that are links into /usr on merged systems and folders on older ones. */
const ROOTS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** File of names and addresses; the sandbox's reachable hosts are added to it. */
export const HOSTS_PATH = '/etc/hosts';

/** Generated files of /etc, the same for every sandbox of this driver except for the names. */
export const ETC_FILES: Readonly<Record<string, string>> = madeUpFiles();

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'];

/** Host paths that every tool sees, without links. */
export const SHOWN_PATHS: readonly string[] = ['/usr', ...ROOTS, ...SHOWN_ETC];

/** Arguments of bubblewrap for the read-only system. Looked up once: a host does not merge its /usr while we run. */
export function baseSystemArguments(): readonly string[] {
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...ROOTS.flatMap(rootArguments),
    ...SHOWN_ETC.flatMap(etcArguments),
    ...zoneArguments(),
  ];
}

/** Arguments for /dev and /proc. They are made read-only at the end, see `bubblewrap-arguments.ts`. */
export function kernelArguments(): readonly string[] {
  return [
    ...['--proc', '/proc'],
    ...DEVICES.flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`]),
    ...['--symlink', '/proc/self/fd', '/dev/fd', '--symlink', '/proc/self/fd/0', '/dev/stdin'],
    ...['--symlink', '/proc/self/fd/1', '/dev/stdout', '--symlink', '/proc/self/fd/2', '/dev/stderr'],
    // One scratch space with one size. The shared memory of POSIX is files in it.
    ...['--symlink', '/tmp', '/dev/shm'],
  ];
}

function rootArguments(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

function etcArguments(path: string): string[] {
  if (!existsSync(path)) return [];
  return ['--ro-bind', path, path];
}

/** The zone is a link into /usr nearly everywhere; a copy of it is a file like any other. */
function zoneArguments(): string[] {
  const path = '/etc/localtime';
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ['--symlink', realpathSync(path), path] : ['--ro-bind', path, path];
}
