import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { rowTaken } from '../../domain/invocation/rows-of-batch.ts';
import { silentLog } from '../../telemetry/log.ts';
import { EMPTY_CHAIN, flawOf, headOf } from '../chain.ts';
import { openLedger } from '../ledger.ts';
import type { LedgerStore } from '../ledger-store.port.ts';

const draft = (id: string): EventDraft => ({
  id,
  type: 'ai.agent.registry.changed',
  time: 1,
  tenantId: 'acme',
  data: { id },
});

const open = (store: LedgerStore, options: { batchMax?: number; queueMax?: number } = {}) =>
  openLedger({ store, chainId: 'one', log: silentLog, ...options });

/** A store whose appends fail while `broken` returns true. */
function breakable(broken: (ids: readonly string[]) => boolean): { store: LedgerStore; batches: string[][] } {
  const memory = memoryLedgerStore();
  const batches: string[][] = [];
  const store: LedgerStore = {
    ...memory,
    async append(batch, durability) {
      const ids = batch.events.map(({ id }) => id);
      if (broken(ids)) throw new Error('the disk is full');
      batches.push(ids);
      await memory.append(batch, durability);
    },
  };
  return { store, batches };
}

describe('the ledger', () => {
  test('AUD-02 a commit resolves when the store has it, and concurrent ones share a transaction', async () => {
    const { store, batches } = breakable(() => false);
    const ledger = await open(store);
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) => ledger.commit({ events: [draft(id)], durability: 'asynchronous' })),
    );
    expect(batches).toEqual([['a'], ['b', 'c', 'd']]);
    expect(ledger.head().seq).toBe(4);
    expect((await store.chainEvents('one', 0, 10)).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('one entry that the store refuses fails alone, and the chain goes on without a gap', async () => {
    const { store } = breakable((ids) => ids.includes('bad'));
    const ledger = await open(store);
    const first = ledger.commit({ events: [draft('first')], durability: 'asynchronous' });
    const ends = await Promise.allSettled(
      ['a', 'bad', 'b'].map((id) => ledger.commit({ events: [draft(id)], durability: 'asynchronous' })),
    );
    await first;
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ends[1]).toMatchObject({ reason: { code: 'E3812' } });
    const events = await store.chainEvents('one', 0, 10);
    expect(events.map(({ id, chainseq }) => [id, chainseq])).toEqual([
      ['first', 1],
      ['a', 2],
      ['b', 3],
    ]);
  });

  test('PIPE-09 that a row is another call’s is said to its entry alone, when nobody can look after the others too', async () => {
    for (const isReachable of [true, false]) {
      const memory = memoryLedgerStore();
      let lost = false;
      const ledger = await open({
        ...memory,
        async append(batch, durability) {
          lost ||= batch.events.some(({ id }) => id === 'bad') && !isReachable;
          if (batch.events.some(({ id }) => id === 'bad')) throw rowTaken();
          await memory.append(batch, durability);
        },
        chainHead: (chainId) => (lost ? Promise.reject(new Error('unreachable')) : memory.chainHead(chainId)),
      });
      const first = ledger.commit({ events: [draft('first')], durability: 'asynchronous' });
      const ends = await Promise.allSettled(
        ['a', 'bad', 'b'].map((id) => ledger.commit({ events: [draft(id)], durability: 'asynchronous' })),
      );
      await first;
      const codes = ends.map((end) => (end.status === 'rejected' ? end.reason.code : 'written'));
      expect(codes).toEqual(isReachable ? ['written', 'E3802', 'written'] : ['E3812', 'E3812', 'E3812']);
    }
  });

  describe('events that a row holds', () => {
    const record = {
      invocationId: 'c',
      tenantId: 'acme',
      state: 'EXECUTING',
      warnings: [],
    } as unknown as InvocationRecord;
    const first = [draft('a'), draft('b')];

    /** A store that accepts writes; its answers may be lost, and its head may be unreadable. */
    async function deaf() {
      const memory = memoryLedgerStore();
      const now = { deaf: false, unreachable: false };
      const ledger = await open({
        ...memory,
        async append(batch, durability) {
          await memory.append(batch, durability);
          if (now.deaf) throw new Error('the answer was lost');
        },
        chainHead: (chainId) =>
          now.unreachable ? Promise.reject(new Error('unreachable')) : memory.chainHead(chainId),
      });
      const ids = async () => (await memory.chainEvents('one', 0, 10)).map(({ id }) => id);
      return { memory, now, ledger, ids };
    }

    test('AUD-02 are linked by the entry that brings them again, though the row came in by a lost answer', async () => {
      const { memory, now, ledger, ids } = await deaf();
      now.deaf = true;
      await Promise.allSettled([
        ledger.commit({ events: [draft('x')], durability: 'asynchronous' }),
        ledger.commit({ record, events: first, durability: 'synchronous', inRow: true }),
        ledger.commit({ events: [draft('y')], durability: 'asynchronous' }),
      ]);
      now.deaf = false;
      expect(await ids()).toEqual(['x', 'y']);
      expect((await memory.findInvocation('acme', 'c'))?.heldEvents?.each.map(({ id }) => id)).toEqual(['a', 'b']);
      await ledger.commit({ record, events: first, durability: 'asynchronous' });
      expect(await ids()).toEqual(['x', 'y', 'a', 'b']);
      expect(await memory.findInvocation('acme', 'c')).not.toHaveProperty('heldEvents');
    });

    test('AUD-02 AUD-07 never stand for the end that brings them once more, and are not linked twice', async () => {
      const { memory, now, ledger, ids } = await deaf();
      now.deaf = true;
      now.unreachable = true;
      await expect(ledger.commit({ record, events: first, durability: 'asynchronous' })).rejects.toThrow();
      now.deaf = false;
      now.unreachable = false;
      const end = { ...record, state: 'COMPLETED' } as const;
      await ledger.commit({ record: end, events: [...first, draft('c')], durability: 'synchronous' });
      expect(await memory.findInvocation('acme', 'c')).toMatchObject({ state: 'COMPLETED' });
      expect(await ids()).toEqual(['a', 'b', 'c']);
    });
  });

  test('a store that is gone refuses every entry and the ledger works again when it is back', async () => {
    let gone = true;
    const { store } = breakable(() => gone);
    const ledger = await open(store);
    const commit = (id: string): Promise<void> => ledger.commit({ events: [draft(id)], durability: 'synchronous' });
    const ends = await Promise.allSettled(['a', 'b', 'c'].map(commit));
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    gone = false;
    await commit('d');
    expect(ledger.head().seq).toBe(1);
  });

  test('AUD-03 a full batch goes ahead of one that is on its way, and fails with it without a gap', async () => {
    const memory = memoryLedgerStore();
    const atOnce: number[] = [];
    let under = 0;
    let failures = 0;
    const store: LedgerStore = {
      ...memory,
      async append(batch, durability) {
        under += 1;
        atOnce.push(under);
        await new Promise(setImmediate);
        under -= 1;
        if (failures-- > 0) throw new Error('the disk is full');
        await memory.append(batch, durability);
      },
    };
    const ledger = await open(store, { batchMax: 2 });
    const commit = (id: string): Promise<void> => ledger.commit({ events: [draft(id)], durability: 'synchronous' });
    const ids = Array.from({ length: 9 }, (_, at) => `${at}`);
    await Promise.all(ids.map(commit));
    expect(Math.max(...atOnce)).toBe(2);
    failures = 1;
    const ends = await Promise.allSettled(ids.map((id) => commit(`again-${id}`)));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', ...Array(8).fill('fulfilled')]);
    atOnce.length = 0;
    await Promise.all(ids.map((id) => commit(`later-${id}`)));
    expect(Math.max(...atOnce)).toBe(2);
    const events = await memory.chainEvents('one', 0, 100);
    expect(events.map(({ chainseq }) => chainseq)).toEqual(Array.from({ length: 26 }, (_, at) => at + 1));
    let head = EMPTY_CHAIN;
    for (const event of events) {
      expect(flawOf(event, head)).toBeUndefined();
      head = headOf(event);
    }
  });

  test.each([2, 3, 4, 5])(
    'AUD-02 after a failed write nothing is sent before the head was read, also what comes %i turns after it',
    async (turns) => {
      const memory = memoryLedgerStore();
      const calls: string[] = [];
      const later: Promise<void>[] = [];
      const store: LedgerStore = {
        ...memory,
        chainHead(chainId) {
          calls.push('head');
          return memory.chainHead(chainId);
        },
        async append(batch, durability) {
          calls.push(batch.events.map(({ id }) => id).join());
          if (!calls.includes('bad') || calls.length > 2) return memory.append(batch, durability);
          void afterwards();
          throw new Error('the disk is full');
        },
      };
      const ledger = await open(store, { batchMax: 2 });
      const commit = (id: string): Promise<void> => ledger.commit({ events: [draft(id)], durability: 'synchronous' });
      const afterwards = async (): Promise<void> => {
        for (let turn = 0; turn < turns; turn += 1) await undefined;
        later.push(commit('a'), commit('b'));
      };
      await expect(commit('bad')).rejects.toMatchObject({ code: 'E3812' });
      await Promise.all(later);
      expect(calls).toEqual(['head', 'bad', 'head', 'a,b']);
    },
  );

  test('a restarted instance goes on behind its newest event', async () => {
    const store = memoryLedgerStore();
    const before = await open(store);
    await before.commit({ events: [draft('a'), draft('b')], durability: 'synchronous' });
    await before.close();
    const after = await open(store);
    expect(after.head()).toEqual(before.head());
    await after.commit({ events: [draft('c')], durability: 'synchronous' });
    expect(after.head().seq).toBe(3);
  });

  test('a full queue refuses at the bound, a closed ledger refuses all', async () => {
    const { store } = breakable(() => false);
    const ledger = await open(store, { batchMax: 1, queueMax: 2 });
    const commit = (id: string): Promise<void> => ledger.commit({ events: [draft(id)], durability: 'asynchronous' });
    const ends = Promise.allSettled(['taken at once', 'taken ahead', 'a', 'b', 'too many'].map(commit));
    expect(
      (await ends).map((end) =>
        end.status === 'fulfilled' ? 'taken' : [end.reason.code, end.reason.failure.retryAfterMs],
      ),
    ).toEqual(['taken', 'taken', 'taken', 'taken', ['E3803', 1_000]]);
    await ledger.close();
    await expect(commit('late')).rejects.toMatchObject({ code: 'E3812' });
  });
});
