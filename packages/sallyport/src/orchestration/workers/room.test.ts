import { failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryUndoJournal } from '../../../test/stores/outcomes/memory-undo-journal.ts';
import { openLedger } from '../../audit/ledger.ts';
import type { ApprovalBinding } from '../../domain/invocation/waiting-call.ts';
import { createCompositeExecutor } from '../../executors/composite.ts';
import { createNativeExecutor } from '../../executors/native/native-executor.ts';
import type { RateLimiter } from '../../external/rate-limiter.port.ts';
import { memoryRateLimiter } from '../../storage/memory/memory-rate-limiter.ts';
import { silentLog } from '../../telemetry/log.ts';
import { instance, LATER, over, type Shared, sharedMemory, until } from './workers.fixture.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

type Rest = Parameters<typeof instance> extends [string, Shared, ...infer R] ? R : never;

async function start(shared: Shared, ...rest: Rest) {
  const made = await instance(`instance-${opened.length + 1}`, shared, ...rest);
  opened.push(made);
  await made.workers.start();
  return { ...made, shared };
}

const LIMITED = { execution_config: { rate_limit: { per_minute: 1, burst: 1 } } } as const;
const FAR = 4_102_444_800_000;

/** Refuses a token to the first `times` calls. */
function busy(times: number): RateLimiter & { asked: number } {
  return {
    ...memoryRateLimiter(),
    asked: 0,
    take() {
      this.asked += 1;
      return this.asked <= times ? 1 : 0;
    },
  };
}

/** Approvals whose questions can be approved by the test. */
function approvingDesk() {
  let asked = 0;
  return {
    standing: () => undefined,
    question: ({ reason, binding }: { reason: 'requires_confirmation'; binding: ApprovalBinding }) => {
      asked += 1;
      return { approvalId: `a-${asked}`, reason, binding, requestedAt: 1, expiresAt: FAR };
    },
  };
}

