import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryContextStore } from '../../../test/stores/outcomes/memory-context-store.ts';
import { memoryDailyLease } from '../../../test/stores/outcomes/memory-daily-lease.ts';
import { memoryDocumentPins } from '../../../test/stores/outcomes/memory-document-pins.ts';
import { memoryObjectStore } from '../../../test/stores/outcomes/memory-object-store.ts';
import { memoryOutcomeStore } from '../../../test/stores/outcomes/memory-outcome-store.ts';
import { memoryOutputStore } from '../../../test/stores/outcomes/memory-output-store.ts';
import { memoryOverflowStore } from '../../../test/stores/outcomes/memory-overflow-store.ts';
import { memoryThreadStore } from '../../../test/stores/outcomes/memory-thread-store.ts';
import { createRetention } from '../../bridges/retention.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { OUTPUTS_KEPT_MS } from '../../pipeline/output-store.port.ts';
import { CONTEXT_SERVER_DEFAULTS } from '../../reference-servers/context-settings.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createUpkeep } from './upkeep.ts';

const NOW = 1_800_000_000_000;

const row = (invocationId: string, acceptedAt: number): InvocationRecord => ({
  invocationId,
  tenantId: 'acme',
  agentDid: 'did:agent:a',
  toolId: 'any',
  door: 'rest',
  state: 'COMPLETED',
  instanceId: 'one',
  result: 1,
  warnings: [],
  acceptedAt,
});

const DAY_MS = 86_400_000;

/** Removes from what is counted, at most `limit`. @returns how many */
async function removedFrom(left: { count: number }, limit: number): Promise<number> {
  const removed = Math.min(limit, left.count);
  left.count -= removed;
  return removed;
}

