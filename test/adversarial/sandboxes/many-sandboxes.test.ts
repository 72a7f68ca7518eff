import { text } from 'node:stream/consumers';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { MiB } from '@sallyport/std/bytes';
import { heldBytes } from '@sallyport/std/held-bytes';
import { describe, expect, test } from 'vitest';
import { hostState, leftSince } from '../host-state.ts';

const SANDBOXES = 1000;
/** Number of sandboxes before the first measurement: modules are loaded and the heap has its usual size by then. */
const FIRST = 100;
/** Sandboxes at the same time, so that two processors are busy. */
const LANES = 2;
/** By how much the layer's memory may grow in 900 sandboxes: a leak of 1 KiB for each would be noticed. */
const GROWTH_BYTES_MAX = 0.75 * MiB;

const driver = createBubblewrapDriver();
const probe = await driver.probe();

describe.skipIf(!probe.works)(`many sandboxes${probe.works ? '' : `, skipped: ${probe.problem}`}`, () => {
  test('SBX-08.1 a thousand sandboxes in a row leave no process, descriptor, control group or megabyte', async () => {
    await runMany(FIRST);
    const before = hostState();
    const held = heldBytes();
    await runMany(SANDBOXES - FIRST);
    expect(await leftSince(before)).toEqual([]);
    expect(heldBytes() - held).toBeLessThan(GROWTH_BYTES_MAX);
  }, 240_000);
});

async function runMany(count: number): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await runOne();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function runOne(): Promise<void> {
  const running = await driver.start({
    label: 'one of many',
    command: ['/bin/sh', '-c', 'echo out; echo err >&2; echo x >/tmp/x'],
    environment: { VALUE: 'x' },
    mounts: [],
    network: [],
    limits: { cpuMillicores: 1000, memoryMb: 32, processesMax: 8, diskMb: 1 },
  });
  running.stdin.end();
  const [exit, out, error] = await Promise.all([running.exited, text(running.stdout), text(running.stderr)]);
  expect([exit.code, out, error]).toEqual([0, 'out\n', 'err\n']);
}
