import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AgentSlot, AgentSlots } from './agent-slots.ts';

const never = new AbortController().signal;
/** Longer than the tests run: some of them leave a call that keeps waiting. */
const NEVER_MS = 2 ** 30;
const wait = { waitingMax: 100, allWaitingMax: 1000, ms: NEVER_MS, signal: never };

/** Slots of the agent `x`, all taken. */
function full(max: number) {
  const slots = new AgentSlots();
  const held = Array.from({ length: max }, () => slots.take('x', max) as AgentSlot);
  return { slots, held };
}

/** Makes named waits for a slot, and records the order in which they end. */
function queue(slots: AgentSlots, max: number) {
  const served: string[] = [];
  const got = new Map<string, AgentSlot>();
  return {
    served,
    got,
    join: (name: string, more: Partial<typeof wait> = {}) =>
      slots.wait('x', max, { ...wait, ...more }).then((slot) => {
        served.push(name);
        got.set(name, slot);
      }),
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the slots of an agent', () => {
  test('PIPE-08 are as many as it may have, for each agent apart, and each is given back once', () => {
    const { slots, held } = full(2);
    expect(slots.take('x', 2)).toBeUndefined();
    expect(slots.has('x', 2)).toBe(false);
    expect(slots.take('y', 2)).toBeDefined();
    held[0]?.free();
    held[0]?.free();
    expect(slots.take('x', 2)).toBeDefined();
    expect(slots.take('x', 2)).toBeUndefined();
  });

  test('PIPE-08 go to those that wait in the order in which they came, and to nobody who came later', async () => {
    const { slots, held } = full(1);
    const { served, got, join } = queue(slots, 1);
    for (const name of ['a', 'b', 'c']) void join(name);
    expect(slots.waiting).toBe(3);
    held[0]?.free();
    expect(slots.take('x', 1)).toBeUndefined();
    await turn();
    expect(served).toEqual(['a']);
    got.get('a')?.free();
    await turn();
    got.get('b')?.free();
    await turn();
    expect(served).toEqual(['a', 'b', 'c']);
    expect(slots.waiting).toBe(0);
    got.get('c')?.free();
    expect(slots.has('x', 1)).toBe(true);
  });

  test('PIPE-08 a wait of one agent is none of another', async () => {
    const { slots } = full(1);
    void queue(slots, 1).join('a');
    const other = await slots.wait('y', 1, wait);
    expect(slots.waiting).toBe(1);
    other.free();
  });

  test('PIPE-08 a wait ends with E3106 when its time is over, and when too many wait', async () => {
    const { slots, held } = full(1);
    const { join, served } = queue(slots, 1);
    const late = join('late', { ms: 5 });
    await expect(join('more', { waitingMax: 1 })).rejects.toMatchObject({
      code: 'E3106',
      message: expect.stringContaining('1 calls of it wait'),
    });
    await expect(join('more', { allWaitingMax: 1 })).rejects.toMatchObject({ code: 'E3106' });
    await expect(late).rejects.toMatchObject({ code: 'E3106', failure: { details: { waited_ms: 5 } } });
    expect(slots.waiting).toBe(0);
    held[0]?.free();
    await join('next');
    expect(served).toEqual(['next']);
  });

  test('PIPE-06 PIPE-08 whoever cancels leaves the queue at once, and costs those behind nothing', async () => {
    const { slots, held } = full(1);
    const { join, served } = queue(slots, 1);
    const cancel = new AbortController();
    const cancelled = join('a', { signal: cancel.signal });
    void join('b');
    cancel.abort(new ToolLayerError('E3805', 'Cancelled.'));
    expect(slots.waiting).toBe(1);
    await expect(cancelled).rejects.toMatchObject({ code: 'E3805' });
    held[0]?.free();
    await turn();
    expect(served).toEqual(['b']);
  });

  test('PIPE-08 are taken in turns by the queue and by a listener that wants them', async () => {
    const { slots, held } = full(1);
    const { join, served, got } = queue(slots, 1);
    let taken: AgentSlot | undefined;
    using _listening = slots.onFree({
      waiting: () => 0,
      free: (agent) => {
        taken = slots.take(agent, 1);
      },
    });
    void join('a');
    void join('b');
    held[0]?.free();
    expect(taken).toBeDefined();
    taken?.free();
    await turn();
    expect(served).toEqual(['a']);
    got.get('a')?.free();
    await turn();
    expect(served).toEqual(['a']);
    taken?.free();
    await turn();
    expect(served).toEqual(['a', 'b']);
  });

  test('PIPE-08 who waits for a person holds none, and is the first to get one again', async () => {
    const { slots, held } = full(1);
    const { join, served, got } = queue(slots, 1);
    const { promise: answer, resolve: say } = Promise.withResolvers<string>();
    const asking = held[0]?.without(() => answer, never).then((said) => served.push(said));
    await join('a');
    void join('b');
    say('the person');
    await turn();
    expect(served).toEqual(['a']);
    got.get('a')?.free();
    await asking;
    expect(served).toEqual(['a', 'the person']);
    held[0]?.free();
    await turn();
    expect(served).toEqual(['a', 'the person', 'b']);
  });

  test('PIPE-08 a call that ends while it waits for a person, or for the slot after that, keeps none', async () => {
    const { slots, held } = full(1);
    const { promise: answer, resolve: say } = Promise.withResolvers<void>();
    const cancel = new AbortController();
    const other = await (async () => {
      void held[0]?.without(() => answer, cancel.signal).catch(() => {});
      return slots.take('x', 1);
    })();
    say();
    await turn();
    expect(slots.waiting).toBe(1);
    cancel.abort(new Error('cancelled'));
    held[0]?.free();
    expect(slots.waiting).toBe(0);
    other?.free();
    expect([slots.take('x', 1) !== undefined, slots.take('x', 1)]).toEqual([true, undefined]);
  });

  test('PIPE-08 in no order of calls, ends, cancels and questions do more run than may, or does one wait beside a free slot', async () => {
    const step = fc.tuple(fc.constantFrom('join', 'free', 'cancel', 'ask', 'answer'), fc.nat({ max: 7 }));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), async (max, steps) => {
        const slots = new AgentSlots();
        const holding = new Set<AgentSlot>();
        const asking: { slot: AgentSlot; say: () => void }[] = [];
        const cancels: AbortController[] = [];
        for (const [what, at] of steps) {
          const slot = [...holding][at];
          if (what === 'join') {
            const cancel = new AbortController();
            cancels.push(cancel);
            slots.wait('x', max, { ...wait, signal: cancel.signal }).then(
              (taken) => holding.add(taken),
              () => {},
            );
          } else if (what === 'free' && slot !== undefined) {
            holding.delete(slot);
            slot.free();
          } else if (what === 'cancel') cancels[at]?.abort(new Error('cancelled'));
          else if (what === 'ask' && slot !== undefined) {
            holding.delete(slot);
            const { promise, resolve } = Promise.withResolvers<void>();
            asking.push({ slot, say: resolve });
            void slot.without(() => promise, never).then(() => holding.add(slot));
          } else if (what === 'answer') asking.splice(at, 1)[0]?.say();
          await turn();
          expect(holding.size).toBeLessThanOrEqual(max);
          expect(slots.has('x', max)).toBe(holding.size < max);
          if (holding.size < max) expect(slots.waiting).toBe(0);
        }
      }),
      { numRuns: 100 },
    );
  });
});
