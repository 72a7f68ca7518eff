import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defaultsOf } from '../../../domain/settings/setting.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { callOf } from '../../conformance/executor-call.fixture.ts';
import type { ExecutorCall } from '../../executor.port.ts';
import { shellExecutor } from '../../programs/program-executors.fixture.ts';
import { TRANSACTION_SETTINGS } from '../settings.ts';
import { openSnapshotFolder } from './snapshot-folder.ts';
import { createTransactions, type TransactionSettings } from './transactions.ts';
import { described, newScratch } from './tree.fixture.ts';

const driver = createBubblewrapDriver();
const { works, problem } = await driver.probe();
const never = new AbortController().signal;

let scratch: ReturnType<typeof newScratch>;
let rolledBack = 0;
let undoing: string[] = [];
beforeEach(() => {
  scratch = newScratch();
  rolledBack = 0;
  undoing = [];
  mkdirSync(scratch.tree);
  writeFileSync(join(scratch.tree, 'file'), 'before');
});
afterEach(() => scratch.remove());
const snapshots = (): string => join(scratch.folder, 'snapshots');
const file = (): string => readFileSync(join(scratch.tree, 'file'), 'utf8');

const USUAL = {
  ...defaultsOf(TRANSACTION_SETTINGS),
  autoRollbackExitCodes: TRANSACTION_SETTINGS.autoRollbackExitCodes.default.map(Number),
};

async function executorWith(settings: Partial<TransactionSettings> = {}) {
  const folder = await openSnapshotFolder(snapshots(), silentLog);
  const parts = { folder, log: silentLog, settings: { ...USUAL, ...settings }, closed: [] };
  return shellExecutor(driver, createTransactions(parts));
}

function call(script: string, config: Record<string, unknown> = {}, rw = scratch.tree): ExecutorCall {
  const command = ['sh', '-c', script];
  const whole = callOf({
    executor: { kind: 'shell', config: { command, working_directory: scratch.tree, transaction: {}, ...config } },
  });
  const filesystem = [
    { path: rw, mode: 'rw' as const },
    ...(rw === scratch.tree ? [] : [{ path: scratch.tree, mode: 'rw' as const }]),
  ];
  const onRolledBack = (): void => {
    rolledBack += 1;
  };
  const onUndoing = (): void => void undoing.push(file());
  return { ...whole, grant: { ...whole.grant, filesystem }, onUndoing, onRolledBack };
}

