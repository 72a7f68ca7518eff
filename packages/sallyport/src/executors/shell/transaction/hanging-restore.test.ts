import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defaultsOf } from '../../../domain/settings/setting.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { callOf } from '../../conformance/executor-call.fixture.ts';
import type { ExecutorCall } from '../../executor.port.ts';
import { TRANSACTION_BOUNDS, TRANSACTION_SETTINGS } from '../settings.ts';
import { openSnapshotFolder } from './snapshot-folder.ts';
import { createTransactions } from './transactions.ts';
import { newScratch } from './tree.fixture.ts';

/** A rename within a secured folder hangs in it, as on a network disk that is gone. */
const disk = vi.hoisted(() => ({ hangs: undefined as (() => Promise<void>) | undefined }));
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const rename: typeof real.rename = async (from, to) => {
    if (Buffer.isBuffer(to)) await disk.hangs?.();
    await real.rename(from, to);
  };
  return { ...real, rename };
});

const never = new AbortController().signal;
let scratch: ReturnType<typeof newScratch>;
beforeEach(() => {
  scratch = newScratch();
  mkdirSync(scratch.tree);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  disk.hangs = undefined;
  vi.useRealTimers();
  scratch.remove();
});

const NAMES = ['a', 'b', 'c'] as const;
const write = (text: string, names: readonly string[] = NAMES): void => {
  for (const name of names) writeFileSync(join(scratch.tree, name), text);
};
const contents = (): readonly string[] => NAMES.map((name) => readFileSync(join(scratch.tree, name), 'utf8'));
const snapshots = (): string => join(scratch.folder, 'snapshots');
const kept = (): readonly string[] =>
  readdirSync(snapshots()).flatMap((each) => readdirSync(join(snapshots(), each)).filter((name) => /json/.test(name)));

async function begins() {
  const folder = await openSnapshotFolder(snapshots(), silentLog);
  const settings = { ...defaultsOf(TRANSACTION_SETTINGS), autoRollbackExitCodes: [1] };
  const transactions = createTransactions({ folder, log: silentLog, settings, closed: [] });
  const call = callOf({ executor: { kind: 'shell', config: { command: ['make'], transaction: {} } } });
  const grant = { ...call.grant, filesystem: [{ path: scratch.tree, mode: 'rw' as const }] };
  return (more: Partial<ExecutorCall> = {}) => transactions.begin({ ...call, grant, ...more }, ['make'], never);
}

test('EXE-03.3 PIPE-13 a restore that does not move any more ends, and changes nothing once its disk is back', async () => {
  write('before');
  const begin = await begins();
  const transaction = await begin();
  write('after');
  const [reached, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  disk.hangs = () => {
    reached.resolve();
    return back.promise;
  };
  const settling = transaction?.settle('timeout');
  const failed = expect(settling).rejects.toMatchObject({
    code: 'E3804',
    failure: { details: { rollback: 'failed' } },
  });
  await reached.promise;
  vi.advanceTimersByTime(TRANSACTION_BOUNDS.stallMs);
  await failed;
  await transaction?.[Symbol.asyncDispose]();
  // A start after this one does not continue what people were told has failed.
  expect(kept()).toEqual(['failed.json']);
  let isNext = false;
  const next = begin().then((begun) => {
    isNext = true;
    return begun;
  });
  write('theirs', ['b', 'c']);
  expect(isNext).toBe(false);
  back.resolve();
  await (await next)?.[Symbol.asyncDispose]();
  expect(contents().slice(1)).toEqual(['theirs', 'theirs']);
});

test('EXE-03.3 a restore that moves is not given up, however long it takes', async () => {
  write('before');
  const transaction = await (await begins())();
  write('after');
  disk.hangs = async () => void vi.advanceTimersByTime(TRANSACTION_BOUNDS.stallMs - 1);
  expect(await transaction?.settle(1)).toBe(true);
  await transaction?.[Symbol.asyncDispose]();
  expect(contents()).toEqual(['before', 'before', 'before']);
  expect(readdirSync(snapshots())).toEqual([]);
});

test('EXE-03.3 PIPE-13 nothing is restored of a call that ended while its command could not be stopped', async () => {
  write('before');
  const onUndoing = (): never => {
    throw new Error('the call is over');
  };
  const transaction = await (await begins())({ onUndoing });
  write('after');
  await expect(transaction?.settle('timeout')).rejects.toMatchObject({ code: 'E3804' });
  await transaction?.[Symbol.asyncDispose]();
  expect(contents()).toEqual(['after', 'after', 'after']);
  expect([kept(), existsSync(scratch.tree)]).toEqual([['failed.json'], true]);
});
