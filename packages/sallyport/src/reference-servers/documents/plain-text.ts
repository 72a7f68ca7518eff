import { CannotDo } from './document-parts.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Byte order marks of the encodings that say what they are. */
const MARKED: readonly (readonly [mark: string, encoding: string])[] = [
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
];

/** @throws CannotDo for bytes that are no text in UTF-8, or in UTF-16 with its mark */
export function plainText(bytes: Uint8Array): string {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString('hex');
  const [, encoding] = MARKED.find(([known]) => known === mark) ?? [];
  const decoder = encoding === undefined ? UTF8 : new TextDecoder(encoding, { fatal: true });
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new CannotDo('The document is no text in UTF-8. Convert it, or say its content_type.');
  }
  if (text.includes('\0'))
    throw new CannotDo('The document holds zero characters, so it is no text. Say its content_type.');
  return text.replaceAll('\r\n', '\n');
}
