import { expect, test } from 'vitest';
import { createFrameReader, encodeFrame, OPCODES } from './frames.ts';

// The examples of RFC 6455 §5.7.
test.each<[string, number[], number, boolean, string]>([
  ['a text', [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f], 1, true, 'Hello'],
  ['a masked text', [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58], 1, true, 'Hello'],
  ['a first piece', [0x01, 0x03, 0x48, 0x65, 0x6c], 1, false, 'Hel'],
  ['a last piece', [0x80, 0x02, 0x6c, 0x6f], 0, true, 'lo'],
  ['a ping', [0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f], 9, true, 'Hello'],
])('%s is read, also byte by byte', (_what, bytes, opcode, isFinal, text) => {
  const expected = [{ opcode, isFinal, payload: Buffer.from(text) }];
  expect(createFrameReader(100).read(Buffer.from(bytes))).toEqual(expected);
  const reader = createFrameReader(100);
  expect(bytes.flatMap((byte) => reader.read(Buffer.of(byte)))).toEqual(expected);
});

test.each([0, 1, 125, 126, 65_535, 65_536])('%i bytes come back as they went', (length) => {
  const payload = Buffer.alloc(length, 7);
  for (const mask of [true, false]) {
    const frame = encodeFrame(OPCODES.binary, payload, mask);
    expect((frame[1] ?? 0) >> 7).toBe(Number(mask));
    expect(createFrameReader(length).read(frame)).toEqual([{ opcode: OPCODES.binary, isFinal: true, payload }]);
  }
});

test('lengths are written as the RFC says', () => {
  expect([...encodeFrame(2, Buffer.alloc(256), false).subarray(0, 4)]).toEqual([0x82, 0x7e, 0x01, 0x00]);
  expect([...encodeFrame(2, Buffer.alloc(65_536), false).subarray(0, 10)]).toEqual([
    0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0,
  ]);
});

test('a frame beyond the bound is refused before its bytes came', () => {
  const reader = createFrameReader(65_535);
  expect(() => reader.read(encodeFrame(2, Buffer.alloc(65_536), false).subarray(0, 10))).toThrow(/larger than 65535/);
});
