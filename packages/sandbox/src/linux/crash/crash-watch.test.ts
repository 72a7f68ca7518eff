import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { startOf } from './layer-mark.ts';

const bystanders: ChildProcess[] = [];
afterEach(() => {
  for (const child of bystanders.splice(0)) child.kill('SIGKILL');
});

/** Starts a process in a new process group, which only this test or the crash watch ends. */
const bystander = (): ChildProcess & { pid: number } => {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  bystanders.push(child);
  return child as ChildProcess & { pid: number };
};
const killed = async (child: ChildProcess): Promise<boolean> => {
  if (child.signalCode === null) await once(child, 'exit');
  return child.signalCode === 'SIGKILL';
};

/** Starts a process with a crash watch, which runs some lines and is then killed. */
async function crashAfter(lines: string): Promise<void> {
  const script = `
    const { createCrashWatch, groupTarget, processTarget } = await import(${JSON.stringify(join(import.meta.dirname, 'crash-watch.ts'))});
    const watch = createCrashWatch([]);
    ${lines}
    process.kill(process.pid, 'SIGKILL');`;
  const layer = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  const complaint = text(layer.stderr);
  const [, signal] = await once(layer, 'exit');
  expect([signal, await complaint]).toEqual(['SIGKILL', '']);
  while (watchesOf(layer.pid).length > 0) await sleep(5);
}

function watchesOf(pid: number | undefined): string[] {
  return readdirSync('/proc').filter((entry) => {
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'utf8').endsWith(`\0sallyport-crash-watch\0${pid}\0`);
    } catch {
      return false;
    }
  });
}

test('SBX-08 what was noted ends with the layer, and what was taken back stays', async () => {
  const [group, single, before, back, replaced] = [1, 2, 3, 4, 5].map(bystander);
  const start = (child = bystander()): string => startOf(child.pid) ?? '';
  await crashAfter(`
    await watch.note(groupTarget(${group?.pid}));
    await watch.note(groupTarget(${replaced?.pid}));
    await watch.note(processTarget(${single?.pid}, '${start(single)}'), groupTarget(${replaced?.pid}));
    await watch.note(processTarget(${before?.pid}, '${Number(start(before)) - 1}'));
    await watch.note(groupTarget(${back?.pid}));
    watch.forget(groupTarget(${back?.pid}));`);
  expect(await Promise.all([group, single].map((child = bystander()) => killed(child)))).toEqual([true, true]);
  // A process with the same pid and another start time is another process.
  expect([before, back, replaced].map((child) => child?.signalCode)).toEqual([null, null, null]);
});

test('SBX-08 a watch that somebody ended is started anew, with all that is noted', async () => {
  const [first, second] = [1, 2].map(bystander);
  await crashAfter(`
    await watch.note(groupTarget(${first?.pid}));
    const { readdirSync, readFileSync } = await import('node:fs');
    const isWatch = (pid) => { try { return readFileSync('/proc/' + pid + '/cmdline', 'utf8').endsWith('-crash-watch\\0' + process.pid + '\\0'); } catch { return false; } };
    for (const pid of readdirSync('/proc').filter(isWatch)) process.kill(Number(pid), 'SIGKILL');
    while (readdirSync('/proc').some(isWatch)) await new Promise((resolve) => setTimeout(resolve, 5));
    await watch.note(groupTarget(${second?.pid}));`);
  expect(await Promise.all([first, second].map((child = bystander()) => killed(child)))).toEqual([true, true]);
});

test('a layer with a watch ends by itself, and the watch with it', async () => {
  const script = `
    const { createCrashWatch, groupTarget } = await import(${JSON.stringify(join(import.meta.dirname, 'crash-watch.ts'))});
    const watch = createCrashWatch([]);
    await watch.note(groupTarget(4194305));
    watch.forget(groupTarget(4194305));`;
  const layer = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  const [code] = await once(layer, 'exit');
  expect(code).toBe(0);
  while (watchesOf(layer.pid).length > 0) await sleep(5);
});
