import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import type { Era } from '../../mcp-protocol.ts';

/** A list of MCP, page by page. */
export interface Pages {
  /** JSON text of one page, without the braces: `"tools":[…]` and, when there is another page, `,"nextCursor":…`. */
  page(cursor: string | undefined, era: Era): string;
  /** Equal for equal lists. */
  print(): string;
}

/** An entry, and the name or URI under which it is listed. */
export interface PageEntry {
  readonly key: string;
  view(era: Era): object;
}

/**
 * Sorted by key, so that a cursor (the last key of a page) stays valid while entries come and go. Of two entries with
 * one key the first is listed.
 * @param member of the result that holds the list
 */
export function pagesOf(member: string, entries: readonly PageEntry[], pageSize: number): Pages {
  const byKey = new Map(entries.toReversed().map((entry) => [entry.key, entry]));
  const sorted = [...byKey.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  const texts = textsByEra(sorted);
  const pages = { legacy: new Map<number, string>(), modern: new Map<number, string>() };
  let print: string | undefined;
  return {
    print: () => {
      print ??= sha256([...texts('legacy'), ...texts('modern')].join());
      return print;
    },
    page: (cursor, era) => {
      const start = cursor === undefined ? 0 : startAfter(sorted, cursor);
      const known = pages[era].get(start);
      if (known !== undefined) return known;
      const end = start + pageSize;
      const last = sorted[end - 1];
      const more = last !== undefined && end < sorted.length ? `,"nextCursor":"${cursorOf(last.key)}"` : '';
      const page = `"${member}":[${texts(era).slice(start, end).join(',')}]${more}`;
      // Only cursors that were issued are cached; others must not fill the memory.
      if (start % pageSize === 0) pages[era].set(start, page);
      return page;
    },
  };
}

/** Each entry as JSON text, made per era on first use. */
function textsByEra(entries: readonly PageEntry[]): (era: Era) => readonly string[] {
  const made: Partial<Record<Era, readonly string[]>> = {};
  return (era) => {
    made[era] ??= entries.map((entry) => JSON.stringify(entry.view(era)));
    return made[era];
  };
}

function cursorOf(key: string): string {
  return Buffer.from(key).toString('base64url');
}

function startAfter(sorted: readonly PageEntry[], cursor: string): number {
  const after = Buffer.from(cursor, 'base64url').toString();
  if (cursorOf(after) !== cursor || cursor === '') {
    throw new ToolLayerError('E3801', 'The cursor is not one of this server. List again without a cursor.');
  }
  const index = sorted.findIndex(({ key }) => key > after);
  return index < 0 ? sorted.length : index;
}
