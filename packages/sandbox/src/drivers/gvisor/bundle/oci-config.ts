import { MiB } from '@sallyport/std/bytes';
import type { SandboxSpec } from '../../../driver.port.ts';
import { DEFAULT_PATH } from '../../../linux/made-up-files.ts';
import type { Staged } from '../../../linux/stage/stage.ts';
import { GVISOR_BOUNDS } from '../settings.ts';
import { deniedCalls } from './denied-calls.ts';

export const DEFAULT_FOLDER = '/tmp';

/** Inputs of one sandbox's configuration. */
export interface BundlePlan {
  readonly spec: SandboxSpec;
  /** Content of the stage; each mount has its mode already, enforced by the host's kernel. */
  readonly mounts: readonly Staged[];
  /** Uid that the tool sees as its own. */
  readonly uid: number;
  /** Folder of the root file system. */
  readonly root: string;
  /** Host paths that every tool sees, read-only. */
  readonly shown: readonly string[];
  /** Present for a sandbox with network. */
  readonly way?: WayInside;
}

/** Requirements inside for network access. */
export interface WayInside {
  /** Started instead of the tool's own command, which it then starts. */
  readonly command: readonly string[];
  /** Further mounts: the gate's socket, the names. */
  readonly binds: readonly { readonly source: string; readonly target: string }[];
  /** Whether the loopback device gets addresses. */
  readonly addresses: boolean;
}

/** Capabilities of the first process of a sandbox with network; the tool has none of them. */
const WAY_CAPABILITIES = ['CAP_NET_ADMIN', 'CAP_NET_BIND_SERVICE', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_SETUID'];

/**
 * The configuration of a sandbox, in the format of the OCI runtime specification 1.0. It holds the environment, so it
 * is written into a private folder.
 */
export function ociConfig(plan: BundlePlan): object {
  const { spec, uid, root, way } = plan;
  const user = way === undefined ? uid : 0;
  const capabilities = way === undefined ? [] : WAY_CAPABILITIES;
  const environment = { PATH: DEFAULT_PATH, HOME: DEFAULT_FOLDER, ...spec.environment };
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid: user, gid: user },
      args: [...(way?.command ?? []), ...spec.command],
      env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      cwd: spec.workingDirectory ?? DEFAULT_FOLDER,
      noNewPrivileges: true,
      capabilities: {
        bounding: capabilities,
        effective: capabilities,
        permitted: capabilities,
        inheritable: [],
        ambient: [],
      },
      rlimits: rlimits(spec),
    },
    root: { path: root, readonly: true },
    hostname: 'sandbox',
    mounts: mountsOf(plan),
    linux: {
      namespaces: ['pid', 'mount', 'ipc', 'uts', 'network'].map((type) => ({ type })),
      seccomp: deniedCalls(way?.addresses === true),
    },
  };
}

function rlimits({ limits }: SandboxSpec): readonly object[] {
  const limit = (type: string, value: number): object => ({ type, soft: value, hard: value });
  return [
    limit('RLIMIT_CORE', 0),
    limit('RLIMIT_NOFILE', GVISOR_BOUNDS.openFilesMax),
    limit('RLIMIT_FSIZE', limits.diskMb * MiB),
  ];
}

function mountsOf({ spec, mounts, shown, way }: BundlePlan): readonly object[] {
  const size = `size=${Math.max(1, spec.limits.diskMb) * MiB}`;
  const scratch = (destination: string): object => ({
    destination,
    type: 'tmpfs',
    source: 'tmpfs',
    options: [size, 'mode=1777', 'nosuid', 'nodev'],
  });
  const bind = (source: string, destination: string, mode: 'ro' | 'rw'): object => ({
    destination,
    type: 'bind',
    source,
    options: ['rbind', mode, 'nosuid', 'nodev'],
  });
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: ['ro', 'nosuid', 'nodev', 'noexec'] },
    { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['ro', 'nosuid', 'nodev', 'noexec'] },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=0755', 'size=65536'] },
    scratch('/tmp'),
    scratch('/dev/shm'),
    ...shown.map((path) => bind(path, path, 'ro')),
    ...mounts.map(({ source, target }) => bind(source, target, 'rw')),
    ...(way?.binds ?? []).map(({ source, target }) => bind(source, target, 'ro')),
  ];
}
