import { GrowingBuffer } from './growing-buffer.ts';

/**
 * The body of an answer, unless it exceeds a number of bytes.
 * @returns undefined when it does; the rest is not read, and its connection is closed
 * @throws the connection's error
 */
export async function boundedBody(
  { body }: { readonly body: AsyncIterable<Uint8Array> | null },
  bytesMax: number,
): Promise<Buffer | undefined> {
  const held = new GrowingBuffer();
  // Leaving the loop early cancels the stream.
  for await (const part of body ?? []) {
    if (held.length + part.byteLength > bytesMax) return undefined;
    held.add(part);
  }
  return held.bytes();
}
