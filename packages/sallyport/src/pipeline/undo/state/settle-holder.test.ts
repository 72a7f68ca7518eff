import { expect, test } from 'vitest';
import { memoryStateStore } from '../../../../test/stores/outcomes/memory-state-store.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { settleHolder } from './settle-holder.ts';
import { stateUndoer } from './state-undoer.ts';

test('PIPE-03 the row of a call decides on what its runs wrote: that of the lease that completed it stays', async () => {
  const store = memoryStateStore();
  const holder = (invocationId: string, fence: number) => ({ tenantId: 'acme', invocationId, fence });
  const asker = holder('asker', 2);
  const cases = [
    [holder('done', 1), { state: 'COMPLETED', fence: 1 }, true, '7'],
    [holder('done', 0), { state: 'COMPLETED' }, true, '7'],
    [holder('done', 1), { state: 'COMPLETED', fence: 2 }, true, undefined],
    [holder('done', 1), { state: 'ABORTED', fence: 1 }, true, undefined],
    [holder('done', 1), { state: 'EXECUTING', fence: 2 }, true, undefined],
    [holder('done', 1), { state: 'EXECUTING', fence: 1 }, false, undefined],
    [holder('done', 1), { state: 'EXECUTING' }, false, undefined],
    [holder('done', 0), { state: 'EXECUTING' }, false, undefined],
    [holder('done', 2), { state: 'COMPLETED', fence: 1 }, true, undefined],
    [holder('done', 1), undefined, false, undefined],
    [holder('asker', 1), { state: 'EXECUTING', fence: 2 }, true, undefined],
    [holder('asker', 3), { state: 'EXECUTING', fence: 2 }, false, undefined],
  ] as const;
  for (const [at, [by, row, settled, value]] of cases.entries()) {
    const key = { tenantId: 'acme', ownerId: 'acme', toolId: 'tool', name: `n-${at}` };
    await store.write({ key, by, next: '7', valuesMax: 10 });
    const record = row === undefined ? undefined : ({ ...row, invocationId: by.invocationId } as InvocationRecord);
    const records = {
      findInvocation: async (...of: unknown[]) => (of.join() === `acme,${by.invocationId}` ? record : undefined),
    };
    expect(await settleHolder(store, records, by, asker)).toBe(settled);
    const found = await store.read(key);
    expect([found?.value, found?.held !== undefined]).toEqual([value, !settled]);
    await store.discard(by);
  }
});

test('PIPE-03.7 what a run wrote is kept once its call is over on record, and taken back by the step of its own lease', async () => {
  const store = memoryStateStore();
  const key = (name: string) => ({ tenantId: 'acme', ownerId: 'acme', toolId: 'tool', name });
  const of = { tenantId: 'acme', invocationId: 'i', position: 0 };
  for (const fence of [0, 1, 2]) {
    const by = { tenantId: 'acme', invocationId: 'i', fence };
    await store.write({ key: key(`n-${fence}`), by, next: '7', valuesMax: 10 });
  }
  let row: Partial<InvocationRecord> | undefined;
  const undoer = stateUndoer(store, { findInvocation: async () => row as InvocationRecord | undefined });
  const step = (fence: unknown) => ({ kind: 'state', fence });
  const left = () =>
    Promise.all([0, 1, 2].map(async (fence) => (await store.read(key(`n-${fence}`)))?.value ?? 'open'));
  for (const under of [undefined, { state: 'EXECUTING', fence: 1 }] as const) {
    row = under;
    await expect(undoer.keep?.(step(1), of)).rejects.toThrow('not over on record');
  }
  for (const fence of [undefined, '1', null]) {
    await expect(undoer.keep?.(step(fence), of)).rejects.toThrow('names no lease');
    await expect(undoer.undo(step(fence), of)).rejects.toThrow('names no lease');
  }
  expect(await left()).toEqual(['open', 'open', 'open']);
  row = { state: 'COMPLETED', fence: 1 };
  await undoer.keep?.(step(1), of);
  await undoer.undo(step(2), of);
  expect([await left(), await store.read(key('n-2'))]).toEqual([['open', '7', 'open'], undefined]);
  await undoer.keep?.(step(0), of);
  expect(await store.read(key('n-0'))).toBeUndefined();
});
