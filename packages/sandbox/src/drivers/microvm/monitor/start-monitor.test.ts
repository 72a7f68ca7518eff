import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createUidSlots } from '../../../linux/uid-slots.ts';
import { prepareHostResources } from './host-resources.ts';
import { openBerth, startMonitor } from './start-monitor.ts';

const LIMITS = { cpuMillicores: 1000, memoryMb: 64, processesMax: 8, diskMb: 1 };
const SIZE = { memoryMb: 128, processors: 1 };

test.skipIf(process.getuid?.() !== 0)('a berth that is closed twice gives its uid back once (needs root)', async () => {
  const slots = createUidSlots(undefined, 3);
  const hostResources = { ...prepareHostResources(false), slots };
  const berth = openBerth(hostResources, SIZE, LIMITS);
  await berth.close();
  await berth.close();
  expect(existsSync(berth.folder)).toBe(false);
  expect([slots?.take(), slots?.take(), slots?.take(), slots?.take()].filter((uid) => uid === berth.uid)).toHaveLength(
    1,
  );
});

test('a monitor gets an empty environment, its folder, and what it says about its end is kept', async () => {
  const hostResources = prepareHostResources(true);
  const berth = openBerth(hostResources, SIZE, LIMITS);
  const script = 'test "$(pwd)" = "$1" && test -z "$HOME$NODE_OPTIONS" && echo complaint >&2; exit 3';
  const monitor = await startMonitor(hostResources, berth, ['/bin/sh', '-c', script, 'sh', berth.folder]);
  expect(await monitor.gone).toMatchObject({ code: 3, signal: null, complaint: 'complaint' });
  await berth.close();
});

test('a program that is not there is an end with words', async () => {
  const hostResources = prepareHostResources(true);
  const berth = openBerth(hostResources, SIZE, LIMITS);
  const monitor = await startMonitor(hostResources, berth, ['/nowhere/monitor']);
  expect(await monitor.gone).toMatchObject({ code: 127, complaint: expect.stringContaining('/nowhere/monitor') });
  await berth.close();
});
