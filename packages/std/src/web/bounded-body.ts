import { GrowingBuffer } from './growing-buffer.ts';

/**
 * The body of an answer, when it has no more than so many bytes.
 * @returns undefined when it has more; the rest is not read, and its connection is closed
 * @throws what the connection throws
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
