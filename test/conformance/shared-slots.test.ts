import { randomUUID } from 'node:crypto';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { AgentSlot } from '../../packages/sallyport/src/pipeline/ongoing/slots/agent-slots.ts';
import {
  AGENT,
  closeInstance,
  closeInstances,
  instance,
  NEVER_MS,
  pool,
  rows,
  sleepy,
  slotStore,
} from './slot-instances.fixture.ts';

describe('the slots of an agent in several instances over one PostgreSQL', () => {
  test('PIPE-08.8 PIPE-08.2 in no order of calls, ends and cancels do more run than may, and each call gets its turn', async () => {
    const step = fc.tuple(
      fc.constantFrom('join', 'join', 'free', 'cancel', 'pause'),
      fc.nat({ max: 2 }),
      fc.nat({ max: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 50 }), async (max, steps) => {
        const instances = [await instance(), await instance(), await instance()];
        const holding = new Set<AgentSlot>();
        const ends: Promise<void>[] = [];
        const cancels: AbortController[] = [];
        let joined = 0;
        let served = 0;
        const free = (slot: AgentSlot | undefined): void => {
          if (slot === undefined) return;
          holding.delete(slot);
          slot.free();
        };
        for (const [what, at, which] of steps) {
          if (what === 'join') {
            const cancel = new AbortController();
            cancels.push(cancel);
            joined += 1;
            const waited = instances[at]?.wait(max, { signal: cancel.signal }).then(
              (slot) => {
                served += 1;
                holding.add(slot);
                expect(holding.size).toBeLessThanOrEqual(max);
              },
              (reason) => {
                if (!cancel.signal.aborted) throw reason;
                served += 1;
              },
            );
            if (waited !== undefined) ends.push(waited);
          } else if (what === 'free') free([...holding][which]);
          else if (what === 'cancel') cancels[which]?.abort(new Error('cancelled'));
          else await new Promise((resolve) => setTimeout(resolve, which));
        }
        await vi.waitFor(
          () => {
            free([...holding][0]);
            expect(served).toBe(joined);
          },
          { timeout: 50_000, interval: 1 },
        );
        await Promise.all(ends);
        for (const slot of [...holding]) free(slot);
        await closeInstances();
        expect(await rows()).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test('PIPE-08.8 cost an instance that is alone one question, and none while its agents call', async () => {
    const one = await instance();
    for (let call = 0; call < 100; call += 1) (await one.wait(8)).free();
    const held = await Promise.all(Array.from({ length: 8 }, () => one.wait(8)));
    const waiting = one.wait(8);
    expect(one.slots.waiting).toBe(1);
    held[0]?.free();
    await waiting;
    expect(one.questions()).toBe(1);
  });

  test('PIPE-08.8 are lent to the instance that needs more, and do not stay with one that is idle', async () => {
    const [one, two] = [await instance(), await instance()];
    (await one.wait(4)).free();
    expect(await rows()).toEqual([{ slots: 2, wanted: 0 }]);
    const held = await Promise.all(Array.from({ length: 4 }, () => two.wait(4)));
    expect(await rows()).toEqual([{ slots: 4, wanted: 0 }]);
    const waits = one.wait(4);
    held[0]?.free();
    await waits;
    expect(await rows()).toEqual([
      { slots: 1, wanted: 0 },
      { slots: 3, wanted: 0 },
    ]);
  });

  test('PIPE-08.8 PIPE-08.6 go to the call that has waited longest, in whichever instance', async () => {
    let now = 0;
    const given = { clock: { now: () => now, monotonic: () => now }, leaseMs: NEVER_MS };
    let knowsOfOthers = false;
    const first = await instance({
      ...given,
      change: (store) => ({
        ...store,
        share: async (owner, use) => {
          const answer = await store.share(owner, use);
          knowsOfOthers = answer?.othersWait === true;
          return answer;
        },
      }),
    });
    const instances = [first, await instance(given), await instance(given)] as const;
    let held = await instances[0].wait(1);
    const served: number[] = [];
    const order = [0, 1, 0, 2, 1, 0];
    for (const [call, at] of order.entries()) {
      void instances[at as 0 | 1 | 2].wait(1).then((slot) => {
        served.push(call);
        held = slot;
      });
      now += 60_000;
    }
    // The instances' clocks run ahead of the database's, so wait until the database has the times of two waiting
    // instances.
    const known = "select 1 from sallyport.agent_slots where wanted > 0 and since < now() - interval '170 seconds'";
    await expect.poll(async () => (await pool.query(known)).rowCount).toBe(2);
    // An instance that has not been notified yet gives its slot to its own next call.
    await expect.poll(() => knowsOfOthers).toBe(true);
    for (let call = 0; call < order.length; call += 1) {
      held.free();
      await expect.poll(() => served.length).toBe(call + 1);
    }
    expect(served).toEqual(order.map((_, call) => call));
  });

  test('PIPE-08.8 are not used beyond what was reported while the answer is on its way', async () => {
    let answered = Promise.resolve();
    const one = await instance({
      change: (store) => ({
        ...store,
        share: async (owner, use) => {
          const held = await store.share(owner, use);
          await answered;
          return held;
        },
      }),
    });
    const two = await instance();
    (await one.wait(1)).free();
    const { promise, resolve } = Promise.withResolvers<void>();
    answered = promise;
    const slot = await two.wait(1);
    // The first instance gave its idle slot back, and its request for a new share is not answered yet.
    expect(one.slots.take(AGENT, 1)).toBeUndefined();
    resolve();
    slot.free();
    (await one.wait(1)).free();
  });

  test('PIPE-08.8 are as many for instances that ask at the same moment', async () => {
    const store = slotStore();
    const owners = Array.from({ length: 4 }, () => `${randomUUID()}/${randomUUID()}`);
    for (const owner of owners) await store.renew(owner, NEVER_MS);
    for (let agent = 0; agent < 100; agent += 1) {
      const use = { agentHash: `agent ${agent}`, max: 1, running: 0, waiting: 1, waitedMs: 0 };
      const held = await Promise.all(owners.map((owner) => store.share(owner, use)));
      expect(held.reduce((sum, each) => sum + (each?.slots ?? 0), 0)).toBe(1);
    }
  });

  test('PIPE-08.8 are counted while the lease of their instance is renewed, and given back for the named agents alone', async () => {
    const store = slotStore();
    const [owner, other] = [`${randomUUID()}/${randomUUID()}`, `${randomUUID()}/${randomUUID()}`];
    const share = (by: string, agentHash: string) =>
      store.share(by, { agentHash, max: 2, running: 0, waiting: 1, waitedMs: 0 });
    await store.renew(owner, 0);
    expect(await share(owner, 'one')).toBeUndefined();
    for (const by of [owner, other]) await store.renew(by, NEVER_MS);
    for (const by of [owner, other]) expect(await share(by, 'one')).toEqual({ slots: 1, othersWait: false });
    expect(await share(owner, 'two')).toEqual({ slots: 1, othersWait: false });
    await store.release(owner, ['one']);
    const { rows: left } = await pool.query('select owner, agent_hash from sallyport.agent_slots order by agent_hash');
    expect(left).toEqual([
      { owner: other, agent_hash: 'one' },
      { owner, agent_hash: 'two' },
    ]);
  });

  test('PIPE-08.8 hold up no other agent', async () => {
    const [one, two] = [await instance(), await instance()];
    const held = await one.wait(1);
    const waits = two.wait(1);
    (await two.wait(1, {}, 'acme\ndid:example:other')).free();
    (await one.wait(1, {}, 'acme\ndid:example:other')).free();
    expect(two.slots.waiting).toBe(1);
    held.free();
    await waits;
  });

  test('PIPE-08.8 of an instance that no longer renews its lease come back when that is over, and it begins no call', async () => {
    const one = await sleepy(500);
    const two = await instance();
    await one.wait(2);
    const idle = await one.wait(2);
    idle.free();
    one.sleep(true);
    const both = await Promise.all([two.wait(2), two.wait(2)]);
    const over = 'select owner from sallyport.slot_holders where until <= clock_timestamp()';
    await expect.poll(async () => (await pool.query(over)).rows).toEqual([]);
    expect(one.slots.take(AGENT, 2)).toBeUndefined();
    await expect(one.wait(2)).rejects.toMatchObject({ code: 'E3900' });
    one.sleep(false);
    // This instance uses one slot and the other two: one more must end before it gets another slot.
    const again = one.wait(2);
    both[0].free();
    await expect.poll(rows).toContainEqual({ slots: 1, wanted: 1 });
    both[1].free();
    await again;
  });

  test('PIPE-08.8 of a killed instance are free at once when the same instance is back', async () => {
    const killed = await sleepy(NEVER_MS, 'one');
    await killed.wait(1);
    killed.sleep(true);
    const other = await instance();
    const waits = other.wait(1);
    await instance({ id: 'one' });
    await waits;
  });

  test('PIPE-08.8 that cannot be counted are refused, and counted again when the database answers', async () => {
    const one = await instance();
    await pool.query('alter table sallyport.agent_slots rename to away');
    try {
      await expect(one.wait(2)).rejects.toMatchObject({ code: 'E3812' });
      expect(one.slots.waiting).toBe(0);
    } finally {
      await pool.query('alter table sallyport.away rename to agent_slots');
    }
    (await one.wait(2)).free();
  });

  test('PIPE-08.8 PIPE-08.3 are not waited for by more calls than may wait', async () => {
    const [one, two] = [await instance(), await instance()];
    const none = { waitingMax: 0 };
    const held = await one.wait(2, none);
    const other = await two.wait(2, none);
    await expect(two.wait(2, none)).rejects.toMatchObject({ code: 'E3106' });
    held.free();
    other.free();
    const both = await Promise.all([two.wait(2, none), two.wait(2, none)]);
    await expect(one.wait(2, none)).rejects.toSatisfy((thrown) => thrown instanceof ToolLayerError);
    for (const slot of both) slot.free();
  });

  test('PIPE-08.8 wanted by calls that workers run later come too, in turns with calls whose callers wait', async () => {
    const [one, two] = [await instance(), await instance()];
    const held = await one.wait(1);
    let waiting = 1;
    let taken: AgentSlot | undefined;
    using _listening = two.slots.onFree({
      waiting: () => waiting,
      free: (agent) => {
        if (waiting === 0) return;
        taken = two.slots.take(agent, 1);
        if (taken !== undefined) waiting -= 1;
      },
    });
    two.slots.seek(AGENT, 1);
    const queued = two.wait(1);
    held.free();
    await expect.poll(() => taken).toBeDefined();
    expect(two.slots.waiting).toBe(1);
    taken?.free();
    (await queued).free();
  });

  test('PIPE-08.8 are not asked for again by an instance that closes while it asks', async () => {
    let [asked, closed, renewals, othersWait] = [Promise.resolve(), false, 0, false];
    const answered = Promise.withResolvers<void>();
    const one = await instance({
      change: (store) => ({
        ...store,
        renew: (...given) => {
          if (closed) renewals += 1;
          return store.renew(...given);
        },
        share: async (...given) => {
          await asked;
          const answer = await store.share(...given).finally(() => closed && setImmediate(answered.resolve));
          othersWait = answer?.othersWait ?? false;
          return answer;
        },
      }),
    });
    const two = await instance();
    const held = [await one.wait(2), await one.wait(2)];
    const cancel = new AbortController();
    const other = two.wait(2, { signal: cancel.signal }).catch(() => undefined);
    await expect.poll(rows).toContainEqual({ slots: 0, wanted: 1 });
    const more = one.wait(2, { signal: cancel.signal }).catch(() => undefined);
    await expect.poll(() => othersWait).toBe(true);
    const gate = Promise.withResolvers<void>();
    asked = gate.promise;
    for (const slot of held) slot.free();
    await closeInstance(one);
    closed = true;
    gate.resolve();
    await answered.promise;
    expect(renewals).toBe(0);
    cancel.abort(new Error('over'));
    await Promise.all([other, more]);
  });

  test('PIPE-08.8 are given back when the instance closes, and when no call of the agent has come for long', async () => {
    const [one, two] = [await instance(), await instance()];
    const held = await one.wait(1);
    const waits = two.wait(1);
    held.free();
    (await waits).free();
    await expect.poll(rows).toEqual([]);
    await one.wait(1);
    const next = two.wait(1);
    await closeInstance(one);
    (await next).free();
  });
});
