import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlGroups } from './control-group.ts';
import { createControlGroupsV1 } from './control-group-v1.ts';
import { createControlGroupsV2 } from './control-group-v2.ts';

/** The two files that say where a process stands, as text. */
export interface GroupPlaces {
  /** /proc/self/mountinfo */
  readonly mounts: string;
  /** /proc/self/cgroup */
  readonly memberships: string;
}

const V1_CONTROLLERS = ['memory', 'cpu', 'cpuacct', 'pids'] as const;

/** Control groups where this process may make them, v1 before v2. Undefined where it may not. */
export function findControlGroups(): ControlGroups | undefined {
  const folders = ownFolders(readPlaces());
  const [memory, cpu, cpuacct, pids] = V1_CONTROLLERS.map((name) => folders.get(name));
  if (memory !== undefined && cpu !== undefined && cpuacct !== undefined && pids !== undefined) {
    const parents = { memory, cpu, cpuacct, pids };
    return Object.values(parents).every(isWritable) ? createControlGroupsV1(parents) : undefined;
  }
  const unified = folders.get('');
  return unified !== undefined && isWritable(unified) ? createControlGroupsV2(unified) : undefined;
}

/** Folder of this process's own group by controller; the empty name stands for the one hierarchy of v2. */
export function ownFolders({ mounts, memberships }: GroupPlaces): Map<string, string> {
  const paths = new Map<string, string>();
  for (const line of memberships.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    for (const name of controllers?.split(',') ?? []) paths.set(name, path ?? '/');
  }
  const folders = new Map<string, string>();
  for (const line of mounts.split('\n')) {
    const [before, after] = line.split(' - ');
    const [root, point] = before?.split(' ').slice(3, 5) ?? [];
    const [type, , options] = after?.split(' ') ?? [];
    if (root === undefined || point === undefined) continue;
    const names = type === 'cgroup2' ? [''] : type === 'cgroup' ? (options ?? '').split(',') : [];
    for (const name of names) {
      const path = paths.get(name);
      if (path !== undefined && !folders.has(name)) folders.set(name, join(point, below(path, root)));
    }
  }
  return folders;
}

function below(path: string, root: string): string {
  if (root === '/') return path;
  return path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : '/';
}

function readPlaces(): GroupPlaces {
  try {
    return {
      mounts: readFileSync('/proc/self/mountinfo', 'utf8'),
      memberships: readFileSync('/proc/self/cgroup', 'utf8'),
    };
  } catch {
    return { mounts: '', memberships: '' };
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
