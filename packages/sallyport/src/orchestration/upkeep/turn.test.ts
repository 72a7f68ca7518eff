import { setImmediate } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { memoryDailyLease } from '../../../test/stores/outcomes/memory-daily-lease.ts';
import { OUTPUTS_KEPT_MS } from '../../pipeline/output-store.port.ts';
import { notingLog } from '../approvals/approvals.fixture.ts';
import { createUpkeep, type UpkeepParts } from './upkeep.ts';

const NOW = Date.UTC(2026, 5, 1, 12);

/** Upkeep over stores that note what they are asked; each of them can fail. */
function noting(more: Partial<UpkeepParts> = {}) {
  const did: unknown[] = [];
  const { log, lines } = notingLog();
  const state = { isBroken: false, left: 0 };
  const does = async (what: string, given: readonly unknown[]): Promise<number> => {
    await setImmediate();
    did.push([what, ...given]);
    if (state.isBroken) throw new ToolLayerError('E3812', `${what} away`);
    return 0;
  };
  const forgets = (what: string) => ({ forget: (...given: unknown[]) => does(what, given) });
  const parts: UpkeepParts = {
    records: { forgetResults: async (query) => ({ forgotten: await does('results', [query]) }) },
    outcomes: { forgetResults: (...given) => does('outcomes', given) },
    outputs: forgets('outputs'),
    overflows: { ...forgets('overflows'), keptMs: 10 },
    documentPins: forgets('pins'),
    retention: {
      expire: (isStopped) => does('expire', [isStopped()]).then(() => undefined),
      forgetWork: (isStopped) => does('forgetWork', [isStopped()]).then(() => undefined),
      archive: async (mayContinue) => void (await does('archive', [await mayContinue()])),
    },
    daily: { lease: memoryDailyLease(() => NOW), holder: 'one', hour: 2 },
    contexts: { ...forgets('contexts'), keptMs: 20 },
    threads: { ...forgets('threads'), keptMs: 30 },
    rates: { forget: (limit) => does('rates', [limit]) },
    sideEffects: { settleOpen: () => does('settle', []) },
    credentialEndings: () => does('endings', []).then(() => undefined),
    clock: { now: () => NOW, monotonic: () => NOW },
    log,
    keepResultsMs: 40,
    ...more,
  };
  return { did, lines, state, parts, upkeep: createUpkeep(parts) };
}

test('PIPE-07 PIPE-10 DOC-04 STA-06 STA-07 EXT-02 VIS-03 a turn does all that is due, one after the other, each with its own time', async () => {
  const { did, lines, upkeep } = noting();
  await upkeep.turn();
  expect(did).toEqual([
    ['settle'],
    ['endings'],
    ['outcomes', NOW - 40, 64],
    ['results', { before: NOW - 40, at: NOW, limit: 64 }],
    ['outputs', NOW - OUTPUTS_KEPT_MS, 1000],
    ['overflows', NOW - 10, 64],
    ['pins', NOW - 40, 1000],
    ['expire', false],
    ['expire', false],
    ['forgetWork', false],
    ['archive', true],
    ['contexts', NOW - 20, 1000],
    ['threads', NOW - 30, 16],
    ['rates', 1000],
  ]);
  expect(lines).toEqual([]);
  did.length = 0;
  await upkeep.turn();
  // The work of the day is done.
  expect(did.flat()).not.toContain('archive');
  const { keepResultsMs: _kept, ...less } = noting().parts;
  const bare = noting();
  await createUpkeep({ ...less, ...bareStores(bare.parts), threads: { ...bare.parts.threads, keptMs: 0 } }).turn();
  const asked = bare.did.map((each) => (each as unknown[])[0]);
  expect(asked).toEqual(['settle', 'outputs', 'overflows', 'expire', 'expire', 'forgetWork', 'archive', 'contexts']);
});

/** The stores alone. */
function bareStores({
  outputs,
  overflows,
  documentPins,
  retention,
  contexts,
  sideEffects,
  records,
  outcomes,
}: UpkeepParts) {
  return { outputs, overflows, documentPins, retention, contexts, sideEffects, records, outcomes };
}

test('OPS-03 what fails in a turn is logged by its name, and holds up nothing', async () => {
  const { did, lines, state, upkeep } = noting();
  state.isBroken = true;
  await upkeep.turn();
  expect(did).toHaveLength(11);
  expect(lines).toEqual(
    [
      ['compensations-not-settled', 'settle'],
      ['credential-endings-not-recorded', 'endings'],
      ['results-not-forgotten', 'outcomes'],
      ['outputs-not-forgotten', 'outputs'],
      ['overflows-not-forgotten', 'overflows'],
      ['document-pins-not-forgotten', 'pins'],
      ['checkpoints-not-expired', 'expire'],
      ['checkpoints-not-archived', 'expire'],
      ['contexts-not-forgotten', 'contexts'],
      ['threads-not-forgotten', 'threads'],
      ['rates-not-forgotten', 'rates'],
    ].map(([event, what]) => `warn ${event} ${JSON.stringify({ reason: `${what} away` })}`),
  );
});

test('PIPE-07.5 portions are deleted until one is not full or so many were; the next turn continues with the results', async () => {
  const given: unknown[] = [];
  let full = 3;
  const forgetResults: UpkeepParts['records']['forgetResults'] = async ({ after }) => {
    given.push(after?.invocationId);
    return { forgotten: 1, next: { acceptedAt: 1, invocationId: `${given.length}`, tenantId: 'acme' } as never };
  };
  const contexts = {
    forget: async (_before: number, limit: number) => {
      full -= 1;
      return full > 0 ? limit : limit - 1;
    },
    keptMs: 1,
  };
  const { lines, upkeep } = noting({
    records: { forgetResults },
    outcomes: { forgetResults: async () => 5 },
    contexts,
    sideEffects: { settleOpen: async () => 2 },
  });
  await upkeep.turn();
  expect(full).toBe(0);
  expect(given).toHaveLength(200);
  expect(given.slice(0, 3)).toEqual([undefined, '1', '2']);
  expect(lines).toEqual(['info compensations-settled {"settled":2}', 'info results-forgotten {"forgotten":205}']);
  await upkeep.turn();
  expect(given[200]).toBe('200');
  await upkeep[Symbol.asyncDispose]();
  await upkeep.turn();
  expect(given).toHaveLength(400);
});

test('EXT-06 credentials that end are recorded at once, and closing waits for that', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let asked = 0;
  const { did, upkeep } = noting({
    credentialEndings: async () => {
      asked += 1;
      await released;
    },
  });
  upkeep.start();
  upkeep.start();
  expect(asked).toBe(1);
  let isClosed = false;
  const closed = upkeep[Symbol.asyncDispose]().then(() => {
    isClosed = true;
  });
  await setImmediate();
  expect(isClosed).toBe(false);
  release();
  await closed;
  expect([asked, did]).toEqual([1, []]);
});
