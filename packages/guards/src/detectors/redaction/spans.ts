import type { RedactionKind } from './kinds.ts';
import { readText } from './reading.ts';
import type { Family, Span } from './scan.ts';

const NOTHING: readonly Span[] = [];
/** Shorter texts match nothing: the shortest form is an unspecified address. */
const TEXT_CHARS_MIN = 2;

/** All sensitive parts of a text in order, without overlaps. */
export function spansOf(
  text: string,
  families: readonly Family[],
  kinds: ReadonlySet<RedactionKind>,
  name: string,
): readonly Span[] {
  if (text.length < TEXT_CHARS_MIN) return NOTHING;
  const reading = readText(text);
  let found: Found[] | undefined;
  const add = (kind: RedactionKind, rule: string, start: number, end: number): void => {
    if (!kinds.has(kind) || end <= start) return;
    found ??= [];
    found.push({ kind, rule, start, end, order: found.length });
  };
  const isFound = (from: number, to: number): boolean =>
    found?.some(({ start, end }) => start <= from && to <= end) === true;
  const scan = { text, reading, name, add, isFound };
  for (const family of families) if (mayHold(reading.signs, family)) family.find(scan);
  return found === undefined ? NOTHING : withoutOverlap(found);
}

function mayHold(signs: number, family: Family): boolean {
  for (const set of family.signs) if ((signs & set) === set) return true;
  return false;
}

/** A place with its family's rank: more specific families come first. */
interface Found extends Span {
  readonly order: number;
}

/** Merges overlapping places; the first family determines the kind. */
function withoutOverlap(found: Found[]): readonly Span[] {
  found.sort((a, b) => a.start - b.start);
  const kept: Found[] = [];
  for (const span of found) {
    const last = kept.at(-1);
    if (last === undefined || span.start >= last.end) {
      kept.push(span);
      continue;
    }
    const { kind, rule, order } = span.order < last.order ? span : last;
    kept[kept.length - 1] = { kind, rule, order, start: last.start, end: Math.max(last.end, span.end) };
  }
  return kept.map(({ kind, rule, start, end }) => ({ kind, rule, start, end }));
}

/** The text with each place replaced. */
export function replaceSpans(
  text: string,
  spans: readonly Span[],
  replacement: (kind: RedactionKind) => string,
): string {
  let replaced = '';
  let from = 0;
  for (const { kind, start, end } of spans) {
    replaced += text.slice(from, start) + replacement(kind);
    from = end;
  }
  return replaced + text.slice(from);
}
