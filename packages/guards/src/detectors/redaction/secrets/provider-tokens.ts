// Prefixes are recognised by their first two characters, at the start of a word.
import { PART, PARTS } from '../characters.ts';
import { eachMatch } from '../each-match.ts';
import { SIGN } from '../reading.ts';
import type { Family, Scan } from '../scan.ts';
import { isExampleToken } from './placeholder.ts';
import type { ProviderRule } from './providers/provider-rule.ts';
import { PROVIDER_RULES } from './providers/provider-rules.ts';
import { SHAPE_CHARS_MIN, SHAPE_RULES } from './providers/shape-rules.ts';

/** A prefix of secrets, and the patterns of the rest. */
interface Beginning {
  readonly begin: string;
  readonly rests: readonly { readonly rule: ProviderRule; readonly shape: RegExp }[];
}

/** ASCII, so that two characters form a number below 2^14. */
const CODE_BITS = 7;
const ASCII = (1 << CODE_BITS) - 1;
const numberOf = (first: number, second: number): number => (first << CODE_BITS) | second;
/** By the number of their first two characters. */
const BEGINNINGS: readonly (readonly Beginning[] | undefined)[] = beginningsByCharacters();

/** Keys and tokens identified by their form. */
export const providerTokenFamily: Family = {
  kinds: ['api_key', 'token'],
  signs: [SIGN.dense],
  find(scan) {
    const { dense } = scan.reading;
    for (let i = 0; i < dense.length; i += 2) {
      const start = dense[i] as number;
      const end = dense[i + 1] as number;
      findBegun(scan, start, end);
      if (end - start >= SHAPE_CHARS_MIN) findShapes(scan, start, end);
    }
  },
};

/** A secret ends within its piece, because none contains white space. */
function findBegun({ text, reading: { codes }, add }: Scan, from: number, to: number): void {
  let isAfterWord = false;
  for (let at = from; at < to; at += 1) {
    const code = codes[at] as number;
    if (!isAfterWord) {
      for (const { begin, rests } of beginningsAt(code, codes[at + 1] as number)) {
        if (!text.startsWith(begin, at)) continue;
        for (const { rule, shape } of rests) {
          const from = at + begin.length;
          shape.lastIndex = from;
          if (!shape.test(text) || isExampleToken(text.slice(from, shape.lastIndex))) continue;
          add(rule.kind, rule.rule, at, shape.lastIndex);
        }
      }
    }
    isAfterWord = ((PARTS[code] as number) & PART.word) !== 0;
  }
}

const NONE: readonly Beginning[] = [];
const beginningsAt = (first: number, second: number): readonly Beginning[] =>
  first > ASCII || second > ASCII ? NONE : (BEGINNINGS[numberOf(first, second)] ?? NONE);

function findShapes({ text, add }: Scan, start: number, end: number): void {
  const piece = text.slice(start, end);
  for (const { rule, kind, has, shape, charsMin = 0 } of SHAPE_RULES) {
    if (piece.length < charsMin || !piece.includes(has)) continue;
    eachMatch(shape, piece, ({ index, 0: shown }) => {
      if (!isExampleToken(shown)) add(kind, rule, start + index, start + index + shown.length);
    });
  }
}

function beginningsByCharacters(): readonly (readonly Beginning[] | undefined)[] {
  const table: (Beginning[] | undefined)[] = new Array(1 << (2 * CODE_BITS)).fill(undefined);
  for (const begin of new Set(PROVIDER_RULES.flatMap(({ begins }) => begins))) {
    const rests = PROVIDER_RULES.filter(({ begins }) => begins.includes(begin)).map((rule) => ({
      rule,
      shape: new RegExp(rule.rest, 'y'),
    }));
    const number = numberOf(begin.charCodeAt(0), begin.charCodeAt(1));
    table[number] = [...(table[number] ?? []), { begin, rests }];
  }
  return table;
}