describe('an accepted call for which there is no room when its turn comes', () => {
  test('PIPE-07 PIPE-08 waits until its tool may be called again, and keeps its key meanwhile', async () => {
    const rateLimiter = busy(3);
    const made = await start(sharedMemory(), {}, { parts: { rateLimiter } });
    await made.tool('limited', ({ n }) => n, { ...LIMITED, side_effect_policy: 'irreversible' });
    const options = { execution_options: { async_mode: true, idempotency_key: 'k' } };
    const ask = () => made.call({ tool_id: 'limited', parameters: { n: 7 }, ...options });
    const accepted = await ask();
    await until(() => rateLimiter.asked >= 2);
    // A duplicate is answered with the waiting call, and does not take over the idempotency key.
    expect((await ask()).invocationId).toBe(accepted.invocationId);
    expect(await over(made.shared, accepted)).toMatchObject({ state: 'COMPLETED', result: 7 });
    expect(rateLimiter.asked).toBe(4);
    expect((await ask()).result).toBe(7);
  });

  test('ORC-03 PIPE-08 waits with its yes, which is not asked for again', async () => {
    const rateLimiter = busy(3);
    const made = await start(
      sharedMemory(),
      {},
      { parts: { rateLimiter, approvalQuestions: approvingDesk() as never } },
    );
    await made.tool('limited', () => 'ran', { ...LIMITED, requires_confirmation: true });
    const asked = await made.call({ tool_id: 'limited', parameters: { n: 1 } });
    if (asked.waiting?.wait.for !== 'approval') throw new Error('nobody was asked');
    const { approvalId, binding } = asked.waiting.wait.approval;
    await made.workers.enqueue('acme', asked.invocationId, { approvalId, binding, expiresAt: FAR });
    expect(await over(made.shared, asked)).toMatchObject({ state: 'COMPLETED', result: 'ran' });
    expect(approvalId).toBe('a-1');
  });

  test('PIPE-08 CIR-01 waits until the circuit of its service lets it through, and fails with nothing', async () => {
    let asked = 0;
    const circuits = {
      take() {
        asked += 1;
        return asked > 3 ? undefined : failure(asked === 1 ? 'E3402' : 'E3401', 'Later.', { retryAfterMs: 1 });
      },
    };
    const made = await start(sharedMemory(), {}, { parts: { circuits: circuits as never } });
    let ran = 0;
    await made.tool('served', () => (ran += 1), { side_effect_policy: 'irreversible' });
    const accepted = await made.call({ tool_id: 'served', parameters: { n: 1 }, ...LATER });
    expect(await over(made.shared, accepted)).toMatchObject({ state: 'COMPLETED', result: 1 });
    expect([asked, ran]).toEqual([4, 1]);
  });

  test('PIPE-08 waits while the layer has no place to write down that it runs', async () => {
    const shared = sharedMemory();
    let refused = 0;
    const ledger = await openLedger({ store: shared.store, chainId: 'full', log: silentLog });
    const full: typeof ledger = {
      ...ledger,
      commit: async (entry) => {
        if (entry.record?.state === 'EXECUTING' && refused < 2) {
          refused += 1;
          throw new ToolLayerError('E3803', 'Too many calls wait to be recorded.', { retryAfterMs: 1 });
        }
        return ledger.commit(entry);
      },
    };
    const crowded = await start(shared, {}, { parts: { ledger: full } });
    let ran = 0;
    await crowded.tool('unsafe', () => (ran += 1), { side_effect_policy: 'irreversible' });
    const accepted = await crowded.call({ tool_id: 'unsafe', parameters: { n: 1 }, ...LATER });
    expect(await over(crowded.shared, accepted)).toMatchObject({ state: 'COMPLETED', result: 1 });
    expect([refused, ran]).toEqual([2, 1]);
  });

  test('PIPE-08 ends with what it waited for once it has waited long enough', async () => {
    const rateLimiter = busy(1_000);
    const made = await start(sharedMemory(), { roomMsMax: 0 }, { parts: { rateLimiter } });
    await made.tool('limited', () => 1, LIMITED);
    const accepted = await made.call({ tool_id: 'limited', parameters: { n: 1 }, ...LATER });
    expect(await over(made.shared, accepted)).toMatchObject({ state: 'FAILED', failure: { code: 'E3303' } });
    expect(rateLimiter.asked).toBe(1);
  });

  test('PIPE-06 is ended at once by a cancel', async () => {
    const rateLimiter = busy(1_000);
    const made = await start(sharedMemory(), {}, { parts: { rateLimiter } });
    await made.tool('limited', () => 1, LIMITED);
    const accepted = await made.call({ tool_id: 'limited', parameters: { n: 1 }, ...LATER });
    await until(() => rateLimiter.asked >= 2);
    const ended = await until(async () => {
      const record = await made.shared.store.findInvocation('acme', accepted.invocationId);
      const end = record === undefined ? undefined : await made.workers.cancel(record, undefined);
      return end === 'unreachable' ? undefined : end;
    });
    expect(['ended', 'notified']).toContain(ended);
    expect(await over(made.shared, accepted)).toMatchObject({ failure: { code: 'E3805' } });
  });

  test('a tool that answers with such a code itself has answered', async () => {
    const made = await start(sharedMemory());
    let ran = 0;
    await made.tool('refuses', () => {
      ran += 1;
      throw new ToolLayerError('E3303', 'Too many.', { retryAfterMs: 3_600_000 });
    });
    const accepted = await made.call({ tool_id: 'refuses', parameters: { n: 1 }, ...LATER });
    expect(await over(made.shared, accepted)).toMatchObject({ state: 'FAILED', failure: { code: 'E3303' } });
    expect(ran).toBe(1);
  });

  test('PIPE-07 PIPE-08 in no order of free and busy moments does an accepted call fail or run twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 12 }),
        fc.array(fc.constantFrom('pure', 'idempotent', 'irreversible'), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 3 }),
        async (moments, kinds, perAgent) => {
          const left = [...moments];
          const rateLimiter: RateLimiter = { ...memoryRateLimiter(), take: () => (left.shift() === true ? 1 : 0) };
          const shared = sharedMemory();
          const made = await instance('one', shared, { callsPerAgentMax: perAgent }, { parts: { rateLimiter } });
          await made.workers.start();
          const ran: unknown[] = [];
          for (const kind of ['pure', 'idempotent', 'irreversible'] as const)
            await made.tool(kind, ({ n }) => ran.push(n), { ...LIMITED, side_effect_policy: kind });
          try {
            const asked = kinds.map((tool_id, n) => made.call({ tool_id, parameters: { n }, ...LATER }));
            const ends = (await Promise.all(asked)).map((call) => over(shared, call));
            expect((await Promise.all(ends)).map(({ state }) => state)).toEqual(kinds.map(() => 'COMPLETED'));
            expect(ran.sort()).toEqual(kinds.map((_kind, n) => n));
          } finally {
            await made.close();
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('a call that runs again', () => {
  /** A tool that records an undo step, and runs until the test ends it. */
  async function changing(limits: Rest[0], more: NonNullable<Rest[1]> = {}) {
    const undone: number[] = [];
    const transactions = {
      journal: memoryUndoJournal(),
      checkpoints: memoryCheckpointStore(),
      undoers: {
        value: { undo: async (step: { kind: string }) => void undone.push(Number(Reflect.get(step, 'run'))) },
      },
    };
    const native = createNativeExecutor();
    const ends: (() => void)[] = [];
    let runs = 0;
    const executors = createCompositeExecutor([
      {
        ...native,
        async execute(call, signal) {
          runs += 1;
          await call.undo?.record({ kind: 'value', run: runs });
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          ends.push(resolve);
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          await promise;
          return {
            result: runs,
            usage: { cpuMillicoreSeconds: 0, memoryPeakMb: 0, networkBytesSent: 0, networkBytesReceived: 0 },
          };
        },
      },
    ]);
    const made = await start(sharedMemory(), limits, { ...more, parts: { ...more.parts, executors, transactions } });
    return { ...made, undone, ends, transactions, runs: () => runs };
  }
  const low = { execution_options: { async_mode: true, priority: 'low' } } as const;
  const high = { execution_options: { async_mode: true, priority: 'high' } } as const;

  test('PIPE-03 PIPE-08 because it made way begins where its first run began, and may write its steps anew', async () => {
    const made = await changing({ slots: 1, preemptAfterMs: 5 });
    await made.tool('set', () => 1, { side_effect_policy: 'idempotent' });
    const first = await made.call({ tool_id: 'set', parameters: { n: 1 }, ...low });
    await until(() => made.ends.length === 1);
    const second = await made.call({ tool_id: 'set', parameters: { n: 2 }, ...high });
    await until(() => made.ends.length === 2);
    expect(made.undone).toEqual([1]);
    made.ends[1]?.();
    expect(await over(made.shared, second)).toMatchObject({ state: 'COMPLETED' });
    await until(() => made.ends.length === 3);
    made.ends[2]?.();
    expect(await over(made.shared, first)).toMatchObject({ state: 'COMPLETED', result: 3 });
    expect(made.undone).toEqual([1]);
    await expect.poll(() => made.transactions.journal.find('acme', first.invocationId)).toBeUndefined();
  });

  test('ORC-06 and waits for a slot of its agent first is on record when it ends', async () => {
    // No sweep: it could take the call before the other instance does.
    const made = await changing({ slots: 2, callsPerAgentMax: 1, sweepMs: 3_600_000, sweepIdleMs: 3_600_000 });
    await made.tool('set', () => 1, { side_effect_policy: 'idempotent' });
    const agent = 'acme\ndid:agent:a';
    const slot = made.parts.running.slots.take(agent, 1);
    const call = await made.accept({ tool_id: 'set', parameters: { n: 3 }, ...low });
    // As if another instance had run the call: its row now requires a later lease.
    await made.shared.leases.take(call, { instanceId: 'gone', owner: 'gone/1' }, 0);
    await made.shared.store.fenceInvocation('acme', call.invocationId, 2);
    await made.workers.enqueue('acme', call.invocationId);
    await until(async () => ((await made.shared.leases.find(call))?.live === false ? true : undefined));
    slot?.free();
    await until(() => made.ends.length === 1);
    made.ends[0]?.();
    expect(await over(made.shared, call)).toMatchObject({ state: 'COMPLETED' });
  });

  test('ORC-05 ends when the approval that it had has run out meanwhile, and is not looked at for ever', async () => {
    const made = await start(sharedMemory(), {}, { parts: { approvalQuestions: approvingDesk() as never } });
    await made.tool('asks', () => 1, { requires_confirmation: true, side_effect_policy: 'idempotent' });
    const asked = await made.call({ tool_id: 'asks', parameters: { n: 1 } });
    const { ledger } = made.parts;
    await ledger.commit({ record: { ...asked, state: 'EXECUTING' }, events: [], durability: 'synchronous' });
    expect(await over(made.shared, asked)).toMatchObject({ state: 'ABORTED', failure: { code: 'E3811' } });
  });
});
