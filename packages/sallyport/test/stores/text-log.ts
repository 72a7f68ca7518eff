import { MiB } from '@sallyport/std/bytes';

/** Texts that are kept for good, outside of the heap: the collector would move so many of them about again and again. */
export interface TextLog {
  /** Keeps a text, given in parts. @returns its place */
  add(first: string, rest?: string): number;
  /** The text at a place that `add` gave. */
  at(place: number): string;
  /** Overwrites the text at a place, which is not read any more. */
  erase(place: number): void;
}

/** Texts that do not fit share no chunk. */
const CHUNK_BYTES = MiB;
/** A place is the number of a chunk times this, and an offset in it. */
const CHUNK_PLACES = 2 ** 32;
const LENGTH_BYTES = 4;
/** UTF-8 bytes of one UTF-16 unit at most. */
const UNIT_BYTES_MAX = 3;

/** An empty log. It only grows, what is erased keeps its room; its owner bounds what is added. Texts must be well formed. */
export function createTextLog(): TextLog {
  const chunks: Buffer[] = [];
  let last = Buffer.alloc(0);
  let used = 0;
  const find = (place: number) => {
    const chunk = chunks[Math.floor(place / CHUNK_PLACES)] ?? last;
    const at = place % CHUNK_PLACES;
    const start = at + LENGTH_BYTES;
    return { chunk, start, end: start + chunk.readUInt32LE(at) };
  };
  return {
    add(first, rest = '') {
      const bytesMax = LENGTH_BYTES + (first.length + rest.length) * UNIT_BYTES_MAX;
      if (used + bytesMax > last.length) {
        last = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytesMax));
        chunks.push(last);
        used = 0;
      }
      const place = (chunks.length - 1) * CHUNK_PLACES + used;
      const start = used + LENGTH_BYTES;
      let end = start + last.write(first, start);
      if (rest !== '') end += last.write(rest, end);
      last.writeUInt32LE(end - start, used);
      used = end;
      return place;
    },
    at(place) {
      const { chunk, start, end } = find(place);
      return chunk.toString('utf8', start, end);
    },
    erase(place) {
      const { chunk, start, end } = find(place);
      chunk.fill(0, start, end);
    },
  };
}
