import { EDGE, type Literal, literalOf } from './tokens.ts';

/** Keys of words and signs; each match of a pattern contains at least one of them. */
export interface Clause {
  readonly keys: readonly number[];
  /** Selectivity of the least selective key. */
  readonly selectivity: number;
}

/** What a part of a pattern requires of a text. */
interface Needs {
  /** All texts that it matches, when they are few; with `EDGE` where it requires the edge of a word. */
  readonly exact?: readonly string[];
  /** True when something unknown may follow its match. */
  readonly isOpen?: boolean;
  /** Every match satisfies each of them. Most selective first. */
  readonly clauses: readonly Clause[];
}

/** A pattern while it is parsed. */
interface Source {
  readonly text: string;
  readonly isUnicode: boolean;
  at: number;
  /** True when the next part begins at the edge of a word. */
  isAtEdge: boolean;
  /** True when the current group ends at the edge of a word. */
  endsAtEdge: boolean;
}

/** Most clauses of one pattern: more add hardly anything. */
const CLAUSES_MAX = 3;
/** Keys of one clause. */
const KEYS_MAX = 512;
/** Most texts that one part is expanded to. */
const EXACT_MAX = 256;
const FEW = 64;
/** Texts of this length are not expanded further, when that takes more than a few of them. */
const LONG_ENOUGH = 5;
/** Members of a class that is written out. */
const CLASS_MAX = 16;
/** References to groups, and letters for controls. */
const NOT_READ = /\\[1-9kc]/;
const BLANKS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v' };

const NOTHING: Needs = { exact: [''], clauses: [] };
const UNKNOWN: Needs = { clauses: [] };

/**
 * Words and signs that every match of a pattern contains: one of each clause. A text that lacks one cannot match.
 * Derived from the pattern itself, so that no rule can forget one.
 * @returns no clause when nothing is certain, or the pattern uses unsupported syntax: the flags `v` and `iu`,
 *   back-references
 */
export function requiredLiterals(pattern: RegExp): readonly Clause[] {
  const { flags, source: text } = pattern;
  if (flags.includes('v') || /i.*u/.test(flags) || NOT_READ.test(text)) return [];
  return clausesOf(alternatives({ text, isUnicode: flags.includes('u'), at: 0, isAtEdge: false, endsAtEdge: false }));
}

function clausesOf({ exact, clauses }: Needs): readonly Clause[] {
  if (exact === undefined) return clauses;
  const clause = clauseOf(exact);
  return clause === undefined ? [] : [clause];
}

function clauseOf(texts: readonly string[]): Clause | undefined {
  const literals = texts.map((each) => literalOf(each.toLowerCase()));
  return literals.includes(undefined) ? undefined : clauseFrom(literals as readonly Literal[]);
}

function clauseFrom(literals: readonly Literal[]): Clause | undefined {
  const keys = [...new Set(literals.map(({ key }) => key))];
  return keys.length > KEYS_MAX
    ? undefined
    : { keys, selectivity: Math.min(...literals.map(({ selectivity }) => selectivity)) };
}

function best(clauses: readonly (Clause | undefined)[]): readonly Clause[] {
  const known = clauses.filter((clause) => clause !== undefined);
  known.sort((one, other) => other.selectivity - one.selectivity || one.keys.length - other.keys.length);
  return known.slice(0, CLAUSES_MAX);
}

function alternatives(source: Source): Needs {
  const { isAtEdge, endsAtEdge } = source;
  const branches = [sequence(source)];
  while (source.text[source.at] === '|') {
    source.at += 1;
    Object.assign(source, { isAtEdge, endsAtEdge });
    branches.push(sequence(source));
  }
  if (branches.length === 1) return branches[0] as Needs;
  if (branches.every(({ exact }) => exact !== undefined)) {
    const exact = [...new Set(branches.flatMap((branch) => branch.exact ?? []))];
    if (exact.length <= EXACT_MAX) return { exact, clauses: [] };
  }
  return { clauses: merged(branches.map(clausesOf)) };
}

