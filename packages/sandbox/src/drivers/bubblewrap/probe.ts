import { openSync } from 'node:fs';
import { findProgram } from '@sallyport/std/files/find-program';
import type { LimitName } from '../../driver.port.ts';
import { clearLeftovers } from '../../linux/crash/clear-leftovers.ts';
import { createCrashWatch } from '../../linux/crash/crash-watch.ts';
import { ownMark } from '../../linux/crash/layer-mark.ts';
import { inheritableDescriptors } from '../../linux/inherited-descriptors.ts';
import { keepBytes } from '../../linux/kept-bytes.ts';
import type { ControlGroups } from '../../linux/limits/control-group.ts';
import { findControlGroups } from '../../linux/limits/find-control-groups.ts';
import { type CanMap, createMapTrial } from '../../linux/stage/mapped-owner.ts';
import { sharedUidSlots, type UidSlots } from '../../linux/uid-slots.ts';
import { createForkServer } from './fork-server/fork-server.ts';
import { type Launchpad, SHARED_FILES } from './process/launch.ts';
import { LAUNCHER_COMMAND, LAUNCHER_SOCKETS } from './process/launcher.ts';
import { createLauncherStock, type LauncherStock } from './process/launcher-stock.ts';
import { type Architecture, compileFilter } from './seccomp/compile-filter.ts';
import type { BubblewrapSettings } from './settings.ts';
import { baseSystemArguments, ETC_FILES, kernelArguments } from './view/base-system.ts';
import { NODE_STUB } from './warm/node-stub.ts';

/** Everything that a driver needs to start sandboxes on this machine. */
export interface HostResources {
  readonly pad: Launchpad;
  readonly groups: ControlGroups | undefined;
  /** Present when the layer is root. */
  readonly slots: UidSlots | undefined;
  readonly stock: LauncherStock;
  readonly canMap: CanMap;
}

/** A higher descriptor cannot be covered; no program that starts services uses such numbers. */
const DESCRIPTOR_MAX = 4096;

/** Prepares the shared parts. @returns the hostResources, or one sentence that says what is missing */
export function prepareHostResources(settings: BubblewrapSettings): HostResources | string {
  if (process.platform !== 'linux')
    return 'Sandboxes need Linux. Run the layer in a Linux virtual machine or container.';
  const architecture = process.arch;
  if (architecture !== 'x64' && architecture !== 'arm64') {
    return `There is no system call filter for ${architecture} processors; x64 and arm64 have one.`;
  }
  const program = findProgram(settings.program);
  if (program === undefined) {
    return `The program ${settings.program} is missing. Type: apt-get install bubblewrap`;
  }
  const inherited = inheritableDescriptors();
  if (inherited.some((descriptor) => descriptor > DESCRIPTOR_MAX)) {
    return 'The layer was started with an open file descriptor above 4096 that tools would inherit. Close it at the start.';
  }
  const groups = settings.controlGroups ? findControlGroups() : undefined;
  void clearLeftovers(groups);
  const slots = sharedUidSlots();
  const pad = launchpad(program, inherited, architecture, slots === undefined);
  return stocked({ pad, groups, slots }, settings);
}

/** A hostResources with a stock of launchers in these groups. */
export function stocked(
  parts: Omit<HostResources, 'stock' | 'canMap'>,
  { launchersReady }: BubblewrapSettings,
): HostResources {
  const { pad, groups, slots } = parts;
  const stock = createLauncherStock({ ...pad, groups, slots, ready: launchersReady });
  return { pad, groups, slots, stock, canMap: createMapTrial() };
}

/** Limits that are weaker without control groups. */
export const WEAKER_WITHOUT_GROUPS: readonly LimitName[] = ['memory', 'cpu', 'usage'];

/** What this machine cannot enforce, determined after a trial sandbox. */
export function weaknessesOf({ groups, pad }: HostResources): readonly string[] {
  const shared = pad.forkServer.isBounded()
    ? []
    : [
        'Tools share inotify with the user of the layer, and may use it up: perl or the kernel sets them no bound here.',
      ];
  if (groups !== undefined) return shared;
  return [
    ...shared,
    'No control group is writable: a tool may use whole processor cores, whatever its share.',
    'No control group is writable: memory is bounded by sampling, so a fast tool may pass its limit for some 50 ms.',
    'No control group is writable: processor time and peak memory are sampled, so short calls show too little.',
  ];
}

/** Turns bubblewrap's error into a sentence that says what to do. */
export function explainFailure(complaint: string): string {
  if (/Unknown option/i.test(complaint)) {
    return 'This bubblewrap is too old; version 0.8.0 or newer is needed. Type: apt-get install bubblewrap';
  }
  if (/namespace|uid map|Operation not permitted|Permission denied|No space left/i.test(complaint)) {
    return (
      'This machine does not let ordinary programs make user namespaces. Type one of: ' +
      'sysctl -w user.max_user_namespaces=10000; sysctl -w kernel.unprivileged_userns_clone=1 (Debian); ' +
      'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu). ' +
      'In a container, its own system call filter must allow them.'
    );
  }
  return `bubblewrap does not work here: ${complaint.trim() || 'it ended without a word'}.`;
}

function launchpad(
  program: string,
  inherited: readonly number[],
  architecture: Architecture,
  sharesUser: boolean,
): Launchpad {
  const nothing = { open: () => openSync('/dev/null', 'r') };
  const runtimeStub = keepBytes(NODE_STUB);
  const etcFiles = SHARED_FILES.map((path) => keepBytes(ETC_FILES[path] ?? ''));
  const files = [runtimeStub, ...etcFiles];
  return {
    program,
    inherited,
    fixed: { baseSystem: baseSystemArguments(), kernel: kernelArguments() },
    filter: compileFilter(architecture),
    uncountedFilter: compileFilter(architecture, false),
    etcFiles,
    runtimeStub,
    nothing,
    mark: ownMark(),
    watch: createCrashWatch(inherited),
    forkServer: createForkServer({
      command: LAUNCHER_COMMAND,
      sockets: LAUNCHER_SOCKETS,
      files,
      inherited,
      nothing,
      sharesUser,
    }),
  };
}
