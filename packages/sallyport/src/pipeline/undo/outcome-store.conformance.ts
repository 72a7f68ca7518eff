import { deepEqual, equal } from 'node:assert/strict';
import type { TestCase } from '@sallyport/std/adapter-cases';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import { changedWithEvents, unchangedWithoutEvents } from '../../domain/event/events-of.conformance.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { OutcomeQuery, OutcomeSettlement, OutcomeStore } from '../outcome-store.port.ts';

/** A store of outcomes, and the ledger whose rows the store lists; both empty. */
export interface OpenOutcomes {
  readonly outcomes: OutcomeStore;
  readonly ledger: LedgerStore;
  close(): Promise<void>;
}

const row = (invocationId: string, acceptedAt: number, more: Partial<InvocationRecord> = {}): InvocationRecord => ({
  invocationId,
  tenantId: 'acme',
  agentDid: 'did:agent:a',
  toolId: 'write',
  door: 'rest',
  sideEffect: 'irreversible',
  state: 'ABORTED',
  instanceId: 'one',
  failure: { failed: true, code: 'E3804', message: 'Cut off.' },
  warnings: [],
  acceptedAt,
  ...more,
});

const LATE = { failed: true, code: 'E3103', message: 'Late.' } as const;

const settlement = (more: Partial<OutcomeSettlement> = {}): OutcomeSettlement => ({
  tenantId: 'acme',
  invocationId: 'a',
  outcome: 'happened',
  how: 'person',
  by: 'did:op',
  at: 5,
  ...more,
});

/** Requirements of every OutcomeStore. */
export function outcomeStoreConformance(test: TestCase, adapter: string, open: () => Promise<OpenOutcomes>): void {
  const check = (name: string, run: (opened: OpenOutcomes) => Promise<void>): void =>
    test(`${name} (${adapter})`, async () => {
      const opened = await open();
      try {
        await run(opened);
      } finally {
        await opened.close();
      }
    });
  const unsettled = { tenantId: 'acme', settled: false, limit: 10 };
  const idsOf = async (outcomes: OutcomeStore, query: OutcomeQuery = unsettled): Promise<string[]> =>
    (await outcomes.list(query)).map(({ record }) => record.invocationId);

  check('PIPE-13 calls with an unknown outcome are listed, the oldest first, and no others', async (opened) => {
    const { outcomes, ledger } = opened;
    const records = [
      row('c', 2),
      row('b', 1),
      row('B', 1),
      row('late', 0, { failure: LATE }),
      row('theirs', 0, { tenantId: 'globex' }),
    ];
    await ledger.append({ records, events: [] }, 'synchronous');
    deepEqual(await idsOf(outcomes), ['B', 'b', 'c']);
    const [first] = await outcomes.list({ ...unsettled, limit: 1 });
    deepEqual(first, { record: records[2] });
    const after = { acceptedAt: 1, invocationId: 'B' };
    deepEqual(await idsOf(outcomes, { ...unsettled, after }), ['b', 'c']);
  });

  check('PIPE-13 one is settled once, and stays listed among the settled', async ({ outcomes, ledger }) => {
    await ledger.append({ records: [row('a', 1), row('b', 2)], events: [] }, 'synchronous');
    const first = settlement({ note: 'seen \0 in the log', result: { id: 7 } });
    const answers = await Promise.all([
      outcomes.settle(first),
      outcomes.settle(settlement({ outcome: 'did_not_happen' })),
    ]);
    deepEqual(answers[0], answers[1]);
    const standing = await outcomes.find('acme', 'a');
    deepEqual(standing, answers[0]);
    deepEqual(await outcomes.settle(settlement({ at: 9 })), standing);
    deepEqual(await idsOf(outcomes), ['b']);
    deepEqual(await outcomes.list({ ...unsettled, settled: true }), [{ record: row('a', 1), settlement: standing }]);
  });

  check(
    'AUD-07.5 no outcome is settled without its events, and none is drafted twice',
    async ({ outcomes, ledger }) => {
      await ledger.append({ records: [row('a', 1)], events: [] }, 'synchronous');
      await changedWithEvents(
        (events) => outcomes.settle(settlement(), events),
        () => outcomes.findAll('acme', ['a']),
      );
      await unchangedWithoutEvents((events) => outcomes.settle(settlement(), events));
    },
  );

  check('PIPE-13 PRM-10 both lists go page by page, and no settlement of another tenant counts', async (opened) => {
    const { outcomes, ledger } = opened;
    const done = [row('B', 1), row('b', 1), row('a', 3)];
    const open = [row('D', 2), row('d', 2), row('c', 4)];
    const others = ['a', 'z'].map((id) => row(id, 9, { tenantId: 'globex' }));
    for (const id of ['late', 'later']) others.push(row(id, 9, { failure: LATE }));
    await ledger.append({ records: [...others, ...open, ...done].toReversed(), events: [] }, 'synchronous');
    for (const { invocationId } of [...done, row('late', 9)]) await outcomes.settle(settlement({ invocationId }));
    for (const invocationId of ['a', 'c']) await outcomes.settle(settlement({ invocationId, tenantId: 'globex' }));
    for (const [rows, settled] of [
      [done, true],
      [open, false],
    ] as const) {
      const query = { ...unsettled, settled };
      const ids = rows.map(({ invocationId }) => invocationId);
      deepEqual(await idsOf(outcomes, query), ids);
      deepEqual(await idsOf(outcomes, { ...query, limit: 1 }), ids.slice(0, 1));
      for (const [at, after] of rows.entries())
        deepEqual(await idsOf(outcomes, { ...query, after }), ids.slice(at + 1));
      const [first] = rows;
      if (first !== undefined) deepEqual(await idsOf(outcomes, { ...query, after: first, limit: 1 }), ids.slice(1, 2));
    }
  });

  check('PIPE-07 what a settled call answered is forgotten in time, and that it is settled is not', async (opened) => {
    const { outcomes } = opened;
    const known = settlement({ result: { id: 7, text: 'nul \0' }, note: 'Seen.' });
    await outcomes.settle(known);
    const later = [
      settlement({ tenantId: 'globex', at: 40, result: 2 }),
      settlement({ invocationId: 'b', at: 50, result: 1 }),
    ];
    for (const each of later) await outcomes.settle(each);
    equal(await outcomes.forgetResults(known.at, 10), 0);
    deepEqual(await outcomes.find('acme', 'a'), known);
    equal(await outcomes.forgetResults(known.at + 1, 10), 1);
    deepEqual(await outcomes.find('acme', 'a'), settlement({ note: 'Seen.' }));
    for (const each of later) deepEqual(await outcomes.find(each.tenantId, each.invocationId), each);
    equal(await outcomes.forgetResults(100, 1), 1);
    equal((await outcomes.find('globex', 'a'))?.result, undefined);
    equal((await outcomes.find('acme', 'b'))?.result, 1);
    equal(await outcomes.forgetResults(100, 10), 1);
    equal(await outcomes.forgetResults(100, 10), 0);
  });

  check('settlements are of one tenant', async ({ outcomes }) => {
    await outcomes.settle(settlement());
    await outcomes.settle(settlement({ invocationId: 'c' }));
    equal(await outcomes.find('globex', 'a'), undefined);
    deepEqual(await outcomes.findAll('acme', ['b', 'a']), [settlement()]);
    deepEqual(await outcomes.findAll('acme', []), []);
    deepEqual(await outcomes.findAll('globex', ['a']), []);
    deepEqual(await outcomes.settle(settlement({ tenantId: 'globex' })), settlement({ tenantId: 'globex' }));
  });
}
