import { expect, it } from 'vitest';
import { GrowingBuffer } from './growing-buffer.ts';

it('API-01 pieces of one byte and of many come out as they went in', () => {
  const held = new GrowingBuffer();
  for (let at = 0; at < 10_000; at += 1) held.add(Buffer.of(at % 251));
  held.add(Buffer.alloc(20_000, 7));
  const bytes = held.bytes();
  expect(held.length).toBe(30_000);
  expect([bytes.length, bytes[0], bytes[9_999], bytes[10_000], bytes[29_999]]).toEqual([30_000, 0, 9_999 % 251, 7, 7]);
});

it('API-01 a piece is copied: what its owner does with it later changes nothing', () => {
  const held = new GrowingBuffer();
  const piece = Buffer.from('abc');
  held.add(piece);
  piece.fill(0);
  expect(held.bytes().toString()).toBe('abc');
});

it('API-01 nothing added is an empty buffer', () => {
  expect(new GrowingBuffer().bytes().length).toBe(0);
});
