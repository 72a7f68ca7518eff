import { failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { type AgentSlot, AgentSlots } from './agent-slots.ts';
import type { SlotShare, SlotUser } from './slot-share.ts';

const never = new AbortController().signal;
const NEVER_MS = 2 ** 30;
const wait = { waitingMax: 100, allWaitingMax: 1000, ms: NEVER_MS, signal: never };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Slots of the agent `x` of which this instance holds as many as the test says. */
function shared(held = 0) {
  const asked: string[] = [];
  const state = { held, isGivenBack: false, now: 5 };
  let user: SlotUser | undefined;
  const share = {
    usedBy: (given: SlotUser) => {
      user = given;
    },
    now: () => state.now,
    held: () => state.held,
    giveBack: (agent: string) => {
      asked.push(`give back ${agent}`);
      return state.isGivenBack;
    },
    seek: (agent: string, max: number) => void asked.push(`seek ${agent} ${max}`),
    noteFewer: (agent: string) => void asked.push(`fewer ${agent}`),
  };
  const slots = new AgentSlots(share as unknown as SlotShare);
  const ends: unknown[] = [];
  const join = (name: string, more: Partial<typeof wait> = {}) =>
    slots.wait('x', 2, { ...wait, ...more }).then(
      (slot) => {
        ends.push(name);
        return slot;
      },
      ({ code }: ToolLayerError) => void ends.push(`${name} ${code}`),
    );
  const came = async (most: number, isLast = true) => {
    user?.came('x', most, isLast);
    await turn();
    return ends.splice(0);
  };
  return {
    slots,
    state,
    join,
    came,
    ends,
    need: () => user?.need('x'),
    failed: user?.failed,
    since: () => asked.splice(0),
  };
}

describe('slots that several instances share', () => {
  test('PIPE-08 are no more than this instance holds, nor than the agent may have', () => {
    const { slots, state } = shared(1);
    expect([slots.has('x', 2), slots.take('x', 2) !== undefined, slots.take('x', 2)]).toEqual([true, true, undefined]);
    expect(slots.has('x', 2)).toBe(false);
    state.held = 9;
    expect([slots.take('x', 2) !== undefined, slots.take('x', 2)]).toEqual([true, undefined]);
  });

  test('PIPE-08 that come are passed on to the queue after a listener took one', async () => {
    const { slots, state, join, came, need } = shared();
    let left = 1;
    using _listening = slots.onFree({
      waiting: () => left,
      free: (agent) => {
        if (left > 0 && slots.take(agent, 2) !== undefined) left -= 1;
      },
    });
    void join('a');
    state.held = 2;
    expect([await came(9), need()?.running, left]).toEqual([['a'], 2, 0]);
  });

  test('PIPE-08 are sought for each call that waits, and come to as many as they are', async () => {
    const { slots, state, join, came, need, since } = shared();
    expect(need()).toEqual({ running: 0, waiting: 0, since: undefined });
    void join('a');
    state.now = 7;
    void join('b');
    expect([since(), need()]).toEqual([['seek x 2', 'seek x 2'], { running: 0, waiting: 2, since: 5 }]);
    state.held = 2;
    expect(await came(0)).toEqual([]);
    expect([await came(1), need(), since()]).toEqual([['a'], { running: 1, waiting: 1, since: 7 }, ['fewer x']]);
    state.held = 1;
    expect(await came(9)).toEqual([]);
    state.held = 2;
    expect([await came(9), slots.waiting]).toEqual([['b'], 0]);
    expect(await came(9)).toEqual([]);
  });

  test('PIPE-08 that come free go to another instance that wants them, else to the next call here', async () => {
    const { slots, state, join, ends, since } = shared(1);
    const first = slots.take('x', 2);
    const joined = join('a');
    since();
    state.isGivenBack = true;
    first?.free();
    await turn();
    expect([ends, since(), slots.waiting]).toEqual([[], ['give back x'], 1]);
    state.isGivenBack = false;
    const second = slots.take('x', 2);
    second?.free();
    await joined;
    expect([ends, since()]).toEqual([['a'], ['give back x', 'fewer x']]);
  });

  test('PIPE-08 may come to a call for which the queue had no room; it is refused once it was passed over twice', async () => {
    const { state, join, came, ends, slots } = shared();
    const narrow = { waitingMax: 0 };
    void join('a', narrow);
    void join('b', { allWaitingMax: 1 });
    void join('c', narrow);
    await turn();
    // No more slots than two can come, so the third call has none to wait for.
    expect(ends.splice(0)).toEqual(['c E3106']);
    expect(await came(1, false)).toEqual([]);
    expect(await came(1)).toEqual([]);
    state.held = 1;
    expect(await came(1, false)).toEqual(['a']);
    expect([await came(0), slots.waiting]).toEqual([['b E3106'], 0]);
    void join('roomy');
    expect([await came(0), await came(0), slots.waiting]).toEqual([[], [], 1]);
  });

  test('PIPE-08 whose number is not known fail the calls that wait, but none that had one', async () => {
    const { slots, state, join, came, ends, failed } = shared(1);
    const held = slots.take('x', 2) as AgentSlot;
    const { promise, resolve } = Promise.withResolvers<void>();
    const asking = held.without(() => promise, never).then(() => ends.push('returned'));
    state.held = 0;
    void join('a');
    resolve();
    await turn();
    expect(slots.waiting).toBe(2);
    failed?.('unknown', failure('E3812', 'away'));
    failed?.('x', failure('E3812', 'away'));
    await turn();
    expect([ends.splice(0), slots.waiting]).toEqual([['a E3812'], 1]);
    state.held = 1;
    expect(await came(1)).toEqual(['returned']);
    await asking;
  });

  test('PIPE-08 are needed by the calls that listeners count too, and sought for them', () => {
    const { slots, need, since } = shared(2);
    slots.take('x', 2);
    const listener = { waiting: (agent: string) => (agent === 'x' ? 3 : 9), free: () => undefined };
    {
      using _listening = slots.onFree(listener);
      expect(need()).toEqual({ running: 1, waiting: 3, since: undefined });
    }
    expect(need()?.waiting).toBe(0);
    slots.seek('x', 2);
    expect(since()).toEqual(['seek x 2']);
    expect(() => new AgentSlots().seek('x', 2)).not.toThrow();
  });
});

describe('slots of this instance alone', () => {
  /** Slots of the agent `x`, all taken. */
  function full(max: number) {
    const slots = new AgentSlots();
    return { slots, held: Array.from({ length: max }, () => slots.take('x', max) as AgentSlot) };
  }
  const settled = (work: Promise<unknown>) =>
    work.then(
      () => 'got',
      ({ code, message }) => code ?? message,
    );

  test('PIPE-08 are refused when the layer stops, and to those that wait, but not to a call that had one', async () => {
    const { slots, held } = full(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const returning = settled((held[0] as AgentSlot).without(() => promise, never));
    const other = await slots.wait('x', 1, wait);
    const waiting = settled(slots.wait('x', 1, wait));
    resolve();
    await turn();
    slots.close(new ToolLayerError('E3811', 'It stops.'));
    expect(await waiting).toBe('E3811');
    expect(await settled(slots.wait('x', 1, wait))).toBe('E3811');
    expect(slots.waiting).toBe(1);
    other.free();
    expect(await returning).toBe('got');
  });

  test('PIPE-08 the refusal has the numbers, and when to try again', async () => {
    const { slots } = full(1);
    const refusal = (more: object) => slots.wait('x', 1, { ...wait, ...more }).catch(({ failure }) => failure);
    expect(await refusal({ waitingMax: 0 })).toMatchObject({
      code: 'E3106',
      retryAfterMs: 1_000,
      details: { calls_max: 1, waiting_max: 0 },
    });
    expect(await refusal({ allWaitingMax: 0 })).toMatchObject({
      message: expect.stringContaining('0 calls of this layer wait'),
    });
    expect(await refusal({ ms: 2 })).toMatchObject({
      message: expect.stringContaining('within the 0.002 s'),
      retryAfterMs: 1_000,
      details: { calls_max: 1, waited_ms: 2 },
    });
    const gone = new ToolLayerError('E3805', 'Cancelled.');
    expect(await refusal({ signal: AbortSignal.abort(gone) })).toMatchObject({ code: 'E3805' });
    expect(slots.waiting).toBe(0);
  });

  test('PIPE-08 of works that overlap the last one takes the slot again, and a failed one passes its failure on', async () => {
    const { slots, held } = full(1);
    const slot = held[0] as AgentSlot;
    const [one, two] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    const first = slot.without(() => one.promise, never);
    const second = settled(slot.without(() => two.promise, never));
    one.resolve('said');
    expect(await first).toBe('said');
    expect(slots.has('x', 1)).toBe(true);
    two.reject(new Error('not said'));
    expect(await second).toBe('not said');
    expect(slots.has('x', 1)).toBe(false);
    slot.free();
    expect(await slot.without(async () => 'after the end', never)).toBe('after the end');
    expect(slots.has('x', 1)).toBe(true);
  });

  test('PIPE-08 a call that asks again while its slot comes lets it go at once', async () => {
    const { slots, held } = full(1);
    const slot = held[0] as AgentSlot;
    const said = Promise.withResolvers<void>();
    const first = slot.without(() => said.promise, never);
    const other = await slots.wait('x', 1, wait);
    said.resolve();
    await turn();
    const again = Promise.withResolvers<void>();
    const second = slot.without(() => again.promise, never);
    other.free();
    await first;
    expect(slots.has('x', 1)).toBe(true);
    again.resolve();
    await second;
    expect(slots.has('x', 1)).toBe(false);
  });
});
