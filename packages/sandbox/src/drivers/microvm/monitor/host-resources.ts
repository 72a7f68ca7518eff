import { accessSync, constants, openSync } from 'node:fs';
import type { DriverProbe } from '../../../driver.port.ts';
import { clearLeftovers } from '../../../linux/crash/clear-leftovers.ts';
import { type CrashWatch, createCrashWatch } from '../../../linux/crash/crash-watch.ts';
import { inheritableDescriptors } from '../../../linux/inherited-descriptors.ts';
import type { KeptBytes } from '../../../linux/kept-bytes.ts';
import type { ControlGroups } from '../../../linux/limits/control-group.ts';
import { findControlGroups } from '../../../linux/limits/find-control-groups.ts';
import { sharedUidSlots, type UidSlots } from '../../../linux/uid-slots.ts';

/** What all machines of one driver share. */
export interface HostResources {
  readonly groups: ControlGroups | undefined;
  /** Present when the layer is root. */
  readonly slots: UidSlots | undefined;
  readonly watch: CrashWatch;
  readonly inherited: readonly number[];
  /** Covers inherited descriptors. */
  readonly nothing: KeptBytes;
}

export function prepareHostResources(useGroups: boolean): HostResources {
  const inherited = inheritableDescriptors();
  const groups = useGroups ? findControlGroups() : undefined;
  void clearLeftovers(groups);
  return {
    groups,
    slots: sharedUidSlots(),
    watch: createCrashWatch(inherited),
    inherited,
    nothing: { open: () => openSync('/dev/null', 'r') },
  };
}

export function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** What machine monitors on this computer cannot be held to. The guest itself bounds memory, processes and disk of its tool. */
export function weaknessesOf({ groups }: HostResources): Pick<DriverProbe, 'weaknesses' | 'weakerLimits'> {
  if (groups !== undefined) return { weaknesses: [] };
  return {
    weaknesses: [
      'No control group is writable: a machine may use whole processor cores, whatever its share.',
      'No control group is writable: memory is bounded inside the guest only.',
      'No control group is writable: what a machine used that was killed is not measured.',
    ],
    weakerLimits: ['cpu', 'usage'],
  };
}
