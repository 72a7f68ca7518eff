import { deepEqual, equal } from 'node:assert/strict';
import type { TestCase } from '@sallyport/std/adapter-cases';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { OutcomeSettlement, OutcomeStore } from '../outcome-store.port.ts';

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
  const idsOf = async (outcomes: OutcomeStore, query = unsettled): Promise<string[]> =>
    (await outcomes.list(query)).map(({ record }) => record.invocationId);

  check('PIPE-13 calls with an unknown outcome are listed, the oldest first, and no others', async (opened) => {
    const { outcomes, ledger } = opened;
    const other = { failed: true, code: 'E3103', message: 'Late.' } as const;
    const records = [
      row('c', 2),
      row('b', 1),
      row('B', 1),
      row('late', 0, { failure: other }),
      row('theirs', 0, { tenantId: 'globex' }),
    ];
    await ledger.append({ records, events: [] }, 'synchronous');
    deepEqual(await idsOf(outcomes), ['B', 'b', 'c']);
    const [first] = await outcomes.list({ ...unsettled, limit: 1 });
    deepEqual(first, { record: records[2] });
    const after = { acceptedAt: 1, invocationId: 'B' };
    deepEqual(await idsOf(outcomes, { ...unsettled, after } as typeof unsettled), ['b', 'c']);
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

  check('PIPE-07 what a settled call answered is forgotten in time, and that it is settled is not', async (opened) => {
    const { outcomes } = opened;
    const known = settlement({ result: { id: 7, text: 'nul \0' }, note: 'Seen.' });
    await outcomes.settle(known);
    await outcomes.settle(settlement({ invocationId: 'b', at: 50, result: 1 }));
    await outcomes.forgetResults(known.at, 10);
    deepEqual(await outcomes.find('acme', 'a'), known);
    await outcomes.forgetResults(known.at + 1, 10);
    deepEqual(await outcomes.find('acme', 'a'), settlement({ note: 'Seen.' }));
    deepEqual(await outcomes.find('acme', 'b'), settlement({ invocationId: 'b', at: 50, result: 1 }));
  });

  check('settlements are of one tenant', async ({ outcomes }) => {
    await outcomes.settle(settlement());
    equal(await outcomes.find('globex', 'a'), undefined);
    deepEqual(await outcomes.findAll('acme', ['b', 'a']), [settlement()]);
    deepEqual(await outcomes.findAll('acme', []), []);
    deepEqual(await outcomes.findAll('globex', ['a']), []);
    deepEqual(await outcomes.settle(settlement({ tenantId: 'globex' })), settlement({ tenantId: 'globex' }));
  });
}
