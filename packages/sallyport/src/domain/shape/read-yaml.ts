import { MiB } from '@sallyport/std/bytes';
import { isScalar, LineCounter, type Pair, parseDocument, visit } from 'yaml';

/** Most aliases in one text. The parser looks for the anchor of each among all before it. */
const ALIASES_MAX = 2_000;
/** Longest JSON text of the values, in characters: an alias repeats what its anchor holds. */
const VALUE_CHARS_MAX = 32 * MiB;

/** A fault of a YAML text. */
export interface YamlFault {
  /** One line, without values of the text. */
  readonly message: string;
  /** Line and column from 1, as `3:7`; absent when the fault is that of the whole text. */
  readonly place?: string;
}

/** What a YAML text says. */
export type YamlRead = { readonly value: unknown } | { readonly faults: readonly [YamlFault, ...YamlFault[]] };

/**
 * Reads one document of YAML 1.2, which holds JSON too. The time grows with the length of the text alone: what the parser
 * does for each pair of keys or of aliases is done here, or bounded. Never throws.
 */
export function readYaml(text: string): YamlRead {
  const lines = new LineCounter();
  try {
    // A level below `error` says nothing of a second document.
    const options = { schema: 'core', resolveKnownTags: false, prettyErrors: false, logLevel: 'error' } as const;
    const document = parseDocument(text, { ...options, uniqueKeys: false, lineCounter: lines });
    const at = (message: string, offset: number | undefined): YamlFault => {
      if (offset === undefined) return { message };
      const { line, col } = lines.linePos(offset);
      return { message, place: `${line}:${col}` };
    };
    const faults = document.errors.map((error) => at(wordsOf(error), error.pos[0]));
    let aliases = 0;
    if (faults.length === 0) {
      visit(document, {
        Alias: () => {
          aliases += 1;
        },
        Map(_, { items }) {
          const odd = oddKey(items);
          if (odd !== undefined) faults.push(at(odd.message, odd.offset));
        },
      });
    }
    if (aliases > ALIASES_MAX) faults.push({ message: `There are ${aliases} aliases, more than ${ALIASES_MAX}` });
    const [first, ...others] = faults;
    if (first !== undefined) return { faults: [first, ...others] };
    const value: unknown = document.toJS({ maxAliasCount: -1 });
    const chars = charsOf(value, new Map());
    if (chars <= VALUE_CHARS_MAX) return { value };
    const isCircle = chars === Number.POSITIVE_INFINITY;
    const repeated = `With its aliases the text has ${chars} characters, more than ${VALUE_CHARS_MAX}`;
    return { faults: [{ message: isCircle ? 'An alias leads back to its anchor' : repeated }] };
  } catch (thrown) {
    return { faults: [{ message: wordsOf(thrown as Error) }] };
  }
}

/** What the parser says, in the words of who wrote the text. */
function wordsOf({ message, code }: Error & { readonly code?: string }): string {
  if (code === 'MULTIPLE_DOCS') return 'A second document begins, and only one is read';
  return /call stack/.test(message) ? 'The text is nested too deep' : (message.split('\n', 1)[0] ?? '');
}

/** A fault in words, with its place. */
export const sayFault = ({ message, place }: YamlFault): string =>
  place === undefined ? message : `${message} at line ${place.replace(':', ', column ')}`;

/** A key that stands there twice, or is no plain value. */
function oddKey(items: readonly Pair[]): { readonly message: string; readonly offset: number | undefined } | undefined {
  const seen = new Set<string>();
  for (const { key } of items) {
    if (!isScalar(key)) return { message: 'A key must be a text', offset: undefined };
    const name = String(key.value ?? '');
    if (seen.has(name)) return { message: 'Map keys must be unique', offset: key.range?.[0] };
    seen.add(name);
  }
  return undefined;
}

/** About the length of the JSON text; without an end for a value that holds itself. */
function charsOf(value: unknown, known: Map<object, number>): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  const before = known.get(value);
  if (before !== undefined) return before;
  known.set(value, Number.POSITIVE_INFINITY);
  let chars = 2;
  for (const [key, member] of Object.entries(value)) chars += key.length + 4 + charsOf(member, known);
  known.set(value, chars);
  return chars;
}
