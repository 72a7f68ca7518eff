import { MiB } from '@sallyport/std/bytes';
import type { SandboxLimits, SandboxPriority } from '../../driver.port.ts';

/** What a group counted. */
export interface GroupUsage {
  readonly cpuMs: number;
  readonly memoryPeakMb: number;
  /** Processes that the kernel killed because the group's memory was full. */
  readonly oomKills: number;
  /** Forks that were refused because the group had its number of processes. */
  readonly forksRefused: number;
}

/** The control group of one sandbox. */
export interface ControlGroup {
  /** Files into which the launcher writes 0 to join, before it becomes bubblewrap. */
  readonly joinFiles: readonly string[];
  /** Puts a process in; for hierarchies where it cannot join by itself. Called before it starts another. */
  admit?(pid: number): void;
  /**
   * Sets the limits and counts from zero, for a group that was made ahead of what runs in it. Limits that it has already are
   * not written again, so that whoever knows early what will be asked can set them early.
   * @throws the system's error when what is in the group is already more than it may be
   */
  bound(limits: SandboxLimits): void;
  usage(): GroupUsage;
  /** Pids of what still runs in it. */
  pids(): readonly number[];
  /** Removes the group, trying again while the kernel still holds it. */
  remove(): Promise<void>;
}

/** Makes groups under the one that the layer itself lives in, so that the layer's own bounds hold too. */
export interface ControlGroups {
  /**
   * Makes a group.
   * @param limits none when undefined; `bound` sets them before anything foreign runs in it
   * @param owner uid that joins it; the layer's own when undefined
   */
  create(limits: SandboxLimits | undefined, owner?: number): ControlGroup;
  /** Removes the groups of layers that are gone. Never rejects. */
  removeDead(): Promise<void>;
}

/** bubblewrap's own processes in a group: the one outside and the first one inside. */
export const LAUNCHER_PROCESSES = 2;
/** Period of the CPU quota; the kernel's default. */
export const CPU_PERIOD_US = 100_000;
/** Smallest quota that the kernel takes. */
const CPU_QUOTA_US_MIN = 1000;

/** A sandbox's part of what is too little for all. */
interface Share {
  /** Processor time relative to that of other sandboxes; 100 is the kernel's default. */
  readonly cpuWeight: number;
  /** Part of its memory, 0 to 1, that the kernel takes only when no other memory of sandboxes is left to take. */
  readonly memoryKept: number;
}

const SHARES: Readonly<Record<SandboxPriority, Share>> = {
  low: { cpuWeight: 25, memoryKept: 0 },
  normal: { cpuWeight: 100, memoryKept: 0.5 },
  high: { cpuWeight: 400, memoryKept: 1 },
};

/** The share of a sandbox with these limits: its weight, and the bytes that it keeps. */
export function shareOf({ priority = 'normal', memoryMb }: SandboxLimits): {
  readonly cpuWeight: number;
  readonly memoryKeptBytes: number;
} {
  const { cpuWeight, memoryKept } = SHARES[priority];
  return { cpuWeight, memoryKeptBytes: Math.floor(memoryMb * memoryKept) * MiB };
}

/** Whether a group that has the bounds of one has those of the other too. */
export function boundAlike(one: SandboxLimits | undefined, other: SandboxLimits): boolean {
  return (
    one?.memoryMb === other.memoryMb &&
    one.processesMax === other.processesMax &&
    one.cpuMillicores === other.cpuMillicores &&
    one.priority === other.priority
  );
}

/** CPU time in one period for a share in thousandths of a core. */
export function cpuQuotaUs(cpuMillicores: number): number {
  return Math.max(CPU_QUOTA_US_MIN, Math.round((cpuMillicores * CPU_PERIOD_US) / 1000));
}
