import { chownSync, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import type { SandboxLimits } from '../../driver.port.ts';
import {
  boundAlike,
  type ControlGroup,
  type ControlGroups,
  cpuQuotaUs,
  LAUNCHER_PROCESSES,
  shareOf,
} from './control-group.ts';
import { counterIn, groupNames, readPids, readText, removeDeadGroups, removeGroupFolders } from './group-folder.ts';

/** Folder of the layer's own group in each hierarchy; controllers that are mounted together share one. */
export interface V1Parents {
  readonly memory: string;
  readonly cpu: string;
  readonly cpuacct: string;
  readonly pids: string;
}

type Folders = V1Parents;

/** The kernel's default `cpu.shares`, which are 100 of v2's weight. */
const DEFAULT_SHARES = 1024;

/**
 * Control groups v1. A sandbox joins by writing 0 into `tasks` itself: a single thread that moves itself needs no
 * lock over all processes, so it does not wait ~12 ms for a grace period as a write to `cgroup.procs` does.
 */
export function createControlGroupsV1(parents: V1Parents): ControlGroups {
  const nextName = groupNames();
  return {
    removeDead: () => removeDeadGroups([...new Set(Object.values(parents))]),
    create(limits, owner) {
      const name = nextName();
      const folders: Folders = {
        memory: join(parents.memory, name),
        cpu: join(parents.cpu, name),
        cpuacct: join(parents.cpuacct, name),
        pids: join(parents.pids, name),
      };
      const distinct = [...new Set(Object.values(folders))];
      try {
        for (const folder of distinct) mkdirSync(folder);
        if (limits !== undefined) writeLimits(folders, limits);
        return groupOf(folders, distinct, owner, limits);
      } catch (error) {
        for (const folder of distinct) if (existsSync(folder)) rmdirSync(folder);
        throw error;
      }
    },
  };
}

function groupOf(
  folders: Folders,
  distinct: readonly string[],
  owner: number | undefined,
  limits: SandboxLimits | undefined,
): ControlGroup {
  let has = limits;
  const joinFiles = distinct.map((folder) => join(folder, 'tasks'));
  if (owner !== undefined) for (const file of joinFiles) chownSync(file, owner, owner);
  return {
    joinFiles,
    bound(limits) {
      if (!boundAlike(has, limits)) {
        has = undefined;
        writeLimits(folders, limits);
        has = limits;
      }
      writeFileSync(join(folders.cpuacct, 'cpuacct.usage'), '0');
      writeFileSync(join(folders.memory, 'memory.max_usage_in_bytes'), '0');
    },
    usage: () => ({
      cpuMs: Number(readText(join(folders.cpuacct, 'cpuacct.usage'))) / 1e6,
      memoryPeakMb: Number(readText(join(folders.memory, 'memory.max_usage_in_bytes'))) / MiB,
      oomKills: counterIn(readText(join(folders.memory, 'memory.oom_control')), 'oom_kill'),
      forksRefused: counterIn(readText(join(folders.pids, 'pids.events')), 'max'),
    }),
    pids: () => readPids(folders.pids),
    remove: () => removeGroupFolders(distinct),
  };
}

function writeLimits(folders: Folders, limits: SandboxLimits): void {
  const memoryBytes = String(limits.memoryMb * MiB);
  writeFileSync(join(folders.memory, 'memory.limit_in_bytes'), memoryBytes);
  const withSwap = join(folders.memory, 'memory.memsw.limit_in_bytes');
  if (existsSync(withSwap)) writeFileSync(withSwap, memoryBytes);
  writeFileSync(join(folders.pids, 'pids.max'), String(limits.processesMax + LAUNCHER_PROCESSES));
  try {
    writeFileSync(join(folders.cpu, 'cpu.cfs_quota_us'), String(cpuQuotaUs(limits.cpuMillicores)));
  } catch (error) {
    // More than the layer itself may have: then the layer's own quota, which is smaller, bounds the group.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  }
  const { cpuWeight, memoryKeptBytes } = shareOf(limits);
  writeFileSync(join(folders.cpu, 'cpu.shares'), String(Math.round((cpuWeight * DEFAULT_SHARES) / 100)));
  writeFileSync(join(folders.memory, 'memory.soft_limit_in_bytes'), String(memoryKeptBytes));
}