/** A match takes one of the branches, and satisfies each clause of that branch. */
function merged(branches: readonly (readonly Clause[])[]): readonly Clause[] {
  if (branches.some(({ length }) => length === 0)) return [];
  const count = Math.max(...branches.map(({ length }) => length));
  const clauses = Array.from({ length: count }, (_, at) => {
    const met = branches.map((each) => (each[at] ?? each[0]) as Clause);
    return clauseFrom(met.flatMap(({ keys, selectivity }) => keys.map((key) => ({ key, selectivity }))));
  });
  return best(clauses);
}

function sequence(source: Source): Needs {
  const clauses: (Clause | undefined)[] = [];
  const { endsAtEdge } = source;
  let run: readonly string[] = [source.isAtEdge ? EDGE : ''];
  let isWhole = true;
  /** Ends a run of adjacent texts; something unknown, or too much, follows. */
  const end = (next: readonly string[]): void => {
    isWhole = false;
    clauses.push(clauseOf(next.every((each) => BEGINS_AT_EDGE.test(each)) ? atEdge(run) : run));
    run = next;
  };
  while (source.at < source.text.length && source.text[source.at] !== '|' && source.text[source.at] !== ')') {
    source.isAtEdge = areAtEdge(run);
    source.endsAtEdge = endsAtEdge;
    const { exact, isOpen, clauses: inside } = repeated(source, atom(source));
    if (exact === undefined) {
      end(['']);
      clauses.push(...inside);
      continue;
    }
    if (isWorth(run, exact)) run = run.flatMap((one) => exact.map((other) => one + other));
    else end(areAtEdge(run) ? exact.map((each) => EDGE + each) : exact);
    // A repetition ends like its first round.
    if (isOpen === true) end([areAtEdge(exact) ? EDGE : '']);
  }
  if (endsAtEdge) run = atEdge(run);
  if (isWhole) return { exact: run, clauses: [] };
  return { clauses: best([...clauses, clauseOf(run)]) };
}

const BEGINS_AT_EDGE = /^[^a-z\d_]/i;
const ENDS_AT_EDGE = /[^a-z\d_]$/i;
const areAtEdge = (texts: readonly string[]): boolean => texts.every((each) => ENDS_AT_EDGE.test(each));
const atEdge = (texts: readonly string[]): readonly string[] => texts.map((each) => each + EDGE);

function isWorth(run: readonly string[], next: readonly string[]): boolean {
  if (next.length === 1) return true;
  const count = run.length * next.length;
  return count <= FEW || (count <= EXACT_MAX && run.some(({ length }) => length < LONG_ENOUGH));
}

const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;

function repeated(source: Source, part: Needs): Needs {
  QUANTIFIER.lastIndex = source.at;
  const found = QUANTIFIER.exec(source.text);
  if (found === null) return part;
  source.at = QUANTIFIER.lastIndex;
  const [, sign, least = '', comma, most = ''] = found;
  if (sign === '+') return { ...part, isOpen: true };
  if (sign === undefined && Number(least) > 0) {
    const isOnce = Number(least) === 1 && comma === '';
    return isOnce ? part : { ...part, isOpen: true };
  }
  const isOnceAtMost = sign === '?' || (sign === undefined && Number(most) === 1);
  return isOnceAtMost && part.exact !== undefined ? { exact: ['', ...part.exact], clauses: [] } : UNKNOWN;
}

