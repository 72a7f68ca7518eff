import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownMark } from '../crash/layer-mark.ts';
import { createControlGroupsV1 } from './control-group-v1.ts';
import { createControlGroupsV2 } from './control-group-v2.ts';
import { ownFolders } from './find-control-groups.ts';

const LIMITS = { cpuMillicores: 250, memoryMb: 64, processesMax: 16, diskMb: 1 };

/** A folder with the files of a control group. They are ordinary files, so the test writes what the kernel would. */
let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'groups-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const fill = (folder: string, files: Record<string, string>): void => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
};

test('v2: the limits are written and the figures read', () => {
  fill(parent, { 'cgroup.controllers': 'cpuset cpu io memory pids\n', 'cgroup.subtree_control': 'cpu memory pids\n' });
  const group = createControlGroupsV2(parent)?.create(LIMITS);
  const [name = ''] = readdirSync(parent).filter((entry) => entry.startsWith('sallyport-'));
  const read = (file: string): string => readFileSync(join(parent, name, file), 'utf8');
  expect([read('memory.max'), read('pids.max'), read('cpu.max')]).toEqual(['67108864', '18', '25000 100000']);
  expect(group?.joinFiles).toEqual([]);
  group?.admit?.(4321);
  expect(read('cgroup.procs')).toBe('4321');
  expect(group?.pids()).toEqual([4321]);
  fill(join(parent, name), {
    'cpu.stat': 'usage_usec 2500\nuser_usec 2000\n',
    'memory.peak': '3145728\n',
    'memory.events': 'low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n',
    'pids.events': 'max 2\n',
  });
  expect(group?.usage()).toEqual({ cpuMs: 2.5, memoryPeakMb: 3, oomKills: 1, forksRefused: 2 });
});

test('SBX-07 v2: a group that was made ahead counts from when it got its limits', () => {
  fill(parent, { 'cgroup.controllers': 'cpu memory pids\n', 'cgroup.subtree_control': 'cpu memory pids\n' });
  const group = createControlGroupsV2(parent)?.create(undefined);
  const [name = ''] = readdirSync(parent).filter((entry) => entry.startsWith('sallyport-'));
  const folder = join(parent, name);
  expect(readdirSync(folder)).toEqual([]);
  fill(folder, { 'cpu.stat': 'usage_usec 40000\n' });
  group?.bound(LIMITS);
  expect(readFileSync(join(folder, 'memory.max'), 'utf8')).toBe('67108864');
  fill(folder, { 'cpu.stat': 'usage_usec 42500\n' });
  expect(group?.usage().cpuMs).toBe(2.5);
});

test('v2: limits that a group has are not written again, others are', () => {
  fill(parent, { 'cgroup.controllers': 'cpu memory pids\n', 'cgroup.subtree_control': 'cpu memory pids\n' });
  const group = createControlGroupsV2(parent)?.create(undefined);
  const [name = ''] = readdirSync(parent).filter((entry) => entry.startsWith('sallyport-'));
  const folder = join(parent, name);
  group?.bound(LIMITS);
  fill(folder, { 'memory.max': 'untouched', 'pids.max': 'untouched', 'cpu.max': 'untouched' });
  group?.bound({ ...LIMITS, diskMb: 2 });
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  expect([read('memory.max'), read('pids.max'), read('cpu.max')]).toEqual(['untouched', 'untouched', 'untouched']);
  for (const other of [{ memoryMb: 65 }, { processesMax: 15 }, { cpuMillicores: 251 }]) {
    fill(folder, { 'memory.max': 'untouched' });
    group?.bound({ ...LIMITS, ...other });
    expect(read('memory.max')).not.toBe('untouched');
  }
});

test('v1: limits that could not be written are written anew, and a group that has them counts from zero', () => {
  for (const name of ['memory', 'cpu', 'pids']) mkdirSync(join(parent, name));
  const cpu = join(parent, 'cpu');
  const groups = createControlGroupsV1({
    memory: join(parent, 'memory'),
    cpu,
    cpuacct: cpu,
    pids: join(parent, 'pids'),
  });
  const group = groups.create(LIMITS);
  const [name = ''] = readdirSync(cpu);
  const limit = join(parent, 'memory', name, 'memory.limit_in_bytes');
  const usage = join(cpu, name, 'cpuacct.usage');
  rmSync(limit);
  writeFileSync(usage, '17');
  group.bound(LIMITS);
  expect([existsSync(limit), readFileSync(usage, 'utf8')]).toEqual([false, '0']);
  mkdirSync(limit);
  expect(() => group.bound({ ...LIMITS, memoryMb: 32 })).toThrow();
  rmSync(limit, { recursive: true });
  group.bound(LIMITS);
  expect(readFileSync(limit, 'utf8')).toBe('67108864');
});

test('PIPE-16 v2: the priority decides the weight of the processor and the memory that is kept, and a group changes it', () => {
  fill(parent, { 'cgroup.controllers': 'cpu memory pids\n', 'cgroup.subtree_control': 'cpu memory pids\n' });
  const group = createControlGroupsV2(parent)?.create(LIMITS);
  const [name = ''] = readdirSync(parent).filter((entry) => entry.startsWith('sallyport-'));
  const shares = (): string[] =>
    ['cpu.weight', 'memory.low'].map((file) => readFileSync(join(parent, name, file), 'utf8'));
  expect(shares()).toEqual(['100', '33554432']);
  group?.bound({ ...LIMITS, priority: 'high' });
  expect(shares()).toEqual(['400', '67108864']);
  group?.bound({ ...LIMITS, priority: 'low' });
  expect(shares()).toEqual(['25', '0']);
});

