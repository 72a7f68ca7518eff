import { MiB } from '@sallyport/std/bytes';

/** Texts outside of the heap: so many texts in the heap would be moved again and again by the garbage collector. */
export interface TextLog {
  /** Stores a text, given in one or two parts. @returns its place */
  add(first: string, rest?: string): number;
  /** The text at a place that `add` returned. */
  at(place: number): string;
  /** Overwrites the text at a place, which must not be read any more. */
  erase(place: number): void;
}

/** Size of a chunk; a longer text gets a chunk of its own. */
const CHUNK_BYTES = MiB;
/** A place is the number of a chunk times this, plus an offset in the chunk. */
const CHUNK_PLACES = 2 ** 32;
const LENGTH_BYTES = 4;
/** The largest number of UTF-8 bytes for one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;

/**
 * An empty log. It only grows: erased texts still take room, so its owner must bound what is added. Texts must be well
 * formed.
 */
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
