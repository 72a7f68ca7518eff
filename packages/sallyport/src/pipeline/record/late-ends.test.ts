import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { silentLog } from '../../telemetry/log.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { type CallEnd, createLateEnds, type LateEndsParts } from './late-ends.ts';

/** `deaf`: the store accepts writes, but its answers are lost. */
type Mode = 'there' | 'away' | 'deaf';

/** A pipeline whose store becomes unavailable when the tool runs, and comes back when the test says so. */
async function layer(more: Partial<LateEndsParts> = {}, policy: 'pure' | 'irreversible' = 'irreversible') {
  const store = memoryLedgerStore();
  const inner = await pipeline({ store });
  const { commit } = inner.parts.ledger;
  let mode: Mode = 'there';
  let next: Mode = 'away';
  const ledger = {
    ...inner.parts.ledger,
    async commit(entry: CallEnd) {
      if (mode === 'away') throw new ToolLayerError('E3812', 'away');
      await commit(entry);
      if (mode === 'deaf') throw new ToolLayerError('E3812', 'the answer was lost');
    },
  };
  const lateEnds = createLateEnds({ ledger, records: store, log: silentLog, ...more });
  const made = await pipeline({ store, ledger, lateEnds });
  let ran = 0;
  await made.add(manifest('pay', { side_effect_policy: policy }), () => {
    mode = next;
    ran += 1;
    return { ran };
  });
  const call = () => made.call({ tool_id: 'pay', parameters: { n: 1 }, execution_options: { idempotency_key: 'k' } });
  return {
    ...made,
    store,
    lateEnds,
    call,
    ran: () => ran,
    becomes: (wanted: Mode) => {
      next = wanted;
    },
    back: () => {
      mode = 'there';
    },
  };
}

const rowOf = ({ store }: Awaited<ReturnType<typeof layer>>, { invocationId }: InvocationRecord) =>
  store.findInvocation('acme', invocationId);

test('ORC-06 the end of a call whose store was away is on record once it is back, and then the caller hears of it', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer();
  opened.use(made.lateEnds);
  const answer = made.call();
  await expect.poll(() => made.lateEnds.size).toBe(1);
  made.back();
  const record = await answer;
  expect(record).toMatchObject({ state: 'COMPLETED', result: { ran: 1 } });
  expect(await rowOf(made, record)).toMatchObject({ state: 'COMPLETED', result: { ran: 1 } });
  expect(made.lateEnds.size).toBe(0);
});

test('PIPE-13 who cannot wait for it is told that the outcome is not known, and finds it on record later', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer({ patienceMs: 1 });
  opened.use(made.lateEnds);
  const record = await made.call();
  expect(record).toMatchObject({ state: 'FAILED', failure: { code: 'E3804' } });
  expect(await rowOf(made, record)).toMatchObject({ state: 'EXECUTING' });
  const again = made.call();
  made.back();
  expect(await again).toMatchObject({ state: 'COMPLETED', result: { ran: 1 }, metadata: { cached: true } });
  expect(await rowOf(made, record)).toMatchObject({ state: 'COMPLETED' });
  expect(made.ran()).toBe(1);
});

test('PIPE-13 a tool that is safe to call again says so when its outcome could not be recorded', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer({ patienceMs: 1 }, 'pure');
  opened.use(made.lateEnds);
  expect(await made.call()).toMatchObject({ failure: { code: 'E3811' } });
});

test('AUD-02 an end that is on record already, whose answer was lost, is not written twice', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer();
  opened.use(made.lateEnds);
  made.becomes('deaf');
  const record = await made.call();
  expect(record).toMatchObject({ state: 'COMPLETED' });
  const states = (await made.eventsOf(record.invocationId)).map(({ data }) => data['state']);
  expect(states.filter((state) => state === 'COMPLETED')).toHaveLength(1);
});

test('no more ends are kept than there is room for, and none once it is closed', async () => {
  const made = await layer({ endsMax: 0 });
  expect(await made.call()).toMatchObject({ failure: { code: 'E3804' } });
  await made.lateEnds[Symbol.asyncDispose]();
  expect(made.lateEnds.size).toBe(0);
});
