import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { SYSCALL_NUMBERS } from '../../linux/syscall-numbers.ts';
import { createBubblewrapDriver } from './bubblewrap-driver.ts';
import { SANDBOX_BOUNDS } from './settings.ts';

const { works } = await createBubblewrapDriver().probe();
/** The test starts a layer as an ordinary user, which only root may do. */
const canTry = works && process.getuid?.() === 0;
const call = (name: string): number => SYSCALL_NUMBERS[name]?.[process.arch === 'arm64' ? 'arm64' : 'x64'] ?? -1;
/**
 * More than any sandbox may get; the kernel allows a user some 100 inotify instances, and 10,000 queued signals or
 * more.
 */
const TRIES = 5000;

/**
 * Creates inotify instances and timers, each with a queued signal, until they are refused, and keeps them until its
 * input ends.
 */
const TAKES_ALL = `$| = 1; my ($watching, $timers, $id) = (0, 0, ' ' x 8);
  ++$watching while $watching < ${TRIES} and syscall(${call('inotify_init1')}, 0) >= 0;
  ++$timers while $timers < ${TRIES} and syscall(${call('timer_create')}, 0, 0, $id) >= 0;
  print "$watching $timers\\n"; <STDIN>`;

/** A layer of an ordinary user that checks what the user can still create while such a tool runs. */
const LAYER = `
  import { watch } from 'node:fs';
  import { once } from 'node:events';
  const { createBubblewrapDriver } = await import(${JSON.stringify(join(import.meta.dirname, 'bubblewrap-driver.ts'))});
  const driver = createBubblewrapDriver();
  const running = await driver.start({ label: 'test', command: ['/usr/bin/perl', '-e', ${JSON.stringify(TAKES_ALL)}], environment: {},
    mounts: [], network: [], limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 8, diskMb: 1 } });
  const [taken] = await once(running.stdout.setEncoding('utf8'), 'data');
  let left = 'nothing';
  try {
    watch('/').close();
    left = 'some';
  } catch {}
  running.stdin.end();
  await running.exited;
  console.log(taken.trim(), left);`;

test.runIf(canTry)(
  "SBX-03 a tool that takes what the kernel counts for the layer's user leaves that user some",
  async () => {
    const layer = spawn(process.execPath, ['--input-type=module', '-e', LAYER], {
      uid: 61_003,
      gid: 61_003,
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await Promise.all([text(layer.stdout), once(layer, 'exit')]);
    const [watching, timers, left] = said.trim().split(' ');
    expect(left).toBe('some');
    expect(Number(watching)).toBeGreaterThan(0);
    expect(Number(timers)).toBeLessThanOrEqual(SANDBOX_BOUNDS.signalsPendingMax);
  },
);
