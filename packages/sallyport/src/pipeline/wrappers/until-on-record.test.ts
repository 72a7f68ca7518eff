import { setImmediate } from 'node:timers/promises';
import { systemClock } from '@sallyport/std/clock';
import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { LedgerBatch, LedgerStore } from '../../audit/ledger-store.port.ts';
import { statusFor } from '../../operations/invocations/get-invocation.ts';
import { manifest, type PipelineChanges, pipeline } from '../pipeline.fixture.ts';

/** A pipeline whose store writes the batches that are held only once the test lets it. */
async function layer(isHeld: (batch: LedgerBatch) => boolean, changes: PipelineChanges = {}) {
  const memory = memoryLedgerStore();
  const held = Promise.withResolvers<void>();
  const let_ = Promise.withResolvers<void>();
  let reads = 0;
  const store: LedgerStore = {
    ...memory,
    async append(batch, durability) {
      if (isHeld(batch)) {
        held.resolve();
        await let_.promise;
      }
      await memory.append(batch, durability);
    },
    findInvocation(...of) {
      reads += 1;
      return memory.findInvocation(...of);
    },
  };
  const made = await pipeline({ store, ...changes });
  return { ...made, held: held.promise, write: () => let_.resolve(), reads: () => reads };
}

const endsOne = ({ records }: LedgerBatch): boolean => records.some(({ state }) => state === 'COMPLETED');
const run = { tool_id: 'run', parameters: { n: 1 } };

async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

describe('a call is under way until its end is on record', () => {
  test('OPS-03 PIPE-13 a layer that stops writes the end of a call whose first events are being written', async () => {
    const linksFirst = ({ events, records }: LedgerBatch): boolean =>
      events.length > 0 && records.some(({ state }) => state === 'EXECUTING');
    const { add, call, parts, held, write } = await layer(linksFirst);
    await add(manifest('run', { side_effect_policy: 'irreversible' }), async () => {
      await held;
      return 'paid';
    });
    const running = call(run);
    await held;
    const stopped = parts.running.drain(60_000).then(() => parts.ledger.close());
    await turns();
    write();
    expect(await running).toMatchObject({ state: 'COMPLETED', result: 'paid' });
    await stopped;
  });

  test('PIPE-09 a call that repeats its id waits for that end, and nothing runs twice', async () => {
    let at = 0;
    const clock = { now: systemClock.now, monotonic: () => at };
    const { add, call, held, write, reads } = await layer(endsOne, { clock });
    let ran = 0;
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    await add(manifest('run'), async () => {
      ran += 1;
      begun.resolve();
      await end.promise;
      return ran;
    });
    const first = call({ ...run, invocation_id: 'one' });
    await begun.promise;
    const second = call({ ...run, invocation_id: 'one' });
    const looked = async (): Promise<void> => {
      const before = reads();
      await expect.poll(() => ran > 1 || reads() > before + 4, { timeout: 50_000 }).toBe(true);
    };
    await looked();
    // A call without a row counts as lost after so long, unless it is under way.
    at += 60_000;
    end.resolve();
    await held;
    await looked();
    write();
    expect([await first, await second]).toMatchObject([{ result: 1 }, { result: 1, metadata: { cached: true } }]);
    expect(ran).toBe(1);
  }, 120_000);

  test('PIPE-07 its status is not that of an end that may not be recorded', async () => {
    const { add, call, parts, held, write } = await layer(endsOne);
    await add(manifest('run'), () => 'done');
    const running = call({ ...run, invocation_id: 'one' });
    await held;
    const principal = { tenantId: 'acme', agentDid: 'did:agent:a', roles: [] };
    const asker = { principal, caller: { door: 'library' } } as const;
    const status = await statusFor(parts, 'one', asker, true);
    expect(isFailure(status) ? status.code : status.state).toBe('EXECUTING');
    write();
    expect(await running).toMatchObject({ state: 'COMPLETED' });
  });
});
