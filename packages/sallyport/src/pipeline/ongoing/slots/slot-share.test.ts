import { sha256 } from '@sallyport/std/sha256';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SlotStore } from '../../../permission/slot-store.port.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { SlotShare } from './slot-share.ts';

const A = 'did:agent:a';
const HASH = sha256(A);
const LEASE_MS = 10_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A share over a store that answers as the test says, and a user whose need the test sets. */
async function opened() {
  let now = 1_000;
  const need = { running: 0, waiting: 0, since: undefined as number | undefined };
  const answers: (object | Error | undefined)[] = [];
  const said: unknown[] = [];
  const logged: string[] = [];
  const wanted: string[] = [];
  let isDown = false;
  let slow: Promise<void> | undefined;
  let notify: (agentHash: string | undefined) => void = () => undefined;
  const store = {
    renew: async (_owner: string, leaseMs: number) => {
      if (isDown) throw new Error('no database');
      await slow;
      said.push(['renew', leaseMs]);
      return wanted.splice(0);
    },
    listen: async (_owner: string, listener: typeof notify) => {
      notify = listener;
      return { [Symbol.asyncDispose]: async () => void said.push('deaf') };
    },
    share: async (_owner: string, { agentHash: _hash, ...use }: object & { agentHash: string }) => {
      said.push(['share', use]);
      const answer = answers.length > 0 ? answers.shift() : { slots: need.running, othersWait: false };
      if (answer instanceof Error) throw answer;
      return answer;
    },
    release: async (_owner: string, hashes: readonly string[]) => void said.push(['release', hashes]),
    leave: async () => void said.push('left'),
  } as unknown as SlotStore;
  const log = { ...silentLog, warn: (event: string) => void logged.push(event) };
  const clock = { now: () => now, monotonic: () => now };
  const share = new SlotShare({ store, instanceId: 'one', leaseMs: LEASE_MS, clock, log });
  share.usedBy({
    need: () => need,
    came: (agent, most, isLast) => void said.push(['came', agent, most, isLast]),
    failed: (agent, { code }) => void said.push(['failed', agent, code]),
  });
  await share.start();
  /** What was said to the store and the user since the last look, once everything is settled. */
  const since = async (): Promise<unknown[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    return said.splice(0);
  };
  return {
    ...{ share, need, answers, wanted, logged, since },
    notify: (agentHash?: string) => notify(agentHash),
    pass: (ms: number) => {
      now += ms;
    },
    fail: (down: boolean) => {
      isDown = down;
    },
    /** Renewals take as long. */
    slowBy: (given: Promise<void>) => {
      slow = given;
    },
    renewals: async (count: number) => {
      for (let n = 0; n < count; n += 1) {
        vi.advanceTimersByTime(1_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const asked = (use: object): unknown => ['share', expect.objectContaining(use)];

describe('the slots of an agent in one instance', () => {
  test('PIPE-08 are asked for when a call waits, used up to what came, and not asked for twice', async () => {
    const { share, need, answers, since, pass } = await opened();
    expect([await since(), share.held(A)]).toEqual([[['renew', LEASE_MS]], 0]);
    Object.assign(need, { running: 0, waiting: 2, since: 400 });
    answers.push({ slots: 1, othersWait: false });
    share.seek(A, 4);
    share.seek(A, 4);
    // Until the store answers, no more than was reported is used.
    expect(share.held(A)).toBe(0);
    expect(await since()).toEqual([
      asked({ max: 4, running: 0, waiting: 2, waitedMs: 600 }),
      ['came', A, Number.POSITIVE_INFINITY, false],
      asked({ running: 0, waiting: 2 }),
      ['came', A, Number.POSITIVE_INFINITY, true],
    ]);
    Object.assign(need, { running: 0, waiting: 2, since: undefined });
    share.seek(A, 4);
    expect(await since()).toEqual([]);
    Object.assign(need, { running: 1, waiting: 2 });
    answers.push({ slots: 2, othersWait: true });
    pass(50);
    need.waiting = 3;
    share.seek(A, 4);
    expect(await since()).toEqual([
      asked({ running: 1, waiting: 3, waitedMs: 650 }),
      ['came', A, 1, true],
      asked({ running: 1, waitedMs: 0 }),
      expect.anything(),
    ]);
  });

  test('PIPE-08 never beyond the most of the agent', async () => {
    const { share, need, since } = await opened();
    await since();
    Object.assign(need, { running: 3, waiting: 5 });
    share.seek(A, 4);
    expect((await since())[0]).toEqual(asked({ max: 4, running: 3, waiting: 1 }));
  });

  test('PIPE-08 go back when others wait, at once or when one comes free', async () => {
    const { share, need, answers, since, notify } = await opened();
    expect(share.giveBack(A)).toBe(false);
    Object.assign(need, { waiting: 2 });
    answers.push({ slots: 2, othersWait: false });
    share.seek(A, 4);
    Object.assign(need, { running: 2, waiting: 0 });
    await since();
    expect([share.held(A), share.giveBack(A)]).toEqual([2, false]);
    // All of them are in use: the next that comes free goes back.
    notify(HASH);
    expect([await since(), share.giveBack(A)]).toEqual([[], true]);
    expect(await since()).toEqual([asked({ running: 2, waiting: 0 }), ['came', A, Number.POSITIVE_INFINITY, true]]);
    need.running = 1;
    notify(HASH);
    expect((await since())[0]).toEqual(asked({ running: 1, waiting: 0 }));
    expect(share.held(A)).toBe(1);
    notify('of an agent that is not known here');
    expect(await since()).toEqual([]);
    notify();
    expect((await since())[0]).toEqual(asked({ running: 1 }));
  });

  test('PIPE-08 are asked for anew when fewer calls wait than the store knows', async () => {
    const { share, need, answers, since } = await opened();
    Object.assign(need, { waiting: 2 });
    answers.push({ slots: 0, othersWait: true });
    share.seek(A, 4);
    await since();
    share.noteFewer(A);
    expect(await since()).toEqual([]);
    need.waiting = 1;
    share.noteFewer(A);
    share.noteFewer('did:agent:unknown');
    expect((await since())[0]).toEqual(asked({ waiting: 1 }));
  });
});

describe('the lease of an instance', () => {
  test('PIPE-08 that is over leaves no slot, and begins anew before the store is asked', async () => {
    const { share, need, answers, since, pass } = await opened();
    Object.assign(need, { waiting: 1 });
    answers.push({ slots: 1, othersWait: false });
    share.seek(A, 4);
    Object.assign(need, { running: 1, waiting: 0 });
    await since();
    pass(LEASE_MS - 1);
    expect(share.held(A)).toBe(1);
    pass(1);
    expect(share.held(A)).toBe(0);
    need.waiting = 1;
    share.seek(A, 4);
    const [first, second] = await since();
    expect([first, second]).toEqual([['renew', LEASE_MS], asked({ running: 1, waiting: 1 })]);
    expect(share.held(A)).toBe(1);
  });

  test('PIPE-08 that the store does not know, or cannot be asked about, fails the calls that wait', async () => {
    const { share, need, answers, since } = await opened();
    await since();
    need.waiting = 1;
    answers.push(undefined, new Error('no database'));
    share.seek(A, 4);
    expect((await since()).at(-1)).toEqual(['failed', A, 'E3812']);
    expect(share.held(A)).toBe(0);
    share.seek(A, 4);
    expect((await since()).at(-1)).toEqual(['failed', A, 'E3900']);
  });

  test('PIPE-08 is renewed each second; what nobody used for long, or is of nobody here, is given back', async () => {
    const { share, need, answers, wanted, logged, since, fail, renewals } = await opened();
    need.waiting = 1;
    answers.push({ slots: 1, othersWait: false });
    share.seek(A, 4);
    Object.assign(need, { running: 0, waiting: 0 });
    await since();
    wanted.push('unknown');
    await renewals(1);
    expect(await since()).toEqual([
      ['renew', LEASE_MS],
      ['release', ['unknown']],
    ]);
    fail(true);
    await renewals(2);
    fail(false);
    await renewals(1);
    fail(true);
    await renewals(1);
    fail(false);
    expect(logged).toEqual(['slots-not-renewed', 'slots-not-renewed']);
    await since();
    await renewals(27);
    expect((await since()).filter((each) => String(each).startsWith('release'))).toEqual([]);
    await renewals(1);
    expect(await since()).toEqual([
      ['renew', LEASE_MS],
      ['release', [HASH]],
    ]);
    expect([share.held(A), share.giveBack(A)]).toEqual([0, false]);
    need.waiting = 1;
    share.seek(A, 4);
    await since();
    await renewals(1);
    expect((await since()).slice(0, 2)).toEqual([['renew', LEASE_MS], asked({ waiting: 1 })]);
  });

  test('PIPE-08 leaves what is in use, or asked about, with the instance, and counts the time of no use alone', async () => {
    const { share, need, answers, since, renewals } = await opened();
    const released = async (count: number) => {
      await renewals(count);
      return (await since()).filter((each) => String(each).startsWith('release'));
    };
    const asking = Promise.withResolvers<object>();
    answers.push(asking.promise);
    need.waiting = 1;
    share.seek(A, 4);
    need.waiting = 0;
    expect(await released(31)).toEqual([]);
    Object.assign(need, { running: 1, waiting: 1 });
    asking.resolve({ slots: 1, othersWait: false });
    expect(await released(31)).toEqual([]);
    for (const running of [1, 0]) {
      Object.assign(need, { running: 0, waiting: 0 });
      expect(await released(29)).toEqual([]);
      need.running = running;
      expect(await released(1)).toEqual(running === 1 ? [] : [['release', [HASH]]]);
    }
  });

  test.each(['done', 'failed'])('PIPE-08 is left once a renewal under way is %s: it would begin anew', async (end) => {
    const { share, since, slowBy, renewals } = await opened();
    await since();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    slowBy(promise);
    await renewals(1);
    const closing = share[Symbol.asyncDispose]();
    expect(await since()).toEqual([]);
    if (end === 'done') resolve();
    else reject(new Error('no database'));
    await closing;
    expect(await since()).toEqual([...(end === 'done' ? [['renew', LEASE_MS]] : []), 'deaf', 'left']);
  });

  test('PIPE-08 ends with the instance, which asks for nothing afterwards', async () => {
    const { share, need, since, renewals } = await opened();
    await since();
    await share[Symbol.asyncDispose]();
    expect(await since()).toEqual(['deaf', 'left']);
    need.waiting = 1;
    share.seek(A, 4);
    await renewals(2);
    expect(await since()).toEqual([]);
  });
});
