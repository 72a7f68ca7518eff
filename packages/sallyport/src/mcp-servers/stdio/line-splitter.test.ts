import { expect, test } from 'vitest';
import { createLineSplitter } from './line-splitter.ts';

function collect(lineBytesMax: number, endlessBytesMax = 1_000) {
  const lines: string[] = [];
  const long: { head: string; tail: string; bytes: number }[] = [];
  const endless: number[] = [];
  const splitter = createLineSplitter(lineBytesMax, endlessBytesMax, {
    onLine: (line) => lines.push(line),
    onLongLine: (head, tail, bytes) => long.push({ head, tail, bytes }),
    onEndlessLine: () => endless.push(lines.length),
  });
  return { lines, long, endless, push: (text: string | Buffer) => splitter.push(Buffer.from(text)) };
}

test('lines are the same however the bytes are cut, in the middle of a character too', () => {
  const text = Buffer.from('{"a":"é"}\n\n{"b":"😀"}\nrest');
  for (let size = 1; size <= text.length; size += 1) {
    const seen = collect(100);
    for (let at = 0; at < text.length; at += size) seen.push(text.subarray(at, at + size));
    expect(seen.lines).toEqual(['{"a":"é"}', '{"b":"😀"}']);
  }
});

test('a line at the bound is a line, one byte more is a long line, and the next line is whole again', () => {
  const seen = collect(8);
  seen.push('12345678\n123456789\nnext\n');
  seen.push('1234');
  seen.push('56789');
  seen.push('abc\nlast\n');
  expect(seen.lines).toEqual(['12345678', 'next', 'last']);
  expect(seen.long).toEqual([
    { head: '123456789', tail: '123456789', bytes: 9 },
    { head: '123456789', tail: '123456789abc', bytes: 12 },
  ]);
});

test('a long line keeps only its two ends', () => {
  const seen = collect(1000);
  seen.push(`head${'x'.repeat(5000)}`);
  for (let i = 0; i < 100; i += 1) seen.push('y'.repeat(999));
  seen.push('tail\n');
  expect(seen.long[0]?.head.startsWith('head')).toBe(true);
  expect(seen.long[0]?.tail.endsWith('tail')).toBe(true);
  expect(seen.long[0]?.tail.length).toBe(256);
  expect(seen.long[0]?.bytes).toBe(4 + 5000 + 99_900 + 4);
});

test('a line in many tiny pieces is put together', () => {
  const seen = collect(5000);
  for (let i = 0; i < 3000; i += 1) seen.push('z');
  seen.push('\n');
  expect(seen.lines).toEqual(['z'.repeat(3000)]);
});

test('a line without an end is told once when it passes its bound, and not at the bound', () => {
  const seen = collect(8, 20);
  seen.push('first\n');
  for (let bytes = 0; bytes < 20; bytes += 5) seen.push('12345');
  expect(seen.endless).toEqual([]);
  for (let bytes = 0; bytes < 50; bytes += 5) seen.push('12345');
  expect(seen.endless).toEqual([1]);
});
