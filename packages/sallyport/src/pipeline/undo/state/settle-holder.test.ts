import { expect, test } from 'vitest';
import { memoryStateStore } from '../../../../test/stores/outcomes/memory-state-store.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { settleHolder } from './settle-holder.ts';

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
    [holder('done', 1), undefined, false, undefined],
    [holder('asker', 1), { state: 'EXECUTING', fence: 2 }, true, undefined],
    [holder('asker', 3), { state: 'EXECUTING', fence: 2 }, false, undefined],
  ] as const;
  for (const [at, [by, row, settled, value]] of cases.entries()) {
    const key = { tenantId: 'acme', ownerId: 'acme', toolId: 'tool', name: `n-${at}` };
    await store.write({ key, by, next: '7', valuesMax: 10 });
    const record = row === undefined ? undefined : ({ ...row, invocationId: by.invocationId } as InvocationRecord);
    const records = { findInvocation: async () => record };
    expect(await settleHolder(store, records, by, asker)).toBe(settled);
    const found = await store.read(key);
    expect([found?.value, found?.held !== undefined]).toEqual([value, !settled]);
    await store.discard(by);
  }
});
