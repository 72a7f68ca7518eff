import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '@sallyport/std/files/find-program';
import { clearLeftovers } from '../../linux/crash/clear-leftovers.ts';
import { type CrashWatch, createCrashWatch } from '../../linux/crash/crash-watch.ts';
import { inheritableDescriptors } from '../../linux/inherited-descriptors.ts';
import type { ControlGroups } from '../../linux/limits/control-group.ts';
import { findControlGroups } from '../../linux/limits/find-control-groups.ts';
import { type CanMap, createMapTrial } from '../../linux/stage/mapped-owner.ts';
import { sharedUidSlots, type UidSlots } from '../../linux/uid-slots.ts';
import { shownPaths } from './bundle/root-folder.ts';
import { GVISOR_BOUNDS, type GvisorPlatform, type GvisorSettings } from './settings.ts';

const run = promisify(execFile);

/** Everything that a driver needs to start sandboxes on this machine. */
export interface HostResources {
  /** Absolute path of runsc. */
  readonly program: string;
  readonly version: string;
  readonly platform: GvisorPlatform;
  readonly groups: ControlGroups;
  /** Present when the layer is root. */
  readonly slots: UidSlots | undefined;
  /** Paths of the host that every tool sees, read-only. */
  readonly shown: readonly string[];
  readonly watch: CrashWatch;
  readonly inherited: readonly number[];
  readonly canMap: CanMap;
}

/** Prepares the shared parts. @returns the hostResources, or one sentence that says what is missing */
export async function prepareHostResources(
  settings: GvisorSettings,
): Promise<Omit<HostResources, 'platform'> | string> {
  if (process.platform !== 'linux') return 'gVisor needs Linux. Run the layer in a Linux virtual machine or container.';
  if (process.arch !== 'x64' && process.arch !== 'arm64') return `gVisor does not run on ${process.arch} processors.`;
  const program = findProgram(settings.program);
  if (program === undefined) {
    return `The program ${settings.program} is missing. Type: apt-get install runsc, or see https://gvisor.dev/docs/user_guide/install/`;
  }
  const version = await versionOf(program);
  if (version === undefined) return `${program} does not say its version, so it is no runsc.`;
  const groups = findControlGroups();
  if (groups === undefined) {
    return 'gVisor is run only where its limits hold, and no control group is writable here. Run the layer as root, or delegate a group to it (systemd: Delegate=yes).';
  }
  void clearLeftovers(groups);
  const inherited = inheritableDescriptors();
  return {
    program,
    version,
    groups,
    inherited,
    slots: sharedUidSlots(),
    shown: shownPaths(),
    watch: createCrashWatch(inherited),
    canMap: createMapTrial(),
  };
}

/** runsc's own options, valid for the release of 2022 and newer ones. */
export function runscOptions(platform: GvisorPlatform, state: string, rootless: boolean): readonly string[] {
  return [`--root=${state}`, `--platform=${platform}`, '--network=none', '--ignore-cgroups', `--rootless=${rootless}`];
}

/** Runs a short runsc command. @returns whether it succeeded */
export async function runsc(program: string, options: readonly string[], uid: number | undefined): Promise<boolean> {
  const bounds = { timeout: GVISOR_BOUNDS.signalTimeoutMs, killSignal: 'SIGKILL', cwd: '/', env: {} } as const;
  try {
    await run(program, options, uid === undefined ? bounds : { ...bounds, uid, gid: uid });
    return true;
  } catch {
    return false;
  }
}

async function versionOf(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: GVISOR_BOUNDS.signalTimeoutMs, env: {} });
    return /runsc version (\S+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
