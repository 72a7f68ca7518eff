import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { flawOf, headOf } from '../../audit/chain.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { createFirstEvents } from './first-events.ts';
import { recoverOpenCalls } from './recover.ts';

const STATES = ['DECLARED', 'VALIDATED', 'AUTHORIZED', 'EXECUTING'];
/** Longer than a row holds its events before they are moved to the chain, ms. */
const LONG_MS = 150;

const statesOf = (events: readonly { data: Record<string, unknown> }[]): unknown[] =>
  events.map(({ data }) => data['state']);

/**
 * A pipeline over a store that notes its writes and may be gone from one moment on, as after a crash of its process.
 */
async function watched() {
  const memory = memoryLedgerStore();
  const appends: { readonly events: number; readonly row: InvocationRecord | undefined }[] = [];
  let gone = false;
  const store: LedgerStore = {
    ...memory,
    async append(batch, durability) {
      if (gone) throw new Error('the process is gone');
      appends.push({ events: batch.events.length, row: batch.records[0] });
      await memory.append(batch, durability);
    },
  };
  const made = await pipeline({ store });
  const end = (): void => {
    gone = true;
  };
  return { ...made, memory, appends, end };
}

async function chainIsWhole(store: LedgerStore): Promise<void> {
  let head = { seq: 0, hash: '0'.repeat(64) };
  for (const event of await store.chainEvents('one', 0, 1000)) {
    expect(flawOf(event, head)).toBeUndefined();
    head = headOf(event);
  }
}

/** Stops the timers, so that a short call on a slow machine does not become a long one. */
const stopTimers = (): void => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
afterEach(() => {
  vi.useRealTimers();
});

describe('the first events of a call that may leave something behind', () => {
  test('AUD-02 stand in its row before it runs, and in the chain with its end', async () => {
    stopTimers();
    const { add, call, appends, memory, everyEventOf } = await watched();
    let before: readonly InvocationRecord[] = [];
    await add(manifest('pay', { side_effect_policy: 'irreversible' }), async () => {
      before = await memory.openInvocations('one');
    });
    const { invocationId } = await call({ tool_id: 'pay', parameters: { n: 1 } });
    expect(before).toMatchObject([{ invocationId, state: 'EXECUTING' }]);
    expect(before[0]?.heldEvents?.each).toHaveLength(5);
    expect(appends.map(({ events }) => events)).toEqual([0, 7]);
    const events = await everyEventOf(invocationId);
    expect(statesOf(events).filter((state) => state !== undefined)).toEqual([...STATES, 'COMPLETED']);
    expect(events.slice(0, 5).map(({ id }) => id)).toEqual(before[0]?.heldEvents?.each.map(({ id }) => id));
    expect(await memory.findInvocation('acme', invocationId)).not.toHaveProperty('heldEvents');
    await chainIsWhole(memory);
  });

  test('AUD-02 are in the chain while a call runs that takes long, and once only', async () => {
    const { add, call, appends, memory, eventsOf } = await watched();
    let running: readonly unknown[] = [];
    let row: readonly InvocationRecord[] = [];
    await add(manifest('pay', { side_effect_policy: 'irreversible' }), async () => {
      await wait(LONG_MS);
      row = await memory.openInvocations('one');
      running = statesOf(await eventsOf(row[0]?.invocationId ?? ''));
    });
    const { invocationId } = await call({ tool_id: 'pay', parameters: { n: 1 } });
    expect(running).toEqual(STATES);
    expect(row[0]).not.toHaveProperty('heldEvents');
    expect(appends.map(({ events }) => events)).toEqual([0, 5, 2]);
    expect(statesOf(await eventsOf(invocationId))).toEqual([...STATES, 'COMPLETED']);
    await chainIsWhole(memory);
  });

  test('AUD-02.7 PIPE-13 of a call that was cut off come out of its row, with their ids and times, before its end', async () => {
    stopTimers();
    const { add, call, memory, end } = await watched();
    await add(manifest('pay', { side_effect_policy: 'irreversible' }), async () => {
      end();
    });
    await call({ tool_id: 'pay', parameters: { n: 1 } });
    const [row] = await memory.openInvocations('one');
    expect(row?.state).toBe('EXECUTING');
    const again = await pipeline({ store: memory });
    expect(await recoverOpenCalls(again.parts, 'one')).toBe(1);
    const events = await again.everyEventOf(row?.invocationId ?? '');
    expect(statesOf(events).filter((state) => state !== undefined)).toEqual([...STATES, 'ABORTED']);
    const held = row?.heldEvents?.each ?? [];
    expect(events.slice(0, held.length).map(({ id, type, time }) => [id, type, Date.parse(time)])).toEqual(
      held.map(({ id, type, time }) => [id, type, time]),
    );
    expect(events[2]?.data).toMatchObject({ state: 'AUTHORIZED', policy_decision: { allowed: true }, tool_id: 'pay' });
    expect(await memory.findInvocation('acme', row?.invocationId ?? '')).not.toHaveProperty('heldEvents');
    await chainIsWhole(memory);
  });

  test('AUD-04 hold no personal data in the row either', async () => {
    stopTimers();
    const { add, call, appends } = await watched();
    await add(manifest('pay', { side_effect_policy: 'irreversible' }), () => 1);
    const claim_source = 'mail of eve@example.com';
    await call({ tool_id: 'pay', parameters: { n: 1 }, execution_options: { claim_source } });
    const { heldEvents } = appends[0]?.row ?? {};
    expect(heldEvents?.each).toHaveLength(5);
    expect(JSON.stringify(heldEvents)).toContain('claim_source');
    expect(JSON.stringify(appends)).not.toContain('eve@example.com');
  });
});

describe('what is held', () => {
  const data = { invocation_id: 'call' };
  const events: readonly EventDraft[] = [
    { id: 'e', type: 'ai.agent.tool.invoked', time: 1, tenantId: 'acme', subject: 'call', data },
  ];
  const record = { invocationId: 'call', state: 'EXECUTING' } as InvocationRecord;

  test('AUD-02 is told with the end when it could not be told before', async () => {
    const asked: unknown[] = [];
    const commit: Parameters<typeof createFirstEvents>[0]['commit'] = async ({ inRow, durability }) => {
      asked.push([inRow, durability]);
      if (inRow !== true) throw new Error('refused');
    };
    const call = createFirstEvents({ commit }, 5).begin(record, events, 'asynchronous');
    await call.standing;
    await wait(50);
    expect(asked).toEqual([
      [true, 'asynchronous'],
      [undefined, 'synchronous'],
    ]);
    expect(await call.unlinked()).toEqual(events);
  });

  test('AUD-02 is not told a second time when its call has ended', async () => {
    let asked = 0;
    const commit = async (): Promise<void> => {
      asked += 1;
    };
    const call = createFirstEvents({ commit }, 5).begin(record, events, 'synchronous');
    await call.standing;
    expect(await call.unlinked()).toEqual(events);
    await wait(50);
    expect(asked).toBe(1);
  });

  test('AUD-02 is told with the end of a call whose row could not be written, and never before', async () => {
    let asked = 0;
    const commit = async (): Promise<void> => {
      asked += 1;
      throw new Error('refused');
    };
    const call = createFirstEvents({ commit }, 5).begin(record, events, 'synchronous');
    await expect(call.standing).rejects.toThrow('refused');
    await wait(50);
    expect(asked).toBe(1);
    expect(await call.unlinked()).toEqual(events);
  });
});