async function made(rows: readonly InvocationRecord[], keepResultsMs?: number, keepThreadsMs = 90 * DAY_MS) {
  const records = memoryLedgerStore();
  await records.append({ records: rows, events: [] }, 'synchronous');
  const outputs = memoryOutputStore();
  const checkpoints = memoryCheckpointStore(() => now);
  const contexts = memoryContextStore();
  const documentPins = memoryDocumentPins(() => now);
  const threads = memoryThreadStore(() => now);
  let now = NOW;
  let settled = 0;
  const expiredRates = { count: 0 };
  const expiredCheckpoints = { count: 0 };
  const upkeep = createUpkeep({
    records,
    outcomes: memoryOutcomeStore(records),
    outputs,
    overflows: { ...memoryOverflowStore(), keptMs: 0 },
    documentPins,
    retention: createRetention({
      store: {
        expire: (_forgetMs, limit) => removedFrom(expiredCheckpoints, limit),
        find: checkpoints.find,
        forgetLines: checkpoints.forgetLines,
      },
      archive: checkpoints,
      objects: memoryObjectStore(),
      clock: { now: () => now, monotonic: () => now },
      log: silentLog,
    }),
    contexts: { forget: contexts.forget, keptMs: CONTEXT_SERVER_DEFAULTS.keptMs },
    threads: { forget: threads.forget, keptMs: keepThreadsMs },
    daily: { lease: memoryDailyLease(() => now), holder: 'one', hour: 2 },
    rates: { forget: (limit) => removedFrom(expiredRates, limit) },
    sideEffects: {
      settleOpen: async () => {
        settled += 1;
        if (settled === 2) throw new Error('The database is away.');
        return 0;
      },
    },
    credentialEndings: async () => {},
    clock: { now: () => now, monotonic: () => now },
    log: silentLog,
    everyMs: 1,
    ...(keepResultsMs === undefined ? {} : { keepResultsMs }),
  });
  const kept = async () => {
    const found = await Promise.all(rows.map(({ invocationId }) => records.findInvocation('acme', invocationId)));
    return found.filter((each) => each !== undefined && 'result' in each).length;
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return {
    upkeep,
    outputs,
    documentPins,
    contexts,
    threads,
    checkpoints,
    expiredRates,
    expiredCheckpoints,
    kept,
    pass,
    settled: () => settled,
  };
}

test('PIPE-07.5 results are forgotten after their time, not before, however many there are', async () => {
  const rows = Array.from({ length: 200 }, (_each, at) => row(`call-${at}`, NOW - 1_000 + at));
  const { upkeep, kept, pass } = await made(rows, 1_000);
  await upkeep.turn();
  expect(await kept()).toBe(200);
  pass(1);
  await upkeep.turn();
  expect(await kept()).toBe(199);
  pass(1_000);
  await upkeep.turn();
  expect(await kept()).toBe(0);
});

test('results are kept for good where nobody says how long', async () => {
  const { upkeep, kept, pass } = await made([row('call', 0)]);
  pass(1e12);
  await upkeep.turn();
  expect(await kept()).toBe(1);
});

test('STA-04 contexts of tasks are forgotten 90 days after their last change, not before', async () => {
  const { upkeep, contexts, pass } = await made([]);
  const owner = { tenantId: 'acme', agentDid: 'did:agent:a' };
  const stored = { taskId: 'task', version: 1, change: 'saved', savedAt: NOW, context: {} } as const;
  await contexts.put(owner, stored, CONTEXT_SERVER_DEFAULTS);
  pass(90 * DAY_MS);
  await upkeep.turn();
  expect((await contexts.newest(owner, 'task'))?.version).toBe(1);
  pass(1);
  await upkeep.turn();
  expect(await contexts.newest(owner, 'task')).toBeUndefined();
});

test('STA-07.3 threads are forgotten after their time, not before, however many there are; 0 keeps them', async () => {
  const owner = { tenantId: 'acme', agentDid: 'did:agent:a' };
  const empty = { type: 'json', bytes: new Uint8Array() };
  const state = { namespace: '', checkpointId: '1', state: empty, metadata: empty, versions: {}, values: [] };
  for (const [keepThreadsMs, left] of [
    [DAY_MS, 0],
    [0, 40],
  ] as const) {
    const { upkeep, threads, pass } = await made([], undefined, keepThreadsMs);
    for (let at = 0; at < 40; at += 1) await threads.put(owner, { ...state, threadId: `thread-${at}` });
    pass(DAY_MS);
    await upkeep.turn();
    expect((await threads.used(owner, '')).others).toBe(40);
    pass(1);
    await upkeep.turn();
    expect((await threads.used(owner, '')).others).toBe(left);
  }
});

test('PIPE-10 outputs of deterministic tools are forgotten after their time, not before', async () => {
  const { upkeep, outputs, pass } = await made([]);
  const key = { tenantId: 'acme', ownerId: 'acme', contentHash: 'tool', inputHash: 'input' };
  const seen = (invocationId: string) => outputs.remember(key, { outputHash: 'hash', invocationId, at: NOW });
  await seen('first');
  pass(OUTPUTS_KEPT_MS);
  await upkeep.turn();
  expect(await seen('later')).toMatchObject({ invocationId: 'first' });
  pass(1);
  await upkeep.turn();
  expect(await seen('later')).toMatchObject({ invocationId: 'later' });
});

test('DOC-04 pins of documents are forgotten together with results, and kept for good with them', async () => {
  const pins = [{ ref: 'guide', documentId: 'guide', version: '1', sha256: 'a'.repeat(64) }];
  for (const [keepResultsMs, isKept] of [
    [1_000, false],
    [undefined, true],
  ] as const) {
    const { upkeep, documentPins, pass } = await made([], keepResultsMs);
    await documentPins.put('acme', 'call', pins);
    pass(1_000);
    await upkeep.turn();
    expect(await documentPins.find('acme', 'call')).toEqual(pins);
    pass(1);
    await upkeep.turn();
    expect(await documentPins.find('acme', 'call')).toEqual(isKept ? pins : undefined);
  }
});

test('EXT-02 expired counts of rates are removed in one turn, however many there are', async () => {
  const { upkeep, expiredRates } = await made([]);
  expiredRates.count = 2_500;
  await upkeep.turn();
  expect(expiredRates.count).toBe(0);
});

test('STA-06.1 expired checkpoints lose their states in one turn, however many there are', async () => {
  const { upkeep, expiredCheckpoints } = await made([]);
  expiredCheckpoints.count = 1000;
  await upkeep.turn();
  expect(expiredCheckpoints.count).toBe(0);
});

test('STA-06.5 once a day work without checkpoints is forgotten, a week after it changed last', async () => {
  const { upkeep, checkpoints, pass } = await made([]);
  const owner = { tenantId: 'acme', agentDid: 'did:example:a' };
  const bytes = Buffer.from('1');
  const packed = { form: 'plain', bytes, size: 1, sha256: '0'.repeat(64) } as const;
  const facts = { toolId: 'work', toolVersion: '1.0.0', schemaVersion: '1.0', size: 1, sha256: packed.sha256 };
  for (const lineId of ['empty', 'kept'])
    await checkpoints.put({
      ...{ checkpointId: lineId, invocationId: lineId, lineId, sequence: 1, type: 'named', owner, savedAt: NOW },
      ...{ ...facts, packed },
    });
  await checkpoints.remove('acme', 'empty');
  const known = async () => [await checkpoints.line('acme', 'empty'), await checkpoints.line('acme', 'kept')];
  pass(7 * DAY_MS);
  await upkeep.turn();
  expect(await known()).toMatchObject([{ lineId: 'empty' }, { lineId: 'kept' }]);
  pass(DAY_MS);
  await upkeep.turn();
  expect(await known()).toMatchObject([undefined, { lineId: 'kept' }]);
});

test('VIS-03 compensations are settled again and again, and what fails holds up nothing', async () => {
  const { upkeep, kept, settled } = await made([row('call', 0)], 1_000);
  upkeep.start();
  await expect.poll(settled).toBeGreaterThan(3);
  await expect.poll(kept).toBe(0);
  await upkeep[Symbol.asyncDispose]();
  const then = settled();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(settled()).toBe(then);
});
