import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryOutcomeStore } from '../../../test/stores/outcomes/memory-outcome-store.ts';
import { memoryUndoJournal } from '../../../test/stores/outcomes/memory-undo-journal.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { continueRollbacks } from './continue-rollbacks.ts';
import { undoByCall } from './undo-by-call.ts';

const NEVER = new Promise<never>(() => undefined);
const FREE = { parameters_schema: { type: 'object' } } as const;

/** One run of the process: from the given read or write on, it does nothing more. */
function life(diesAt: number) {
  let actions = 0;
  const died = Promise.withResolvers<undefined>();
  const isDead = (): boolean => {
    actions += 1;
    if (actions > diesAt) died.resolve(undefined);
    return actions > diesAt;
  };
  return {
    died: died.promise,
    async act<Result>(action: () => Promise<Result>): Promise<Result> {
      if (isDead()) return NEVER;
      const result = await action();
      return isDead() ? NEVER : result;
    },
  };
}

/** A layer that was killed in the middle of a call that had recorded two compensating calls. */
async function killed(policy: 'irreversible' | 'idempotent') {
  const store = memoryLedgerStore();
  const journal = memoryUndoJournal();
  const outcomes = memoryOutcomeStore(store);
  const effects: { readonly id: unknown; readonly by: string }[] = [];
  const durabilities: string[] = [];
  let now = life(Number.POSITIVE_INFINITY);
  const transactions = {
    journal,
    checkpoints: memoryCheckpointStore(),
    undoers: { call: { undo: async () => undefined } },
  };
  const made = await pipeline({ store, outcomes, transactions });
  await made.add(manifest('undo', { side_effect_policy: policy, ...FREE }), ({ id }, { invocationId: by }) =>
    now.act(async () => effects.push({ id, by })),
  );
  const whole = {
    side_effect_policy: 'irreversible',
    executor: { kind: 'native', config: { transacted: true } },
  } as const;
  const begun = Promise.withResolvers<string>();
  await made.add(manifest('do', { ...whole, ...FREE }), async (_given, { compensateWith, invocationId }) => {
    for (const id of ['one', 'two']) await compensateWith('undo', { id });
    begun.resolve(invocationId);
    return NEVER;
  });
  void made.call({ tool_id: 'do', parameters: {} });
  const invocationId = await begun.promise;
  return {
    ...{ effects, durabilities },
    row: () => store.findInvocation('acme', invocationId),
    /** Starts the process again; undefined when it dies. */
    async start(diesAt = Number.POSITIVE_INFINITY) {
      const own = life(diesAt);
      now = own;
      const call = undoByCall({
        runCall: (request) => own.act(() => made.run(request)),
        records: { findInvocation: (...of) => own.act(() => store.findInvocation(...of)) },
        outcomes,
      });
      const markUndone: typeof journal.markUndone = (...of) => own.act(() => journal.markUndone(...of));
      const again = { ...transactions, journal: { ...journal, markUndone }, undoers: { call } };
      const { ledger } = made.parts;
      const commit: typeof ledger.commit = (batch) => {
        durabilities.push(batch.durability);
        return ledger.commit(batch);
      };
      const parts = { ...made.parts, transactions: again, outcomes, ledger: { ...ledger, commit } };
      return Promise.race([continueRollbacks(parts, 'one'), own.died]);
    },
    /** An operator settles, for each call that was cut off, whether it had its effect. */
    async settle() {
      for (const { record } of await outcomes.list({ tenantId: 'acme', settled: false, limit: 100 })) {
        const happened = effects.some(({ by }) => by === record.invocationId);
        const outcome = happened ? 'happened' : 'did_not_happen';
        await outcomes.settle({ tenantId: 'acme', invocationId: record.invocationId, outcome, how: 'person', at: 1 });
      }
    },
  };
}

test('PIPE-03 what was taken back after a crash is on the disk before anybody is answered', async () => {
  const { durabilities, start, row } = await killed('idempotent');
  expect(await start()).toEqual({ rolledBack: 1, left: 0 });
  expect(await row()).toMatchObject({ state: 'ROLLED_BACK' });
  expect(new Set(durabilities)).toEqual(new Set(['synchronous']));
});

test('PIPE-03 PIPE-13 wherever the process dies, and however often, what takes a call back has its effect once where it must not have it twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('irreversible' as const, 'idempotent' as const),
      fc.array(fc.nat(16), { maxLength: 4 }),
      async (policy, deaths) => {
        const { effects, row, start, settle } = await killed(policy);
        for (const diesAt of deaths) await start(diesAt);
        await start();
        const times = (id: string) => effects.filter((each) => each.id === id).length;
        if (policy === 'irreversible') {
          expect([times('one'), times('two')].every((each) => each <= 1)).toBe(true);
          // The layer never guesses an unknown outcome: it waits until the outcomes are settled.
          for (let tries = 0; tries < 2; tries += 1) {
            await settle();
            await start();
          }
          expect([times('one'), times('two')]).toEqual([1, 1]);
        }
        expect([times('one') > 0, times('two') > 0]).toEqual([true, true]);
        expect(effects[0]?.id).toBe('two');
        expect(await row()).toMatchObject({ state: 'ROLLED_BACK', failure: { code: 'E3811' } });
        expect(await start()).toEqual({ rolledBack: 0, left: 0 });
      },
    ),
    { numRuns: 60 },
  );
});
