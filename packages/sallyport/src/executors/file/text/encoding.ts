import { isUtf8 } from 'node:buffer';

/** Text encoding of a file. `binary` is not text. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1' | 'binary';

/** Encoding of a file, as detected from its beginning. */
export interface DetectedEncoding {
  readonly encoding: Encoding;
  /** Length of the byte order mark, in bytes. */
  readonly markBytes: number;
}

/** Bytes of a file read to detect its encoding. */
export const HEAD_BYTES = 8192;

/** A UTF-8 character takes up to four bytes; up to three of them may be cut off at the end of a head. */
const CUT_BYTES_MAX = 3;

/**
 * Detects the encoding from the first bytes: a byte order mark, else UTF-8 when valid, else Latin-1; with a zero byte
 * it is binary.
 */
export function detectEncoding(head: Uint8Array): DetectedEncoding {
  const [first, second, third] = head;
  if (first === 0xef && second === 0xbb && third === 0xbf) return { encoding: 'utf-8', markBytes: 3 };
  if (first === 0xff && second === 0xfe) return { encoding: 'utf-16le', markBytes: 2 };
  if (first === 0xfe && second === 0xff) return { encoding: 'utf-16be', markBytes: 2 };
  if (head.includes(0)) return { encoding: 'binary', markBytes: 0 };
  const cutMax = head.length < HEAD_BYTES ? 0 : CUT_BYTES_MAX;
  for (let cut = 0; cut <= cutMax; cut += 1) {
    if (isUtf8(head.subarray(0, head.length - cut))) return { encoding: 'utf-8', markBytes: 0 };
  }
  return { encoding: 'latin1', markBytes: 0 };
}

/** Decodes in pieces: each call returns the text of the complete characters, the last call the rest. */
export function textDecoder({ encoding }: DetectedEncoding): (bytes: Uint8Array, last: boolean) => string {
  if (encoding === 'latin1' || encoding === 'binary') {
    return (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  }
  const decoder = new TextDecoder(encoding);
  return (bytes, last) => decoder.decode(bytes, { stream: !last });
}

/** Encodes a text, with its mark. Characters that the encoding lacks are replaced: compare by decoding. */
export function encodeText(text: string, { encoding, markBytes }: DetectedEncoding): Buffer {
  if (encoding === 'latin1' || encoding === 'binary') return Buffer.from(text, 'latin1');
  const marked = markBytes > 0 ? `\uFEFF${text}` : text;
  if (encoding === 'utf-8') return Buffer.from(marked, 'utf8');
  const bytes = Buffer.from(marked, 'utf16le');
  return encoding === 'utf-16le' ? bytes : bytes.swap16();
}