describe.skipIf(!works)(`transactions${works ? '' : `, skipped: ${problem}`}`, () => {
  test.each<[what: string, script: string, config: Record<string, unknown>, isTakenBack: boolean]>([
    ['a configured exit code', 'echo after >file; exit 1', {}, true],
    [
      'one that the manifest names',
      'echo after >file; exit 9',
      { transaction: { auto_rollback_exit_codes: [9] } },
      true,
    ],
    ['another exit code', 'echo after >file; exit 9', {}, false],
    ['an exit code of success', 'echo after >file; exit 1', { success_exit_codes: [0, 1] }, false],
    ['success', 'echo after >file', {}, false],
    ['a signal', 'echo after >file; kill -9 $$', {}, true],
    ['a limit', 'echo after >file; exec head -c 100000000 /dev/zero >/tmp/x', {}, true],
    ['output that is none', 'echo after >file', { output: 'json', transaction: { rollback_on: ['bad_output'] } }, true],
    ['the same where nobody said so', 'echo after >file', { output: 'json' }, false],
    [
      'a transaction that is switched off',
      'echo after >file; exit 1',
      { transaction: { auto_rollback: false } },
      false,
    ],
  ])('EXE-03.2 %s', async (_, script, config, isTakenBack) => {
    const executor = await executorWith();
    const before = described(scratch.tree);
    const failed = await executor.executeConfirmed(call(script, config), never).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(file()).toBe(isTakenBack ? 'before' : 'after\n');
    expect(rolledBack).toBe(isTakenBack ? 1 : 0);
    expect(readdirSync(snapshots())).toEqual([]);
    if (!isTakenBack) return;
    expect(described(scratch.tree)).toEqual(before);
    expect(failed).toMatchObject({
      message: expect.stringContaining('taken back'),
      failure: { details: { rolled_back: true } },
    });
  });

  test.each<[what: string, code: 'E3103' | 'E3805']>([
    ['time that is up', 'E3103'],
    ['a cancel', 'E3805'],
  ])('EXE-03 %s', async (_, code) => {
    const executor = await executorWith();
    const controller = new AbortController();
    const reason = new ToolLayerError(code, 'It is over.');
    const ended = expect(executor.executeConfirmed(call('echo after >file; sleep 60'), controller.signal)).rejects.toBe(
      reason,
    );
    while (file() !== 'after\n') await sleep(5);
    controller.abort(reason);
    await ended;
    expect([file(), rolledBack, readdirSync(snapshots())]).toEqual(['before', 1, []]);
    // The layer is notified before the first file is restored.
    expect(undoing).toEqual(['after\n']);
  });

  test('EXE-03.1 a command that only reads takes no snapshot', async () => {
    const executor = await executorWith();
    const strict = { transaction: { snapshot_required: true, max_snapshot_bytes: 1 } };
    await executor.executeConfirmed(call('cat file', strict), never);
    await expect(executor.executeConfirmed(call('cat file; ./unknown', strict), never)).rejects.toMatchObject({
      code: 'E3102',
    });
  });

  test('EXE-03.5 where no snapshot can be had, one that is required keeps the command from running', async () => {
    const executor = await executorWith();
    const seen = (required: boolean): ExecutorCall =>
      call('echo after >file; exit 1', { transaction: { snapshot_required: required } }, scratch.folder);
    await expect(executor.executeConfirmed(seen(true), never)).rejects.toMatchObject({
      code: 'E3110',
      message: expect.stringContaining('may see'),
    });
    expect(file()).toBe('before');
    await expect(executor.executeConfirmed(seen(false), never)).rejects.toMatchObject({
      code: 'E3108',
      message: expect.stringContaining('stays'),
      failure: { details: { rolled_back: false } },
    });
    expect(file()).toBe('after\n');
  });

  test('EXE-03.4 max_snapshot_bytes: the lower of manifest and layer holds', async () => {
    const tight = (bytes: number): ExecutorCall =>
      call('echo after >file', { transaction: { snapshot_required: true, max_snapshot_bytes: bytes } });
    const [wide, narrow] = [await executorWith(), await executorWith({ maxSnapshotBytes: 5 })];
    await expect(wide.executeConfirmed(tight(5), never)).rejects.toMatchObject({
      code: 'E3102',
      failure: { details: { limit: 'snapshot', max_snapshot_bytes: 5 } },
    });
    await expect(narrow.executeConfirmed(tight(6), never)).rejects.toMatchObject({ code: 'E3102' });
    expect(file()).toBe('before');
    await wide.executeConfirmed(tight(6), never);
    expect(file()).toBe('after\n');
  });

  test('a layer may make every shell tool a transaction', async () => {
    const executor = await executorWith({ transactional: true, autoRollbackExitCodes: [7] });
    const { transaction: _, ...config } = call('echo after >file; exit 7').tool.manifest.executor.config ?? {};
    const plain = callOf({ executor: { kind: 'shell', config } });
    const { grant } = call('true');
    await expect(executor.executeConfirmed({ ...plain, grant }, never)).rejects.toMatchObject({ code: 'E3108' });
    expect(file()).toBe('before');
  });

  test('EXE-03 transactions over the same files go one after the other', async () => {
    const executor = await executorWith();
    const first = executor.executeConfirmed(call('echo one >mark; sleep 0.3; exit 1'), never).catch(() => undefined);
    while (!existsSync(join(scratch.tree, 'mark'))) await sleep(2);
    const second = executor.executeConfirmed(call('test -e mark && exit 2; echo two >file', { output: 'text' }), never);
    await Promise.all([first, second]);
    expect([file(), rolledBack]).toEqual(['two\n', 1]);
  });

  test('a call that is cancelled while it waits for its turn leaves the others theirs', async () => {
    const executor = await executorWith();
    const first = executor.executeConfirmed(call('echo one >mark; sleep 0.3'), never);
    while (!existsSync(join(scratch.tree, 'mark'))) await sleep(2);
    const controller = new AbortController();
    const reason = new ToolLayerError('E3805', 'It is over.');
    const waiting = expect(executor.executeConfirmed(call('echo x >never'), controller.signal)).rejects.toBe(reason);
    const third = executor.executeConfirmed(call('echo three >file'), never);
    controller.abort(reason);
    await waiting;
    await Promise.all([first, third]);
    expect([file(), existsSync(join(scratch.tree, 'never'))]).toEqual(['three\n', false]);
  });
});

test('EXE-03 a manifest that takes a success back is refused', async () => {
  const { manifest } = call('true').tool;
  expect((await executorWith()).configFaults(manifest)).toEqual([]);
  const both = call('true', { transaction: { auto_rollback_exit_codes: [0] } }).tool.manifest;
  expect((await executorWith()).configFaults(both)).toMatchObject([{ code: 'E3008' }]);
});
