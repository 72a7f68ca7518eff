/** A part of a text. */
export interface ContentPart {
  readonly content: string;
  /** Offset of the next part; undefined for the last part. */
  readonly nextOffset: number | undefined;
}

/** Least share of the wanted length that a part keeps when looking back for a boundary. */
const KEPT_MIN = 0.6;

/**
 * The part of a text from an offset. When it must be cut, it is cut at the end of a block (an empty line, else a line
 * end, else a space), and never within a character.
 * @param bytesMax size as a JSON string in UTF-8, quotes left out
 */
export function cutContent(text: string, offset: number, charsMax: number, bytesMax: number): ContentPart {
  const rest = text.slice(offset);
  let end = Math.min(rest.length, charsMax);
  for (let size = jsonBytes(rest.slice(0, end)); size > bytesMax && end > 0; size = jsonBytes(rest.slice(0, end))) {
    end = Math.max(0, Math.min(end - 1, Math.floor((end * bytesMax) / size)));
  }
  if (end === rest.length) return { content: rest, nextOffset: undefined };
  const at = border(rest, end);
  return { content: rest.slice(0, at).trimEnd(), nextOffset: offset + at };
}

function border(text: string, end: number): number {
  const least = Math.floor(end * KEPT_MIN);
  for (const mark of ['\n\n', '\n', ' ']) {
    const at = text.lastIndexOf(mark, end - mark.length);
    if (at >= least && at > 0) return at + mark.length;
  }
  const isInPair = /[\ud800-\udbff]/.test(text[end - 1] ?? '') && end > 1;
  return isInPair ? end - 1 : Math.max(1, end);
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;
