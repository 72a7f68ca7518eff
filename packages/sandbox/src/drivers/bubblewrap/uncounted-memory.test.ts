import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { SandboxExit } from '../../driver.port.ts';
import { SYSCALL_NUMBERS } from '../../linux/syscall-numbers.ts';
import { createBubblewrapDriver } from './bubblewrap-driver.ts';

const driver = createBubblewrapDriver({ controlGroups: false });
const probed = await driver.probe();
const isRoot = process.getuid?.() === 0;
const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
const call = (name: string): number => SYSCALL_NUMBERS[name]?.[architecture] ?? -1;

const MEMORY_MB = 64;
const LIMITS = { cpuMillicores: 2000, memoryMb: MEMORY_MB, processesMax: 8, diskMb: 512 };

/** Ways to hold 256 MB outside of a process's own memory. Each of them ends with the number of MB in `$held`. */
const WAYS: Readonly<Record<string, string>> = {
  'a memfd': `
    my $fd = syscall(${call('memfd_create')}, my $name = 'm', 0);
    if ($fd >= 0) { open(my $file, '>&=', $fd); for (1 .. 256) { $held += (syswrite($file, $mb) // 0) / length $mb } $keep = $file }`,
  'files in /tmp': `
    for (1 .. 256) { open(my $file, '>', "/tmp/$_") or last; my $n = syswrite($file, $mb) // last; $held += $n / length $mb }`,
  'a deleted file': `
    open(my $file, '+>', '/tmp/gone'); unlink '/tmp/gone'; $keep = $file;
    for (1 .. 256) { my $n = syswrite($file, $mb) // last; $held += $n / length $mb }`,
  'shared memory without a name': `
    my $at = syscall(${call('mmap')}, 0, 256 << 20, 3, 0x21, -1, 0);
    open(my $zero, '<', '/dev/zero');
    for (0 .. 255) { my $n = syscall(${call('read')}, fileno $zero, $at + ($_ << 20), 1 << 20); last if $n < 0; $held += $n / (1 << 20) }`,
  'pipes made large': `
    for (1 .. 200) { pipe(my $in, my $out) or last; fcntl($out, 1031, 1 << 20); fcntl($out, 4, 2048); push @keep, $in, $out;
      while (my $n = syswrite($out, $page)) { $held += $n / length $mb } }`,
  'sockets of many processes': `
    pipe(my $told, my $tell);
    for (1 .. 6) { next if fork; my $mine = 0;
      for (1 .. 500) { socketpair(my $in, my $out, 1, 1, 0) or last; $out->blocking(0); push @keep, $in, $out;
        while (my $n = syswrite($out, $page)) { $mine += $n / length $mb } }
      syswrite($tell, "$mine\\n"); sleep 2; exit }
    for (1 .. 6) { $held += <$told> }`,
  'sockets made large': `
    for (1 .. 400) { socketpair(my $in, my $out, 1, 1, 0) or last; setsockopt($out, 1, 7, 1 << 22); $out->blocking(0); push @keep, $in, $out;
      while (my $n = syswrite($out, $page)) { $held += $n / length $mb } }`,
};

const program = (way: string): string => `use IO::Handle; use Socket; our (@keep, $keep); my $held = 0;
  my $mb = 'x' x (1 << 20); my $page = 'x' x 4096; ${way}
  sleep 1; printf "%d", $held;`;

/** Runs a program that holds memory. @returns the amount that it reports at its end, unless a limit ended it before */
async function held(way: string): Promise<{ readonly said: string; readonly exit: SandboxExit }> {
  await using running = await driver.start({
    label: 'test',
    command: ['/usr/bin/perl', '-e', program(way)],
    environment: {},
    mounts: [],
    network: [],
    limits: LIMITS,
  });
  running.stdin.end();
  const [said, exit] = await Promise.all([text(running.stdout), running.exited, text(running.stderr)]);
  return { said, exit };
}

describe.skipIf(!probed.works)('without control groups', () => {
  for (const [name, way] of Object.entries(WAYS)) {
    test(`SBX-03 ${name}: no more is held than the memory limit, or it is refused`, { timeout: 30_000 }, async () => {
      const { said, exit } = await held(way);
      if (exit.violation !== 'memory') {
        expect(exit.code).toBe(0);
        expect(Number(said)).toBeLessThanOrEqual(MEMORY_MB);
      }
    });
  }

  test('SBX-03 Node and Perl start with a limit of 64 MB', async () => {
    await using running = await driver.start({
      label: 'test',
      command: [process.execPath, '-e', 'console.log(Buffer.alloc(1e6).length)'],
      environment: {},
      mounts: [{ path: process.execPath, mode: 'ro' }],
      network: [],
      limits: { ...LIMITS, processesMax: 32 },
    });
    running.stdin.end();
    expect(await text(running.stdout)).toBe('1000000\n');
    expect((await running.exited).weakerLimits).toEqual(['memory', 'cpu', 'usage']);
  });

  test.runIf(isRoot)('SBX-03 the same holds for a layer that is an ordinary user', { timeout: 60_000 }, async () => {
    const ways = ['a memfd', 'files in /tmp', 'sockets of many processes'].map((name) => program(WAYS[name] ?? ''));
    const script = `
      const { createBubblewrapDriver } = await import(${JSON.stringify(join(import.meta.dirname, 'bubblewrap-driver.ts'))});
      const { text } = await import('node:stream/consumers');
      const driver = createBubblewrapDriver({ controlGroups: false });
      for (const way of ${JSON.stringify(ways)}) {
        const running = await driver.start({ label: 'test', command: ['/usr/bin/perl', '-e', way], environment: {}, mounts: [],
          network: [], limits: ${JSON.stringify(LIMITS)} });
        running.stdin.end();
        const [said, exit] = await Promise.all([text(running.stdout), running.exited, text(running.stderr)]);
        console.log(exit.violation ?? Number(said));
      }`;
    const layer = spawn(process.execPath, ['--input-type=module', '-e', script], {
      uid: 61_000,
      gid: 61_000,
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await Promise.all([text(layer.stdout ?? process.stdin), once(layer, 'exit')]);
    const lines = said.trim().split('\n');
    expect(lines).toHaveLength(ways.length);
    for (const line of lines) expect(line === 'memory' || Number(line) <= MEMORY_MB, line).toBe(true);
  });
});
