import { MiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import { createBindMessages, type Value } from './bind-message.ts';

test('a message says its own length and that of each value, whatever their characters take', () => {
  const bind = createBindMessages();
  for (const text of ['', 'plain', 'é𝄞'.repeat(10_000), '€'.repeat(300_000), 'x'.repeat(2 * MiB), 'short again']) {
    const values: Value[] = [text, null, [text, '{}'], []];
    const messages = bind('name', values);
    const size = messages.readInt32BE(1) + 1;
    expect(messages.subarray(size).toString('latin1')).toBe('E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04');
    const expected = Buffer.concat([
      Buffer.from('B'),
      int32(size - 1),
      Buffer.from('\0name\0\0\x04\0\0\0\0\0\x01\0\x01\0\x04', 'latin1'),
      sized(text),
      int32(-1),
      sizedBytes(Buffer.concat([int32(1, 0, 114, 2, 1), sized(text), sized('{}')])),
      sizedBytes(int32(0, 0, 114)),
      Buffer.from('\0\0'),
    ]);
    expect(messages.subarray(0, size).equals(expected)).toBe(true);
  }
});

const int32 = (...numbers: readonly number[]): Buffer =>
  Buffer.concat(
    numbers.map((each) => {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32BE(each);
      return bytes;
    }),
  );
const sizedBytes = (bytes: Buffer): Buffer => Buffer.concat([int32(bytes.length), bytes]);
const sized = (text: string): Buffer => sizedBytes(Buffer.from(text));