/** Characters that stand for themselves; the last one before a quantifier is separate. */
const PLAIN = /[^\\^$.*+?()[\]{}|\ud800-\udfff]+(?![*+?{])/y;

function atom(source: Source): Needs {
  PLAIN.lastIndex = source.at;
  const plain = PLAIN.exec(source.text)?.[0];
  if (plain !== undefined) {
    source.at += plain.length;
    return only(plain);
  }
  const character = source.text[source.at] as string;
  source.at += 1;
  switch (character) {
    case '(':
      return group(source);
    case '[':
      return characterClass(source);
    case '\\':
      return escaped(source);
    case '.':
      return UNKNOWN;
    case '^':
    case '$':
      return only(EDGE);
    default:
      return only(withLowSurrogate(source, character));
  }
}

const only = (text: string): Needs => ({ exact: [text], clauses: [] });

/** A pair of surrogates is one character where the pattern is read so; a quantifier then means both. */
function withLowSurrogate(source: Source, character: string): string {
  const next = source.text[source.at] ?? '';
  if (!source.isUnicode || !/[\ud800-\udbff]/.test(character) || !/[\udc00-\udfff]/.test(next)) return character;
  source.at += 1;
  return character + next;
}

const LOOK = /\?<?[=!]/y;
const HEAD = /\?(?::|<\w+>)/y;

function group(source: Source): Needs {
  LOOK.lastIndex = HEAD.lastIndex = source.at;
  const isLook = LOOK.test(source.text);
  if (isLook) source.at = LOOK.lastIndex;
  else if (HEAD.test(source.text)) source.at = HEAD.lastIndex;
  source.endsAtEdge = !isLook && endsAtEdge(source);
  const inside = alternatives(source);
  source.at += 1;
  // A look-around is not part of the match.
  return isLook ? NOTHING : inside;
}

/** True when the edge of a word, a blank or a sign directly follows the group that begins here. */
function endsAtEdge({ text, at, endsAtEdge: isOuterAtEdge }: Source): boolean {
  const { end } = groupFrom(text, at);
  return beginsAtEdge(text, end) || (isOuterAtEdge && /[)|]/.test(text[end] ?? ''));
}

const EDGE_NEXT = /(?:\\b|(?:\(\?=)?(?:\\s|[ ,:;!]|\[[ ,.:;!()"'<>/]+\])(?![*?{]))/y;

function beginsAtEdge(text: string, at: number): boolean {
  EDGE_NEXT.lastIndex = at;
  if (EDGE_NEXT.test(text)) return true;
  if (!text.startsWith('(?:', at)) return false;
  const { starts, end } = groupFrom(text, at + '(?:'.length);
  return !/[*?{]/.test(text[end] ?? '') && starts.every((start) => beginsAtEdge(text, start));
}

/** Starts of a group's branches, and its end; from its first branch on. */
function groupFrom(text: string, at: number): { readonly starts: readonly number[]; readonly end: number } {
  const starts = [at];
  let depth = 0;
  let end = at;
  for (; end < text.length && depth >= 0; end += 1) {
    if (text[end] === '\\') end += 1;
    else if (text[end] === '[') while (text[end] !== ']') end += text[end] === '\\' ? 2 : 1;
    else if (text[end] === '(') depth += 1;
    else if (text[end] === ')') depth -= 1;
    else if (text[end] === '|' && depth === 0) starts.push(end + 1);
  }
  return { starts, end };
}

function characterClass(source: Source): Needs {
  const from = source.at;
  let at = from;
  while (source.text[at] !== ']') at += source.text[at] === '\\' ? 2 : 1;
  source.at = at + 1;
  const given = source.text.slice(from, at);
  const inside = given.replace(/\\(\W)/g, '$1');
  const isListed = /^[^^\ud800-\udfff][^\ud800-\udfff]*$/.test(given) && !/\\\w|[^\\]-./s.test(given);
  return isListed && inside.length <= CLASS_MAX ? { exact: [...inside], clauses: [] } : UNKNOWN;
}

const CODE = /x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\}/iy;

function escaped(source: Source): Needs {
  const character = source.text[source.at] as string;
  CODE.lastIndex = source.at;
  const code = CODE.exec(source.text);
  if (code !== null && (code[3] === undefined || source.isUnicode)) {
    source.at = CODE.lastIndex;
    return only(String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16)));
  }
  source.at += 1;
  if (character === 'b') return only(EDGE);
  if (character === 'B') return NOTHING;
  if (character === 'p' || character === 'P') {
    if (source.isUnicode) source.at = source.text.indexOf('}', source.at) + 1;
    return UNKNOWN;
  }
  if (character === 's') return only(' ');
  return /[dDwWS\d]/.test(character) ? UNKNOWN : only(BLANKS[character] ?? character);
}
