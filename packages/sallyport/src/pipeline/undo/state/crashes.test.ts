import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryStateStore } from '../../../../test/stores/outcomes/memory-state-store.ts';
import { memoryUndoJournal } from '../../../../test/stores/outcomes/memory-undo-journal.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { rollBackOpen } from '../roll-back-open.ts';
import { keepSteps, Transaction, type TransactionParts } from '../transaction.ts';
import { CallState, STATE_BOUNDS } from './call-state.ts';
import { stateUndoer } from './state-undoer.ts';

const NAMES = ['a', 'b', 'c'] as const;
const TENANT = 'acme';
const INSTANCE = 'one';

/** The actions of one call in their order, and its end. */
interface Doing {
  readonly writes: readonly (readonly [name: string, value: number | undefined])[];
  readonly reads: boolean;
  readonly succeeds: boolean;
}

const doing: fc.Arbitrary<Doing> = fc.record({
  writes: fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.option(fc.nat(9), { nil: undefined })), {
    minLength: 1,
    maxLength: 4,
  }),
  reads: fc.boolean(),
  succeeds: fc.boolean(),
});

class Crash extends Error {}

/** The stores, which survive the process, and the values that completed calls must have left. */
function world() {
  const rows = new Map<string, InvocationRecord['state']>();
  const store = memoryStateStore();
  const journal = memoryUndoJournal();
  const records = {
    findInvocation: async (_tenantId: string, invocationId: string) => {
      const state = rows.get(invocationId);
      return state === undefined ? undefined : ({ invocationId, state } as InvocationRecord);
    },
  };
  return { rows, store, journal, records, left: new Map<string, number>() };
}
type World = ReturnType<typeof world>;

/** One run of the process: its reads and writes happen in the scheduler's order, until the process dies. */
function life({ store, journal, records }: World, order: (what: string) => Promise<void>, diesAt: number) {
  let actions = 0;
  const act = async <Result>(what: string, action: () => Promise<Result>): Promise<Result> => {
    const alive = (): void => {
      actions += 1;
      if (actions > diesAt) throw new Crash();
    };
    await order(`before ${what}`);
    alive();
    const result = await action();
    await order(`after ${what}`);
    alive();
    return result;
  };
  const ownStore = {
    read: (key: Parameters<typeof store.read>[0]) => act('read', () => store.read(key)),
    write: (write: Parameters<typeof store.write>[0]) => act('write', () => store.write(write)),
    keep: (by: Parameters<typeof store.keep>[0]) => act('keep', () => store.keep(by)),
    discard: (by: Parameters<typeof store.discard>[0]) => act('discard', () => store.discard(by)),
  };
  const parts: TransactionParts = {
    journal: {
      ...journal,
      add: (entry) => act('add', () => journal.add(entry)),
      markUndone: (...step) => act('mark', () => journal.markUndone(...step)),
      close: (...call) => act('close', () => journal.close(...call)),
    },
    checkpoints: memoryCheckpointStore(),
    undoers: { state: stateUndoer(ownStore, records) },
  };
  return { act, parts, store: ownStore };
}

async function runCall(
  made: World,
  own: ReturnType<typeof life>,
  invocationId: string,
  { writes, reads, succeeds }: Doing,
) {
  const { rows, records, left } = made;
  const by = { tenantId: TENANT, invocationId, fence: 0 };
  await own.act('begin', async () => void rows.set(invocationId, 'EXECUTING'));
  const transaction = new Transaction(own.parts, { ...by, instanceId: INSTANCE });
  const state = new CallState({
    parts: { store: own.store, bounds: { ...STATE_BOUNDS, waitMs: 0 } },
    records,
    scope: { tenantId: TENANT, ownerId: TENANT, toolId: 'tool' },
    by,
    mayWrite: true,
    record: (step) => transaction.record(step),
    change: (make) => transaction.change(make),
    signal: new AbortController().signal,
  });
  const seenByItself = new Map<string, number | undefined>();
  const written = new Map<string, number | undefined>();
  try {
    for (const [name, value] of writes) {
      if (reads) {
        const seen = await state.get(name);
        if (seenByItself.has(name)) expect(seen).toBe(seenByItself.get(name));
      }
      if (value === undefined) await state.delete(name);
      else await state.put(name, value);
      seenByItself.set(name, value);
      // To delete a value that does not exist is no write: other calls may write that name meanwhile.
      const key = { tenantId: TENANT, ownerId: TENANT, toolId: 'tool', name };
      const holder = (await made.store.read(key))?.held?.by.invocationId;
      const isHeld = value !== undefined || holder === invocationId;
      if (isHeld) written.set(name, value);
    }
    if (!succeeds) throw new Error('the tool failed');
  } catch (thrown) {
    if (thrown instanceof Crash) throw thrown;
    await transaction.rollBack(silentLog);
    await own.act('fail', async () => void rows.set(invocationId, 'ROLLED_BACK'));
    transaction.recorded(silentLog);
    return;
  }
  await own.act('complete', async () => {
    rows.set(invocationId, 'COMPLETED');
    for (const [name, value] of written) {
      if (value === undefined) left.delete(name);
      else left.set(name, value);
    }
  });
  transaction.recorded(silentLog);
}

/** The next start recovers from what it finds in the stores; it may die too. */
async function recover({ rows, journal }: World, { parts }: ReturnType<typeof life>): Promise<void> {
  for (const open of await journal.open(INSTANCE, 100)) {
    const standing = open.steps.filter(({ undone }) => !undone);
    if (rows.get(open.invocationId) === 'COMPLETED') {
      await keepSteps(parts, open, standing);
      continue;
    }
    if ((await rollBackOpen(parts, open, silentLog)) === 'failed') continue;
    rows.set(open.invocationId, 'ROLLED_BACK');
    await parts.journal.close(open.tenantId, open.invocationId);
  }
}

test('PIPE-03.7 whatever calls do beside each other, and wherever the process dies, also twice in the rollback, the state is what completed calls left', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(doing, { minLength: 1, maxLength: 4 }),
      fc.oneof(fc.nat(60), fc.constant(Number.POSITIVE_INFINITY)),
      fc.nat(12),
      async (s, calls, first, second) => {
        const made = world();
        const own = life(made, (what) => s.schedule(Promise.resolve(), what), first);
        const running = calls.map((each, at) =>
          runCall(made, own, `call-${at}`, each).catch((thrown) => {
            if (!(thrown instanceof Crash)) throw thrown;
          }),
        );
        await s.waitFor(Promise.all(running));
        const atOnce = async (): Promise<void> => undefined;
        for (const diesAt of [second, Number.POSITIVE_INFINITY]) {
          await recover(made, life(made, atOnce, diesAt)).catch((thrown) => {
            if (!(thrown instanceof Crash)) throw thrown;
          });
        }
        const key = { tenantId: TENANT, ownerId: TENANT, toolId: 'tool' };
        for (const name of NAMES) {
          const found = await made.store.read({ ...key, name });
          expect(found?.held).toBeUndefined();
          expect(found?.value).toBe(made.left.has(name) ? String(made.left.get(name)) : undefined);
        }
        expect(await made.journal.open(INSTANCE, 100)).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});
