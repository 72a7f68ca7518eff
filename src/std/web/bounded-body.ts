/**
 * The body of an answer, when it has no more than so many bytes.
 * @returns undefined when it has more; the rest is not read, and its connection is closed
 * @throws what the connection throws
 */
export async function boundedBody({ body }: Pick<Response, 'body'>, bytesMax: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream.
  for await (const part of body ?? []) {
    bytes += part.byteLength;
    if (bytes > bytesMax) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts, bytes);
}
