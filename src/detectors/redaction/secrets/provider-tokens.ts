// Hot path: one expression for all beginnings.
import type { Family, Scan } from '../scan.ts';
import { PROVIDER_RULES, type ProviderRule, SHAPE_RULES } from './provider-rules.ts';

/** Something that secrets begin with, and how those go on. */
interface Beginning {
  readonly text: string;
  readonly rests: readonly { readonly rule: ProviderRule; readonly shape: RegExp }[];
}

const ASCII = 127;
/** By the code of their first character. */
const BEGINNINGS: readonly (readonly Beginning[])[] = beginningsByCharacter();

/** Keys and tokens that their form gives away. */
export const providerTokenFamily: Family = {
  kinds: ['api_key', 'token'],
  mayHold: ({ dense }) => dense.length > 0,
  find(scan) {
    const { dense } = scan.traits;
    for (let i = 0; i < dense.length; i += 2) {
      const start = dense[i] as number;
      const piece = scan.text.slice(start, dense[i + 1]);
      findBegun(scan, piece, start);
      findShapes(scan, piece, start);
    }
  },
};

function findBegun({ add }: Scan, piece: string, offset: number): void {
  let isBehindWord = false;
  for (let i = 0; i < piece.length; i += 1) {
    const code = piece.charCodeAt(i);
    if (!isBehindWord && code <= ASCII) {
      for (const { text, rests } of BEGINNINGS[code] as readonly Beginning[]) {
        if (!piece.startsWith(text, i)) continue;
        for (const { rule, shape } of rests) {
          shape.lastIndex = i + text.length;
          if (shape.test(piece)) add(rule.kind, rule.rule, offset + i, offset + shape.lastIndex);
        }
      }
    }
    isBehindWord = isLetterOrDigit(code);
  }
}

const isLetterOrDigit = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90);

function findShapes({ add }: Scan, piece: string, offset: number): void {
  for (const { rule, kind, has, shape } of SHAPE_RULES) {
    if (!piece.includes(has)) continue;
    for (const match of piece.matchAll(shape)) {
      add(kind, rule, offset + match.index, offset + match.index + match[0].length);
    }
  }
}

function beginningsByCharacter(): readonly (readonly Beginning[])[] {
  const table: Beginning[][] = Array.from({ length: ASCII + 1 }, () => []);
  for (const text of new Set(PROVIDER_RULES.flatMap(({ begins }) => begins))) {
    const rests = PROVIDER_RULES.filter(({ begins }) => begins.includes(text)).map((rule) => ({
      rule,
      shape: new RegExp(rule.rest, 'y'),
    }));
    table[text.charCodeAt(0)]?.push({ text, rests });
  }
  return table;
}
