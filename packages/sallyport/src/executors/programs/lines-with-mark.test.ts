import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesWithMark } from './lines-with-mark.ts';

const MARK = 'mark ';

async function read(chunks: readonly Buffer[], bytesMax = 1000) {
  const taken: (string | undefined)[] = [];
  const take = async (rest: Uint8Array | undefined): Promise<void> => {
    taken.push(rest === undefined ? undefined : Buffer.from(rest).toString());
  };
  const shown: Buffer[] = [];
  for await (const part of linesWithMark(Readable.from(chunks), { mark: MARK, bytesMax, take })) shown.push(part);
  return { taken, shown: Buffer.concat(shown).toString() };
}

test('STA-01.5 the lines with the mark are taken, in their order, and everything else is shown', async () => {
  const text = 'one\nmark 1\n\nma\nmark\nnot mark 2\nmark  3 \nmar';
  expect(await read([Buffer.from(text)])).toEqual({ taken: ['1', ' 3 '], shown: 'one\n\nma\nmark\nnot mark 2\nmar' });
});

test('STA-01.5 a line that its writer did not finish is no checkpoint', async () => {
  expect(await read([Buffer.from('a\nmark {"half":')])).toEqual({ taken: [], shown: 'a\n' });
});

test('STA-01.5 a line is held up to its limit, and what is longer is named but not held', async () => {
  expect((await read([Buffer.from('mark 12345\nmark 123456\nmark 1\n')], 5)).taken).toEqual(['12345', undefined, '1']);
});

test('STA-01.5 one line is taken at a time', async () => {
  let [taking, most, taken] = [0, 0, 0];
  const take = async (): Promise<void> => {
    taking += 1;
    most = Math.max(most, taking);
    await new Promise((resolve) => setImmediate(resolve));
    taking -= 1;
    taken += 1;
  };
  const source = Readable.from([Buffer.from('mark 1\nmark 2\n'), Buffer.from('mark 3\n')]);
  for await (const _part of linesWithMark(source, { mark: MARK, bytesMax: 10, take }));
  expect([most, taken]).toEqual([1, 3]);
});

test('STA-01.5 however the text is cut into chunks, the same is taken and shown', async () => {
  const line = fc.oneof(
    fc.constantFrom('mark 1', 'mark', 'mar', '', 'mark mark 2', ' mark 3', 'm\u00fcark'),
    fc.string({ maxLength: 12 }),
  );
  const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), cuts, async (lines, sizes) => {
      const text = Buffer.from(lines.map((each) => `${each}\n`).join(''));
      const chunks: Buffer[] = [];
      let from = 0;
      for (const size of [...sizes, text.length]) {
        if (from < text.length) chunks.push(text.subarray(from, from + size));
        from += size;
      }
      expect(await read(chunks)).toEqual(await read([text]));
    }),
    { numRuns: 200 },
  );
});
