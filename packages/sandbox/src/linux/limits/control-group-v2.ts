import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import type { SandboxLimits } from '../../driver.port.ts';
import {
  boundAlike,
  type ControlGroups,
  CPU_PERIOD_US,
  cpuQuotaUs,
  LAUNCHER_PROCESSES,
  shareOf,
} from './control-group.ts';
import { counterIn, groupNames, readPids, readText, removeDeadGroups, removeGroupFolders } from './group-folder.ts';

/** Controllers that a sandbox needs. */
const NEEDED = ['memory', 'cpu', 'pids'];
const OWN_LEAF = 'sallyport-layer';

/**
 * Control groups v2 in a group that was delegated to the layer. Undefined where that is not so: a controller is missing,
 * or other processes live in the layer's group, which v2 forbids beside child groups.
 */
export function createControlGroupsV2(parent: string): ControlGroups | undefined {
  if (!delegates(parent)) return undefined;
  const nextName = groupNames();
  return {
    removeDead: () => removeDeadGroups([parent]),
    create(limits) {
      const folder = join(parent, nextName());
      mkdirSync(folder);
      try {
        if (limits !== undefined) writeLimits(folder, limits);
      } catch (error) {
        rmdirSync(folder);
        throw error;
      }
      const cpuMs = (): number => counterIn(readText(join(folder, 'cpu.stat')), 'usage_usec') / 1000;
      let has = limits;
      let cpuBeforeMs = 0;
      return {
        // v2 has no way for a thread to move itself alone, and the mover needs rights on both ends: the layer does it.
        joinFiles: [],
        admit: (pid) => writeFileSync(join(folder, 'cgroup.procs'), String(pid)),
        bound(bounds) {
          if (!boundAlike(has, bounds)) {
            has = undefined;
            writeLimits(folder, bounds);
            has = bounds;
          }
          cpuBeforeMs = cpuMs();
        },
        usage: () => ({
          cpuMs: cpuMs() - cpuBeforeMs,
          // Kernels before 6.12 do not let it begin anew, so the few megabytes of what waited in the group count.
          memoryPeakMb: Number(readText(join(folder, 'memory.peak'))) / MiB,
          oomKills: counterIn(readText(join(folder, 'memory.events')), 'oom_kill'),
          forksRefused: counterIn(readText(join(folder, 'pids.events')), 'max'),
        }),
        pids: () => readPids(folder),
        remove: () => removeGroupFolders([folder]),
      };
    },
  };
}

function delegates(parent: string): boolean {
  const present = words(join(parent, 'cgroup.controllers'));
  if (!NEEDED.every((name) => present.includes(name))) return false;
  const given = words(join(parent, 'cgroup.subtree_control'));
  if (NEEDED.every((name) => given.includes(name))) return true;
  const others = readPids(parent).filter((pid) => pid !== process.pid);
  if (others.length > 0) return false;
  try {
    const own = join(parent, OWN_LEAF);
    if (!existsSync(own)) mkdirSync(own);
    writeFileSync(join(own, 'cgroup.procs'), String(process.pid));
    writeFileSync(join(parent, 'cgroup.subtree_control'), NEEDED.map((name) => `+${name}`).join(' '));
    return true;
  } catch {
    return false;
  }
}

function writeLimits(folder: string, limits: SandboxLimits): void {
  writeFileSync(join(folder, 'memory.max'), String(limits.memoryMb * MiB));
  const swap = join(folder, 'memory.swap.max');
  if (existsSync(swap)) writeFileSync(swap, '0');
  writeFileSync(join(folder, 'pids.max'), String(limits.processesMax + LAUNCHER_PROCESSES));
  writeFileSync(join(folder, 'cpu.max'), `${cpuQuotaUs(limits.cpuMillicores)} ${CPU_PERIOD_US}`);
  const { cpuWeight, memoryKeptBytes } = shareOf(limits);
  writeFileSync(join(folder, 'cpu.weight'), String(cpuWeight));
  writeFileSync(join(folder, 'memory.low'), String(memoryKeptBytes));
}

function words(file: string): string[] {
  return readText(file).trim().split(/\s+/);
}