test('v2: a group that is not delegated is not used', () => {
  fill(parent, { 'cgroup.controllers': 'cpu memory\n', 'cgroup.subtree_control': '' });
  expect(createControlGroupsV2(parent)).toBeUndefined();
  // A process that is not the layer's is in the layer's group, so the kernel allows no controllers for child groups.
  fill(parent, { 'cgroup.controllers': 'cpu memory pids\n', 'cgroup.procs': `${process.pid}\n1\n` });
  expect(createControlGroupsV2(parent)).toBeUndefined();
});

test('v2: a layer that is alone in its group moves aside and hands the controllers down', () => {
  fill(parent, {
    'cgroup.controllers': 'cpu memory pids\n',
    'cgroup.subtree_control': '',
    'cgroup.procs': `${process.pid}\n`,
  });
  expect(createControlGroupsV2(parent)).toBeDefined();
  expect(readFileSync(join(parent, 'sallyport-layer', 'cgroup.procs'), 'utf8')).toBe(String(process.pid));
  expect(readFileSync(join(parent, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +cpu +pids');
});

test('v1: the limits are written in each hierarchy, and hierarchies that are one get one folder', () => {
  for (const name of ['memory', 'cpu,cpuacct', 'pids']) mkdirSync(join(parent, name));
  const cpu = join(parent, 'cpu,cpuacct');
  const groups = createControlGroupsV1({
    memory: join(parent, 'memory'),
    cpu,
    cpuacct: cpu,
    pids: join(parent, 'pids'),
  });
  const group = groups.create(LIMITS);
  expect(group.joinFiles).toHaveLength(3);
  const [name = ''] = readdirSync(cpu);
  expect(readFileSync(join(cpu, name, 'cpu.cfs_quota_us'), 'utf8')).toBe('25000');
  expect(readFileSync(join(parent, 'memory', name, 'memory.limit_in_bytes'), 'utf8')).toBe('67108864');
  expect(readFileSync(join(parent, 'pids', name, 'pids.max'), 'utf8')).toBe('18');
  expect(readFileSync(join(cpu, name, 'cpu.shares'), 'utf8')).toBe('1024');
  expect(readFileSync(join(parent, 'memory', name, 'memory.soft_limit_in_bytes'), 'utf8')).toBe('33554432');
});

test('v1: a limit that cannot be written leaves no group behind', () => {
  for (const name of ['memory', 'cpu']) mkdirSync(join(parent, name));
  const folder = join(parent, 'cpu');
  const missing = join(parent, 'missing', 'deep');
  mkdirSync(join(parent, 'missing'));
  writeFileSync(missing, 'a file where a folder should be');
  const open = (): unknown =>
    createControlGroupsV1({ memory: join(parent, 'memory'), cpu: folder, cpuacct: folder, pids: missing }).create(
      LIMITS,
    );
  expect(open).toThrow();
  expect([readdirSync(join(parent, 'memory')), readdirSync(folder)]).toEqual([[], []]);
});

test('SBX-08 groups of a layer that is dead are removed, those of a living one and of other machines stay', async () => {
  fill(parent, { 'cgroup.controllers': 'cpu memory pids\n', 'cgroup.subtree_control': 'cpu memory pids\n' });
  const [namespace, pid, start] = ownMark().split('-');
  const folders = {
    dead: `sallyport-${namespace}-4194305-7-0123abcd-1`,
    sameNumberBefore: `sallyport-${namespace}-${pid}-1-0123abcd-1`,
    alive: `sallyport-${namespace}-${pid}-${start}-0123abcd-1`,
    elsewhere: `sallyport-1-4194305-7-0123abcd-1`,
    other: 'sallyport-layer',
  };
  for (const name of Object.values(folders)) mkdirSync(join(parent, name));
  await createControlGroupsV2(parent)?.removeDead();
  expect(readdirSync(parent).filter((name) => name.startsWith('sallyport-'))).toEqual(
    [folders.alive, folders.elsewhere, folders.other].sort(),
  );
});

test('the own group is found in its hierarchy, also where a container shows only a part of it', () => {
  const mounts = [
    '30 23 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
    '31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
    '32 23 0:28 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
    '33 23 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd',
    '34 23 0:30 / / rw - ext4 /dev/vda rw',
  ].join('\n');
  const memberships = '4:memory:/user/a\n3:cpu,cpuacct:/docker/abc/b\n1:name=systemd:/\n0::/user/a\n';
  expect(Object.fromEntries(ownFolders({ mounts, memberships }))).toEqual({
    '': '/sys/fs/cgroup/unified/user/a',
    memory: '/sys/fs/cgroup/memory/user/a',
    cpu: '/sys/fs/cgroup/cpu,cpuacct/b',
    cpuacct: '/sys/fs/cgroup/cpu,cpuacct/b',
    'name=systemd': '/sys/fs/cgroup/systemd/',
  });
  expect(ownFolders({ mounts: '', memberships: '' }).size).toBe(0);
});
