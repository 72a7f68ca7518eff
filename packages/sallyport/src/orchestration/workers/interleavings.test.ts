import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryCallLeaseStore } from '../../../test/stores/calls/memory-call-lease-store.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { CallLeaseStore } from '../call-lease-store.port.ts';
import { attend } from './attend.ts';
import { beat } from './heartbeat.ts';
import { HeldCall } from './held-call.ts';
import { instance, LATER, NOBODY_BEFORE } from './workers.fixture.ts';

const TTL_MS = 10_000;

/** A lease store whose requests run in an order that the scheduler chooses. */
function scheduled(s: fc.Scheduler, leases: CallLeaseStore): CallLeaseStore {
  const wrap =
    <A extends unknown[], R>(name: string, act: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      await s.schedule(Promise.resolve(), `before ${name}`);
      const answer = await act(...given);
      await s.schedule(Promise.resolve(), `after ${name}`);
      return answer;
    };
  return {
    ...leases,
    take: wrap('take', leases.take),
    begin: wrap('begin', leases.begin),
    beat: wrap('beat', leases.beat),
    release: wrap('release', leases.release),
    putBack: wrap('put back', leases.putBack),
  };
}

/** One call, instances that try to run it at any time, and leases that expire at any time. */
async function play(s: fc.Scheduler, sideEffect: 'irreversible' | 'pure', jumps: number, attends: number) {
  let jumped = 0;
  const clock = { now: () => Date.now(), monotonic: () => performance.now() + jumped };
  const store = memoryLedgerStore();
  const plain = memoryCallLeaseStore(store, { clock });
  let effects = 0;
  const made: Awaited<ReturnType<typeof instance>>[] = [];
  for (let at = 0; at < attends; at += 1) {
    const id = `instance-${at}`;
    const each = await instance(id, { store, leases: plain, queue: async () => ({}) as never }, { leaseMs: TTL_MS });
    await each.tool(
      'effect',
      async () => {
        effects += 1;
        await s.schedule(Promise.resolve(), `${id} runs`);
        return effects;
      },
      { side_effect_policy: sideEffect },
    );
    made.push(each);
  }
  const call = await made[0]?.accept({ tool_id: 'effect', parameters: { n: 1 }, ...LATER });
  if (call === undefined) throw new Error('no instance');
  const attendAt = (index: number, life: number, leases: CallLeaseStore) => {
    const each = made[index % made.length];
    if (each === undefined) throw new Error('no instance');
    const limits = { ...each.limits, leaseMs: TTL_MS };
    const parts = {
      ...each.parts,
      ...NOBODY_BEFORE,
      records: store,
      leases,
      queue: each.queue,
      runCall: each.accepting,
      intake: each.intake,
    };
    const held = new HeldCall(call);
    const me = { instanceId: each.id, owner: `${each.id}/${life}` };
    const calls = new Map([['call', held]]);
    return { end: attend({ ...parts, limits }, me, held), beats: () => beat({ ...parts, limits }, me, calls) };
  };
  const leases = scheduled(s, plain);
  const ends: Promise<unknown>[] = [];
  for (let life = 0; life < attends; life += 1) {
    ends.push(
      s.schedule(Promise.resolve(), `attend ${life}`).then(async () => {
        const { end, beats } = attendAt(life, life, leases);
        await Promise.all([end, s.schedule(Promise.resolve(), `beat ${life}`).then(beats)]);
      }),
    );
  }
  for (let jump = 0; jump < jumps; jump += 1) {
    ends.push(
      s.schedule(Promise.resolve(), `leases end ${jump}`).then(() => {
        jumped += 2 * TTL_MS;
      }),
    );
  }
  await s.waitFor(Promise.all(ends));
  // All leases have expired, so the last instance can take the call.
  jumped += 2 * TTL_MS;
  await attendAt(0, attends, plain).end;
  const record = await store.findInvocation('acme', call.invocationId);
  for (const each of made) await each.ledger.close();
  return { effects, record };
}

test('ORC-06.4 in no order of taking, renewing, ending and finishing does an unsafe call have two effects', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 2, max: 5 }),
      async (s, jumps, attends) => {
        const { effects, record } = await play(s, 'irreversible', jumps, attends);
        expect(record === undefined ? false : isFinal(record.state)).toBe(true);
        expect(effects).toBeLessThanOrEqual(1);
        if (record?.state === 'COMPLETED') expect([effects, record.result]).toEqual([1, 1]);
        else expect(record).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' } });
      },
    ),
    { numRuns: 60 },
  );
});

test('ORC-06 a safe call always ends well, however often its runs are cut off', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 2, max: 5 }),
      async (s, jumps, attends) => {
        const { record } = await play(s, 'pure', jumps, attends);
        expect(record).toMatchObject({ state: 'COMPLETED' });
      },
    ),
    { numRuns: 40 },
  );
});
