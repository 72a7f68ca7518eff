import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serialiseState } from './serialise-state.ts';

const textOf = async (value: unknown): Promise<string> => Buffer.from(await serialiseState(value)).toString();

const LONG = 'text "'.repeat(1000);

/** The value with a long text in each of its lists and objects, so that none of them is small. */
function grown(value: unknown): unknown {
  if (Array.isArray(value)) return [...value.map(grown), LONG];
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries([...Object.entries(value).map(([name, member]) => [name, grown(member)]), ['long', LONG]]);
}

describe('a state is written as JSON', () => {
  test('STA-01 as JSON.stringify writes it, whatever it holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.object({ withDate: true, withNullPrototype: true, withSparseArray: true }), async (value) => {
        for (const state of [value, grown(value)]) expect(await textOf(state)).toBe(JSON.stringify(state));
      }),
    );
    const odd = {
      left: undefined,
      out: () => 1,
      list: [undefined, () => 1, Symbol('s')],
      date: new Date(0),
      number: Object(5),
      text: Object('t'),
      bool: Object(false),
      not: Number.NaN,
      half: '\ud800',
      wrapped: Object(LONG),
      made: { toJSON: (name: string) => ({ name, text: LONG }) },
      none: { toJSON: () => undefined, text: LONG },
      other: { toJSON: 'no function', text: LONG },
    };
    for (const state of [odd, { ...odd, list: [...odd.list, LONG] }])
      expect(await textOf(state)).toBe(JSON.stringify(state));
  });

  test.each([
    ['of many values', { items: Array.from({ length: 50_000 }, (_, at) => ({ at, name: `item ${at}` })) }],
    ['of long texts', { texts: Array.from({ length: 500 }, (_, at) => `${at} ${LONG}`) }],
  ])('a large one %s lets other work run, and is the same', async (_what, large) => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    const text = await textOf(large);
    clearInterval(timer);
    expect(text).toBe(JSON.stringify(large));
    expect(turns).toBeGreaterThan(5);
  });

  test('STA-01.4 one that its tool goes on changing is written as it was when it was given', async () => {
    class Work {
      readonly done = Array.from({ length: 3_000 }, (_, at) => ({ at, text: `item ${at}` }));
      count = this.done.length;
    }
    const work = new Work();
    const before = JSON.stringify(work);
    const writing = textOf(work);
    let isWritten = false;
    void writing.finally(() => {
      isWritten = true;
    });
    for (; !isWritten; await new Promise(setImmediate)) {
      work.done.push({ at: work.count, text: 'more' });
      work.count += 1;
    }
    expect(await writing).toBe(before);
  });

  test('it is nested a thousand levels deep at most, in lists and in objects', async () => {
    for (const around of [(inner: unknown) => [inner], (inner: unknown) => ({ inner })]) {
      let deep: unknown = LONG;
      for (let level = 0; level < 1000; level += 1) deep = around(deep);
      expect(await textOf(deep)).toBe(JSON.stringify(deep));
      await expect(serialiseState(around(deep))).rejects.toThrow('1000 levels');
    }
  });

  test('what JSON cannot hold is refused', async () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    for (const value of [undefined, () => 1, 1n, { big: 1n }, Object(1n), cycle]) {
      await expect(serialiseState(value)).rejects.toThrow(TypeError);
    }
  });
});
