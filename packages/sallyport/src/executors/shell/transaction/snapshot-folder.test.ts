import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { NotSecured } from './snapshot.ts';
import { openSnapshotFolder } from './snapshot-folder.ts';
import { takeSnapshot } from './take-snapshot.ts';
import { described, newScratch } from './tree.fixture.ts';

const FIXTURE = join(import.meta.dirname, 'crash.fixture.ts');
let scratch: ReturnType<typeof newScratch>;
let snapshots = '';
beforeEach(() => {
  scratch = newScratch();
  snapshots = join(scratch.folder, 'snapshots');
  mkdirSync(scratch.tree);
  for (let at = 0; at < 300; at += 1) writeFileSync(join(scratch.tree, `f${at}`), `content ${at}`);
});
afterEach(() => scratch.remove());

function run(...args: string[]): ChildProcess & { readonly said: () => string } {
  const child = spawn(process.execPath, [FIXTURE, scratch.tree, snapshots, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout?.on('data', (part: Buffer) => {
    said += part.toString();
  });
  return Object.assign(child, { said: () => said });
}

async function killed(child: ChildProcess & { readonly said: () => string }, afterMs: number): Promise<void> {
  const exited = once(child, 'exit');
  while (!child.said().includes('changed')) await sleep(2);
  await sleep(afterMs);
  child.kill('SIGKILL');
  await exited;
}

/** Names, kinds, contents and sizes of the files in the tree; rights and times are left out. */
const contents = (): readonly string[] =>
  described(scratch.tree)
    .map((line) => line.split(' ').slice(0, 4).join(' '))
    .slice(1);

test('EXE-03.3 SBX-08 a layer that is killed while it restores leaves the old tree, the new one, or one that the next start makes the old', async () => {
  const before = contents();
  let finished = 0;
  for (const afterMs of [0, 3, 8, 15, 25, 40, 60]) {
    await killed(run('restores'), afterMs);
    const journals = readdirSync(snapshots).filter((name) => existsSync(join(snapshots, name, 'restore.json')));
    const left = contents();
    await openSnapshotFolder(snapshots, silentLog);
    expect(readdirSync(snapshots)).toEqual([]);
    if (journals.length > 0) {
      finished += 1;
      expect(contents()).toEqual(before);
    } else {
      expect(contents()).toEqual(left);
    }
    // The next round starts from the original tree.
    for (const name of readdirSync(scratch.tree)) if (!/^f\d/.test(name)) rmSync(join(scratch.tree, name));
    for (let at = 0; at < 300; at += 1) writeFileSync(join(scratch.tree, `f${at}`), `content ${at}`);
  }
  expect(finished).toBeGreaterThan(0);
}, 120_000);

test('EXE-03 SBX-08 the snapshot of a command that was cut off is removed, and the files stay as they are', async () => {
  await killed(run(), 0);
  const left = contents();
  expect(readdirSync(snapshots).length).toBe(1);
  await openSnapshotFolder(snapshots, silentLog);
  expect(readdirSync(snapshots)).toEqual([]);
  expect(contents()).toEqual(left);
});

test('snapshots of a layer that runs are left alone, and so is what is no snapshot', async () => {
  const child = run();
  while (!child.said().includes('changed')) await sleep(2);
  mkdirSync(join(snapshots, 'notes'));
  writeFileSync(join(snapshots, '1-2-3'), '');
  await openSnapshotFolder(snapshots, silentLog);
  expect(readdirSync(snapshots).length).toBe(3);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
});

test('EXE-03 snapshots are for their owner alone, and outside of what the command may see', async () => {
  const folder = await openSnapshotFolder(snapshots, silentLog);
  await using kept = await folder.make([scratch.tree]);
  expect([snapshots, kept.path].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
  expect(statSync(join(kept.path, 'contents')).mode & 0o777).toBe(0o600);
  for (const seen of [scratch.folder, snapshots, '/']) await expect(folder.make([seen])).rejects.toThrow(NotSecured);
});

test('EXE-03.3 SBX-08 a restore that fails, as on a full disk, leaves every file whole, and no later start takes back what was done since', async () => {
  const file = join(scratch.tree, 'f0');
  writeFileSync(file, 'a'.repeat(200_000));
  const before = contents();
  const folder = await openSnapshotFolder(snapshots, silentLog);
  const kept = await folder.make([scratch.tree]);
  const { signal } = new AbortController();
  await using held = await takeSnapshot({ paths: [scratch.tree], globs: ['**'], bytesMax: 0, pack: kept.pack, signal });
  // As a layer leaves it that is killed when its restore begins.
  const left = join(snapshots, `1-1-1-${'0'.repeat(18)}`);
  renameSync(kept.path, left);
  writeFileSync(join(left, 'restore.json'), JSON.stringify(held.snapshot));
  await kept.pack.close();
  writeFileSync(file, 'changed');
  const changed = contents();
  const start = `await (await import(${JSON.stringify(join(import.meta.dirname, 'snapshot-folder.ts'))}))
    .openSnapshotFolder(${JSON.stringify(snapshots)}, { error() {}, warn() {} })`;
  // No file may grow beyond 100 KiB, as on a disk that is nearly full.
  const limited = 'ulimit -f 200; exec "$0" --input-type=module -e "$1"';
  execFileSync('sh', ['-c', limited, process.execPath, start], { stdio: 'inherit' });
  expect(contents()).toEqual(changed);
  await openSnapshotFolder(snapshots, silentLog);
  expect(contents()).toEqual(changed);
  // For the operator, who may have it restored after all.
  renameSync(join(left, 'failed.json'), join(left, 'restore.json'));
  await openSnapshotFolder(snapshots, silentLog);
  expect(contents()).toEqual(before);
  expect(readdirSync(snapshots)).toEqual([]);
});
