import { deepEqual, equal, rejects } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { JournalEntry, UndoJournal } from '../undo-journal.port.ts';

const entry = (more: Partial<JournalEntry> = {}): JournalEntry => ({
  tenantId: 'acme',
  invocationId: 'call',
  instanceId: 'one',
  position: 0,
  step: { kind: 'file', path: '/a', before: null },
  ...more,
});

const ids = (found: readonly { readonly tenantId: string; readonly invocationId: string }[]): string[] =>
  found.map(({ tenantId, invocationId }) => `${tenantId}/${invocationId}`);

/** Requirements of every UndoJournal. `open` gives an empty one each time. */
export function undoJournalConformance(test: TestCase, adapter: string, open: OpenStore<UndoJournal>): void {
  const check = casesOver(test, adapter, open);

  check('PIPE-03 steps are found in their order, with what is taken back already', async (journal) => {
    for (const position of [2, 0, 1]) await journal.add(entry({ position, step: { kind: 'n', at: position } }));
    await journal.markUndone('acme', 'call', 2);
    deepEqual(await journal.find('acme', 'call'), {
      tenantId: 'acme',
      invocationId: 'call',
      instanceId: 'one',
      steps: [
        { position: 0, step: { kind: 'n', at: 0 }, undone: false },
        { position: 1, step: { kind: 'n', at: 1 }, undone: false },
        { position: 2, step: { kind: 'n', at: 2 }, undone: true },
      ],
    });
  });

  check('PIPE-03 a place is written once', async (journal) => {
    await journal.add(entry());
    await rejects(journal.add(entry({ step: { kind: 'other' } })));
    deepEqual((await journal.find('acme', 'call'))?.steps[0]?.step, entry().step);
  });

  check('a step comes back as it was, whatever text is in it', async (journal) => {
    const step = { kind: 'file', text: 'a\0b \ud800 "\u2028', deep: [{ one: 1.5 }, null] };
    await journal.add(entry({ step }));
    deepEqual((await journal.find('acme', 'call'))?.steps[0]?.step, step);
  });

  check(
    'PIPE-03 a closed transaction is gone, and closing or marking what is not there does nothing',
    async (journal) => {
      await journal.add(entry());
      await journal.close('acme', 'call');
      equal(await journal.find('acme', 'call'), undefined);
      deepEqual(await journal.open('one', 10), []);
      await journal.close('acme', 'call');
      await journal.markUndone('acme', 'call', 0);
      await journal.add(entry());
      equal((await journal.find('acme', 'call'))?.steps.length, 1);
    },
  );

  check('PIPE-03 what is done to the transaction of one call leaves those of others as they are', async (journal) => {
    const others = [entry({ invocationId: 'other' }), entry({ tenantId: 'globex' })];
    for (const each of [...others, entry()]) await journal.add(each);
    const unharmed = async () => {
      for (const { tenantId, invocationId } of others) {
        const steps = [{ position: 0, step: entry().step, undone: false }];
        deepEqual(await journal.find(tenantId, invocationId), { tenantId, invocationId, instanceId: 'one', steps });
      }
    };
    await journal.markUndone('acme', 'call', 0);
    equal((await journal.find('acme', 'call'))?.steps[0]?.undone, true);
    await unharmed();
    await journal.close('acme', 'call');
    equal(await journal.find('acme', 'call'), undefined);
    await unharmed();
  });

  check('transactions are of one tenant', async (journal) => {
    const tenants = ['acme', 'globex', 'a\0', 'a\uFFFD', 'a\ud800'];
    for (const tenantId of tenants) await journal.add(entry({ tenantId, step: { kind: tenantId } }));
    await journal.close('acme', 'call');
    for (const tenantId of tenants.slice(1)) {
      equal((await journal.find(tenantId, 'call'))?.steps[0]?.step.kind, tenantId);
    }
  });

  check('PIPE-03 those of an instance are listed page by page, and no other’s', async (journal) => {
    const calls = ['c', 'a', 'b', 'B'];
    for (const invocationId of calls) await journal.add(entry({ invocationId }));
    for (const position of [2, 1]) await journal.add(entry({ invocationId: 'B', position }));
    await journal.add(entry({ tenantId: 'aaa', invocationId: 'z' }));
    await journal.add(entry({ invocationId: 'd', instanceId: 'two' }));
    const first = await journal.open('one', 3);
    deepEqual(ids(first), ['aaa/z', 'acme/B', 'acme/a']);
    deepEqual(
      first[1]?.steps.map(({ position }) => position),
      [0, 1, 2],
    );
    deepEqual(ids(await journal.open('one', 3, first[2])), ['acme/b', 'acme/c']);
    deepEqual(ids(await journal.open('two', 1)), ['acme/d']);
  });
}
