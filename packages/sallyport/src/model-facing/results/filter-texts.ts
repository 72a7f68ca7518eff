import type { FilterConfidence, FilteredText } from '../output-filter.ts';

/** A result whose texts one filter has seen. */
export interface FilteredTexts {
  readonly result: unknown;
  readonly confidence: FilterConfidence;
  /** Characters of the texts that it did not give back as they were. */
  readonly charactersBefore: number;
  readonly charactersAfter: number;
}

/** Texts deeper than this stay as they are. */
const DEPTH_MAX = 64;

/**
 * Replaces each text of a result that has a line break: names, ids, types and encoded bytes have none.
 * @returns undefined when there is no such text
 */
export async function filterTexts(
  given: unknown,
  filter: (text: string) => FilteredText | Promise<FilteredText>,
): Promise<FilteredTexts | undefined> {
  const seen: FilterConfidence[] = [];
  let charactersBefore = 0;
  let charactersAfter = 0;
  const one = async (text: string): Promise<string> => {
    const made = await filter(text);
    const { confidence } = made;
    if (!CONFIDENCES.has(confidence) || typeof made.text !== 'string') throw new TypeError('no filtered text');
    seen.push(confidence);
    if (confidence === 'fallback') return text;
    charactersBefore += text.length;
    charactersAfter += made.text.length;
    return made.text;
  };
  const each = async (value: unknown, depth: number): Promise<unknown> => {
    if (typeof value === 'string') return value.includes('\n') ? one(value) : value;
    if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return value;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await each(item, depth + 1));
      return items;
    }
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) members.push([name, await each(member, depth + 1)]);
    return Object.fromEntries(members);
  };
  const result = await each(given, 0);
  return seen.length === 0 ? undefined : { result, confidence: together(seen), charactersBefore, charactersAfter };
}

const CONFIDENCES: ReadonlySet<unknown> = new Set<FilterConfidence>(['full', 'partial', 'fallback']);

/** One word for several texts: `full` and `fallback` only where all of them are. */
function together(seen: readonly FilterConfidence[]): FilterConfidence {
  const [first] = seen;
  return first !== undefined && seen.every((each) => each === first) ? first : 'partial';
}
