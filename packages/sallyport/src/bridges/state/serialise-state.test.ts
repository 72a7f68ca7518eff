import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serialiseState } from './serialise-state.ts';

const textOf = async (value: unknown): Promise<string> => Buffer.from(await serialiseState(value)).toString();

describe('a state is written as JSON', () => {
  test('STA-01 as JSON.stringify writes it, whatever it holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.object({ withDate: true, withNullPrototype: true, withSparseArray: true }), async (value) => {
        expect(await textOf(value)).toBe(JSON.stringify(value));
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
    };
    expect(await textOf(odd)).toBe(JSON.stringify(odd));
  });

  test('a large one lets other work run, and is the same', async () => {
    const large = { items: Array.from({ length: 50_000 }, (_, at) => ({ at, name: `item ${at}` })) };
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    const text = await textOf(large);
    clearInterval(timer);
    expect(text).toBe(JSON.stringify(large));
    expect(turns).toBeGreaterThan(5);
  });

  test('what JSON cannot hold is refused', async () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    for (const value of [undefined, () => 1, 1n, { big: 1n }, cycle]) {
      await expect(serialiseState(value)).rejects.toThrow(TypeError);
    }
  });
});
