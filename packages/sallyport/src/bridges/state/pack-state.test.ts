import { randomBytes } from 'node:crypto';
import { KiB } from '@sallyport/std/bytes';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packState, unpackState } from './pack-state.ts';

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const listOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ at, name: `item ${(at * 7919) % 10_007}`, done: at % 3 === 0 }));

describe('STA-03 a state is packed and comes back as it was', () => {
  test('STA-03.2 up to 10 KB as it is, above it compressed', async () => {
    const [small, large] = [Buffer.alloc(10 * KiB, 'a'), Buffer.alloc(10 * KiB + 1, 'a')];
    expect(await packState(small)).toMatchObject({ form: 'plain', size: small.length, bytes: small });
    const packed = await packState(large);
    expect(packed).toMatchObject({ form: 'zstd', size: large.length });
    expect(packed.bytes.length).toBeLessThan(100);
    expect(await unpackState(packed)).toEqual(new Uint8Array(large));
  });

  test.each([400, 4_000, 60_000])(
    'STA-03.1 of %i items, where one in a hundred changed, only the change is stored',
    async (count) => {
      const items = listOf(count);
      const parent = bytesOf(items);
      const next = items.map((item, at) => (at % 100 === 0 ? { ...item, done: !item.done } : item));
      const state = bytesOf([{ at: -1, name: 'a new one at the beginning', done: false }, ...next]);
      const packed = await packState(state, parent);
      expect(packed.form).toBe('delta');
      expect(packed.bytes.length).toBeLessThan(state.length * 0.02);
      expect(Buffer.from(await unpackState(packed, parent)).equals(state)).toBe(true);
    },
  );

  test('any sequence of states comes back, each from the one before it', async () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 40_000 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 6 }), async (sequence) => {
        let parent: Uint8Array | undefined;
        for (const parts of sequence) {
          const state = new Uint8Array(Buffer.concat([...(parent === undefined ? [] : [parent]), ...parts]));
          const back = await unpackState(await packState(state, parent), parent);
          expect(Buffer.from(back).equals(state)).toBe(true);
          parent = state;
        }
      }),
      { numRuns: 30 },
    );
  });

  test('one that shrinks, grows past its parent or has nothing in common with it comes back too', async () => {
    const [short, long, other] = [randomBytes(20_000), randomBytes(3_000_000), randomBytes(3_000_000)];
    for (const [parent, state] of [
      [short, long],
      [long, short],
      [long, other],
      [Buffer.alloc(0), long],
    ] as const) {
      const packed = await packState(state, parent);
      expect(Buffer.from(await unpackState(packed, parent)).equals(state)).toBe(true);
    }
  });
});

describe('STA-02.3 a damaged checkpoint is noticed', () => {
  const state = bytesOf(listOf(20_000));
  const parent = bytesOf(listOf(19_990));

  test('a flipped byte, a cut end, a wrong parent, a missing parent and a wrong size are E3703', async () => {
    const packed = await packState(state, parent);
    const flipped = Uint8Array.from(packed.bytes);
    flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] ?? 0) ^ 1;
    const damaged: readonly (() => Promise<Uint8Array>)[] = [
      () => unpackState({ ...packed, bytes: flipped }, parent),
      () => unpackState({ ...packed, bytes: packed.bytes.subarray(0, -3) }, parent),
      () => unpackState({ ...packed, bytes: new Uint8Array() }, parent),
      () => unpackState(packed, bytesOf(listOf(19_991))),
      () => unpackState(packed),
      () => unpackState({ ...packed, size: packed.size + 1 }, parent),
      () => unpackState({ ...packed, sha256: '0'.repeat(64) }, parent),
    ];
    for (const each of damaged) await expect(each()).rejects.toMatchObject({ code: 'E3703' });
  });

  test('a plain one with a changed byte is E3703', async () => {
    const packed = await packState(Buffer.from('{"step":1}'));
    await expect(unpackState({ ...packed, bytes: Buffer.from('{"step":2}') })).rejects.toMatchObject({ code: 'E3703' });
  });
});
