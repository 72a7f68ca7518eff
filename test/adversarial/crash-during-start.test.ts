import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownFolders } from '../../packages/sandbox/src/linux/limits/find-control-groups.ts';

const LAYER = join(import.meta.dirname, 'starting-layer.ts');
/** Kills are spread evenly over this time after the first start begins; one start takes some ms. */
const SPREAD_MS = 12;
/** Layers that are killed at the same time. */
const LANES = 4;
/** How long a sandbox may take to end after its layer. */
const PATIENCE_MS = 10_000;

const probe = await createBubblewrapDriver().probe();
const marks: string[] = [];
/** Pids of the layers that were killed. */
const killed: number[] = [];

/**
 * Folder for compiled code: without it each layer would compile all its code, because a killed layer never saves it.
 */
const compiled = mkdtempSync(join(tmpdir(), 'crash-compiled-'));
beforeAll(async () => {
  const layer = await startLayer(newMark(), 'upstream');
  layer.stdin.end();
  await once(layer, 'exit');
});

afterAll(() => {
  rmSync(compiled, { recursive: true, force: true });
  // Processes that a failed test left, so that they do not stay on the machine.
  for (const pid of survivors()) process.kill(Number(pid), 'SIGKILL');
});

describe.skipIf(!probe.works)(`a layer that is killed${probe.works ? '' : `, skipped: ${probe.problem}`}`, () => {
  test('SBX-08.4 nothing survives a layer that is killed at any moment of making a sandbox', async () => {
    await killManyTimes(64, [
      'tool',
      'tool without control groups',
      'tool with a writable folder',
      'tool with a way out',
    ]);
    expect(await survivorsAtLast()).toEqual([]);
  }, 240_000);

  test('EXE-11.3 SBX-08.4 no upstream survives a layer that is killed while it starts', async () => {
    await killManyTimes(12, ['upstream']);
    expect(await survivorsAtLast()).toEqual([]);
  }, 240_000);

  test('SBX-08 bubblewrap without a layer ends when it never got its arguments', async () => {
    // Not below /tmp, because a sandbox that starts mounts its own /tmp over it.
    const folder = mkdtempSync('/var/tmp/crash-');
    chmodSync(folder, 0o777);
    const program = join(folder, 'bwrap');
    const mark = newMark();
    // A stand-in that waits until the layer has ended, and then runs bubblewrap.
    const lines = [
      '#!/bin/sh',
      `case "$*" in *${mark}*) : >${folder}/begins; while test -d /proc/$(cat ${folder}/pid); do sleep 0.02; done ;; esac`,
      'exec bwrap "$@"',
      '',
    ];
    writeFileSync(program, lines.join('\n'), { mode: 0o755 });
    const layer = await startLayer(mark, 'tool with a writable folder', program);
    writeFileSync(join(folder, 'pid'), String(layer.pid));
    const ended = once(layer, 'exit');
    layer.stdin.write('go');
    // The stand-in cannot signal the layer itself, so it creates a file and the test kills the layer.
    await until(() => existsSync(join(folder, 'begins')));
    layer.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
    expect(await survivorsAtLast()).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  test('SBX-08 the next layer removes the control groups of those that were killed', async () => {
    await createBubblewrapDriver().probe();
    await until(() => groupsOfKilled().length === 0);
    expect(groupsOfKilled()).toEqual([]);
  });
});

/** Starts and kills layers, each one a little later in its work than the one before. */
async function killManyTimes(times: number, kinds: readonly string[]): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < times; index = next++) {
      const layer = await startLayer(newMark(), kinds[index % kinds.length] ?? '');
      let said = '';
      layer.stdout.on('data', (part: Buffer) => {
        said += part.toString();
      });
      layer.stdin.write('go');
      await sleep((SPREAD_MS * index) / times);
      const ended = once(layer, 'exit');
      layer.kill('SIGKILL');
      await ended;
      // The layer had not finished its work.
      expect(said).toBe('');
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function startLayer(mark: string, kind: string, program = 'bwrap') {
  const layer = spawn(process.execPath, [LAYER, mark, kind, program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  });
  if (layer.pid !== undefined) killed.push(layer.pid);
  await once(layer.stdout, 'data');
  return layer;
}

function newMark(): string {
  const mark = `${process.pid}${String(marks.length).padStart(4, '0')}`;
  marks.push(mark);
  return mark;
}

/** Processes that are still there after they had time enough to end. */
async function survivorsAtLast(): Promise<readonly string[]> {
  await until(() => survivors().length === 0);
  return survivors();
}

async function until(holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!holds() && performance.now() < giveUpAt) await sleep(20);
}

/** Pids of sandboxes of killed layers, of their launchers that hang, and of their crash watchers. */
function survivors(): string[] {
  return readdirSync('/proc').filter((pid) => {
    const line = commandLineOf(pid);
    return (
      marks.some((mark) => line.includes(`600.${mark}`)) || killed.some((layer) => line.endsWith(`-watch\0${layer}\0`))
    );
  });
}

function commandLineOf(pid: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
  } catch {
    return '';
  }
}

function groupsOfKilled(): string[] {
  const places = {
    mounts: readFileSync('/proc/self/mountinfo', 'utf8'),
    memberships: readFileSync('/proc/self/cgroup', 'utf8'),
  };
  const folders = [...new Set(ownFolders(places).values())].filter((folder) => existsSync(folder));
  const isOfKilled = (name: string): boolean => killed.some((pid) => new RegExp(`^sallyport-\\d+-${pid}-`).test(name));
  return folders.flatMap((folder) => readdirSync(folder).filter(isOfKilled));
}
