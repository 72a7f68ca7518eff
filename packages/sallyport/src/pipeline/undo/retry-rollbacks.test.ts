import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test, vi } from 'vitest';
import type { ContinueParts } from './continue-rollbacks.ts';
import { retryRollbacks } from './retry-rollbacks.ts';

test('PIPE-03 a store that was away does not put off the rollbacks that are left', async () => {
  let tries = 0;
  const journal = {
    async open() {
      tries += 1;
      if (tries <= 16) throw new ToolLayerError('E3812', 'The database is away.');
      return [];
    },
  };
  const log = { info: () => undefined, warn: () => undefined };
  await using _retries = retryRollbacks({ transactions: { journal }, log } as unknown as ContinueParts, 'one', 5);
  // With pauses that double, the seventeenth try would come after five minutes.
  await expect.poll(() => tries).toBeGreaterThan(16);
});

test('PIPE-03 OPS-03 a layer that stops waits for the rollback under way, and not for those after it', async () => {
  const [begun, hangs] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const tried: string[] = [];
  const steps = [{ position: 0, step: { kind: 'n' }, undone: false }];
  const open = async () =>
    ['first', 'second'].map((invocationId) => ({ tenantId: 'acme', invocationId, instanceId: 'one', steps }));
  const undo = async (_step: unknown, { invocationId }: { readonly invocationId: string }): Promise<void> => {
    tried.push(invocationId);
    begun.resolve();
    await hangs.promise;
    throw new Error('the disk is gone');
  };
  const parts = {
    transactions: {
      journal: { open },
      checkpoints: { removeAfterChanges: async () => undefined },
      undoers: { n: { undo } },
    },
    records: { findInvocation: async () => ({ state: 'ABORTED' }) },
    log: { info: () => undefined, error: () => undefined },
  } as unknown as ContinueParts;
  const retries = retryRollbacks(parts, 'one', 1);
  await begun.promise;
  const ended = retries[Symbol.asyncDispose]();
  hangs.resolve();
  await ended;
  expect(tried).toEqual(['first']);
});

test('PIPE-03 tries come less and less often while nothing can be taken back, at once again when something was, and end with the layer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let [tries, broken] = [0, true];
    const lines: unknown[] = [];
    const stillOpen = new Set(['first', 'second']);
    const open = async () => {
      tries += 1;
      const steps = [{ position: 0, step: { kind: 'n' }, undone: false }];
      return [...stillOpen].map((invocationId) => ({ tenantId: 'acme', invocationId, instanceId: 'one', steps }));
    };
    const undo = async (_step: unknown, { invocationId }: { readonly invocationId: string }): Promise<void> => {
      if (broken || invocationId === 'second') throw new Error('the disk is gone');
    };
    const close = async (_tenant: string, id: string): Promise<void> => void stillOpen.delete(id);
    const parts = {
      transactions: {
        journal: { open, close, markUndone: async () => undefined },
        checkpoints: { removeAfterChanges: async () => undefined },
        undoers: { n: { undo } },
      },
      records: { findInvocation: async () => ({ state: 'ROLLED_BACK' }) },
      log: { info: (...line: unknown[]) => lines.push(line), error: () => undefined },
    } as unknown as ContinueParts;
    const retries = retryRollbacks(parts, 'one', 1_000);
    const after = async (ms: number): Promise<number> => {
      await vi.advanceTimersByTimeAsync(ms);
      return tries;
    };
    expect([await after(999), await after(1)]).toEqual([0, 1]);
    expect([await after(1_999), await after(1)]).toEqual([1, 2]);
    expect([await after(3_999), await after(1)]).toEqual([2, 3]);
    expect(lines).toEqual([]);
    broken = false;
    expect([await after(8_000), [...stillOpen]]).toEqual([4, ['second']]);
    expect(lines).toEqual([['rollbacks-finished', { rolled_back: 1, left: 1 }]]);
    // What is left is tried after the shortest pause.
    expect([await after(999), await after(1)]).toEqual([4, 5]);
    stillOpen.clear();
    expect([await after(2_000), await after(1_000), await after(1_000)]).toEqual([6, 7, 8]);
    stillOpen.add('second');
    await after(20 * 600_000);
    const before = tries;
    expect([(await after(599_999)) - before <= 1, (await after(600_000)) - before >= 1]).toEqual([true, true]);
    await retries[Symbol.asyncDispose]();
    const last = tries;
    expect(await after(1_200_000)).toBe(last);
  } finally {
    vi.useRealTimers();
  }
});
