import { chmod, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Undoer, UndoStep } from '../../../domain/invocation/undo-step.ts';
import type { Executor } from '../../executor.port.ts';
import { createFileExecutor } from '../file-executor.ts';
import { type FileBench, openFileBench, USUAL } from '../file-tool.fixture.ts';
import { UNDO_BYTES_MAX } from './record-change.ts';

const OF = { tenantId: 'acme', invocationId: 'i', position: 0 };
const never = new AbortController().signal;
let bench: FileBench;
let executor: Executor & Undoer;
beforeEach(async () => {
  bench = await openFileBench();
  executor = createFileExecutor(USUAL);
});
afterEach(() => bench[Symbol.asyncDispose]());

/** Runs a tool and returns the undo steps that it recorded, each before its change. */
async function changed(operation: 'write' | 'edit', parameters: Record<string, unknown>): Promise<UndoStep[]> {
  const steps: UndoStep[] = [];
  const undo = { record: async (step: UndoStep) => void steps.push(JSON.parse(JSON.stringify(step))) };
  await executor.execute(bench.call(operation, parameters, { undo }), never);
  return steps;
}

const undone = (step: UndoStep | undefined): Promise<void> => executor.undo(step ?? { kind: 'none' }, OF);
const path = (): string => join(bench.root, 'a.txt');
const handlesOfFile = async (): Promise<number> => {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((link) => link === path()).length;
};

test('PIPE-03 a file that was replaced or edited gets back its content and its mode, as often as it is asked for', async () => {
  await writeFile(path(), 'old');
  await chmod(path(), 0o640);
  for (const [operation, parameters] of [
    ['write', { path: 'a.txt', content: 'new' }],
    ['edit', { path: 'a.txt', old_string: 'old', new_string: 'new' }],
  ] as const) {
    const [step] = await changed(operation, parameters);
    expect(await readFile(path(), 'utf8')).toBe('new');
    await undone(step);
    await undone(step);
    expect(await readFile(path(), 'utf8')).toBe('old');
    expect((await stat(path())).mode & 0o777).toBe(0o640);
  }
  expect(await readdir(bench.root)).toEqual(['a.txt']);
});

test('PIPE-03 a file that was made is removed', async () => {
  const [step] = await changed('write', { path: 'a.txt', content: 'new' });
  await undone(step);
  await undone(step);
  expect(await readdir(bench.root)).toEqual([]);
});

test('PIPE-03 the step stands before the change: without it nothing is changed, and a step alone changes nothing', async () => {
  await writeFile(path(), 'old');
  let kept: UndoStep | undefined;
  const undo = {
    record(step: UndoStep): Promise<void> {
      kept = step;
      return Promise.reject(new Error('the journal is full'));
    },
  };
  const call = bench.call('write', { path: 'a.txt', content: 'new' }, { undo });
  await expect(executor.execute(call, never)).rejects.toThrow();
  expect(await readFile(path(), 'utf8')).toBe('old');
  await undone(kept);
  expect(await readFile(path(), 'utf8')).toBe('old');
  expect(await readdir(bench.root)).toEqual(['a.txt']);
});

test('PIPE-05 a journal that is away keeps the file from being touched, and the failure says so', async () => {
  await writeFile(path(), 'old');
  const undo = { record: () => Promise.reject(new ToolLayerError('E3812', 'away')) };
  const call = bench.call('write', { path: 'a.txt', content: 'new' }, { undo });
  await expect(executor.execute(call, never)).rejects.toMatchObject({
    code: 'E3812',
    failure: { details: { reached: false } },
  });
  expect(await readFile(path(), 'utf8')).toBe('old');
});

test('what somebody else wrote meanwhile is never overwritten', async () => {
  await writeFile(path(), 'old');
  const [step] = await changed('write', { path: 'a.txt', content: 'new' });
  await writeFile(path(), 'theirs');
  await expect(undone(step)).rejects.toMatchObject({ code: 'E3704' });
  expect(await readFile(path(), 'utf8')).toBe('theirs');
});

test('PIPE-03 PIPE-13 a rollback does not wait for a writer that hangs, and changes nothing once that is over', async () => {
  const [made] = await changed('write', { path: 'a.txt', content: 'new' });
  const [hangs, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const record = async (): Promise<void> => {
    hangs.resolve();
    await over.promise;
    throw new ToolLayerError('E3805', 'over');
  };
  const hanging = executor.execute(bench.call('write', { path: 'a.txt', content: 'x' }, { undo: { record } }), never);
  await hangs.promise;
  const time = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
  onTestFinished(() => void vi.restoreAllMocks());
  const undoing = expect(undone(made)).rejects.toMatchObject({ code: 'E3103' });
  // Both hold the file open; what is left for the rollback is its turn.
  await expect.poll(handlesOfFile, { timeout: 50_000 }).toBe(2);
  time.abort(new DOMException('late', 'TimeoutError'));
  await undoing;
  over.resolve();
  await expect(hanging).rejects.toMatchObject({ code: 'E3805' });
  // Its turn comes after that of the one given up.
  await changed('write', { path: 'a.txt', content: 'theirs', expected_sha256: String(made?.['afterSha256']) });
  expect(await readFile(path(), 'utf8')).toBe('theirs');
});

test('a link that was put in its place is not followed', async () => {
  const outside = join(bench.folder, 'outside.txt');
  await writeFile(outside, 'new');
  const [step] = await changed('write', { path: 'a.txt', content: 'new' });
  await rm(path());
  await symlink(outside, path());
  await expect(undone(step)).rejects.toThrow();
  expect(await readFile(outside, 'utf8')).toBe('new');
});

test('a file that is too large to be kept is changed without a step', async () => {
  await writeFile(path(), Buffer.alloc(UNDO_BYTES_MAX + 1));
  expect(await changed('write', { path: 'a.txt', content: 'new' })).toEqual([]);
  await writeFile(path(), Buffer.alloc(UNDO_BYTES_MAX));
  expect(await changed('write', { path: 'a.txt', content: 'new' })).toHaveLength(1);
});

test('a step of another kind is refused', async () => {
  await expect(undone({ kind: 'other' })).rejects.toMatchObject({ code: 'E3900' });
});
