/** A pattern in RE2's syntax, and whether the native engine is equally safe. */
export interface TranslatedPattern {
  readonly re2: string;
  readonly cannotBacktrack: boolean;
  /** Atoms when every repetition is written out, about RE2's instructions. */
  readonly atoms: number;
}

/** RE2 refuses a count above this; larger ones are written as a row of smaller ones. */
const RE2_REPEAT_MAX = 1000;
/** A larger count is refused. */
const REPEAT_MAX = 100_000;
/** Longest fixed row that the native engine may try at every position of a text. */
const FIXED_LENGTH_MAX = 256;

/** `\s` and `\S` within a class; RE2 has those of ASCII only, and no class in a class. */
const SPACE = '\\t\\n\\v\\f\\r \\x{a0}\\x{feff}\\x{2028}\\x{2029}\\p{Zs}';
const NO_SPACE =
  '\\x00-\\x08\\x0e-\\x1f!-\\x9f\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
const ANY = '[^\\n\\r\\x{2028}\\x{2029}]';
const LONG_CATEGORIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Titlecase_Letter: 'Lt',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Other: 'C',
  Control: 'Cc',
};

interface Scan {
  readonly text: string;
  readonly unicode: boolean;
  at: number;
  out: string;
  /** Atoms that may match a varying number of characters. */
  variable: number;
  /** Groups or alternatives were seen, so the native engine might backtrack between them. */
  branches: boolean;
  /** Characters matched after the last varying atom; a backtracking engine tries them at each position. */
  fixedLength: number;
  /** Written-out atoms of each open group, the innermost last. */
  readonly atoms: number[];
}

/**
 * Translates an ECMA-262 pattern, which the native engine has already accepted, atom by atom.
 * @throws SyntaxError for look-around, back-references and repeat counts that a linear engine cannot have
 */
export function translatePattern(text: string, unicode: boolean): TranslatedPattern {
  const scan: Scan = { text, unicode, at: 0, out: '', variable: 0, branches: false, fixedLength: 0, atoms: [] };
  while (scan.at < text.length) step(scan);
  const tries = text.startsWith('^') ? scan.variable : scan.variable + 1;
  const cannotBacktrack = !scan.branches && (tries === 0 || (tries === 1 && scan.fixedLength <= FIXED_LENGTH_MAX));
  return { re2: scan.out, cannotBacktrack, atoms: scan.atoms[0] ?? 0 };
}

function step(scan: Scan): void {
  const char = scan.text[scan.at] ?? '';
  if (char === '(') openGroup(scan);
  else if (char === ')' || char === '|') endBranch(scan, char);
  else if (char === '^' || char === '$') {
    scan.at += 1;
    scan.out += char === '^' ? '\\A' : '\\z';
  } else {
    const atom = atomAt(scan);
    if (atom === '\\b' || atom === '\\B') scan.out += atom;
    else quantify(scan, atom);
  }
}

function endBranch(scan: Scan, char: string): void {
  scan.branches = true;
  scan.at += 1;
  scan.out += char;
  if (char === ')') quantify(scan, undefined);
}

function openGroup(scan: Scan): void {
  const rest = scan.text.slice(scan.at, scan.at + 4);
  if (/^\(\?<?[=!]/.test(rest))
    throw new SyntaxError(`look-around "${rest.slice(0, rest[2] === '<' ? 4 : 3)}" at character ${scan.at}`);
  const name = /^\(\?<[^>]*>/.exec(scan.text.slice(scan.at, scan.at + 128))?.[0];
  if (/^\(\?[a-z-]/.test(rest)) throw new SyntaxError(`inline flags at character ${scan.at}`);
  scan.atoms.push(0);
  scan.at += name?.length ?? (rest.startsWith('(?:') ? 3 : 1);
  scan.out += '(?:';
}

/** Writes an atom (undefined: the group just closed) with the quantifier that follows it. */
function quantify(scan: Scan, atom: string | undefined): void {
  const found = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(scan.text.slice(scan.at, scan.at + 24))?.[0] ?? '';
  scan.at += found.length;
  const [least, most] = countsOf(found);
  if (least > REPEAT_MAX || (most !== Number.POSITIVE_INFINITY && most > REPEAT_MAX))
    throw new SyntaxError(`the repeat count ${found} exceeds ${REPEAT_MAX}`);
  if (least === most) scan.fixedLength += least;
  else {
    scan.variable += 1;
    scan.fixedLength = 0;
  }
  const inner = atom === undefined ? (scan.atoms.pop() ?? 0) : 1;
  const times = Math.max(1, most === Number.POSITIVE_INFINITY ? least : most);
  scan.atoms.push((scan.atoms.pop() ?? 0) + inner * times);
  const large = least > RE2_REPEAT_MAX || (most !== Number.POSITIVE_INFINITY && most > RE2_REPEAT_MAX);
  if (!large) scan.out += `${atom ?? ''}${found}`;
  else if (atom === undefined) throw new SyntaxError(`the repeat count ${found} of a group exceeds ${RE2_REPEAT_MAX}`);
  else scan.out += inRows(atom, least, most);
}

function countsOf(quantifier: string): readonly [number, number] {
  const lazy = quantifier.length > 1 && quantifier.endsWith('?') ? quantifier.slice(0, -1) : quantifier;
  if (lazy === '') return [1, 1];
  if (lazy === '*') return [0, Number.POSITIVE_INFINITY];
  if (lazy === '+') return [1, Number.POSITIVE_INFINITY];
  if (lazy === '?') return [0, 1];
  const [least = '0', most] = lazy.slice(1, -1).split(',');
  if (most === undefined) return [Number(least), Number(least)];
  return [Number(least), most === '' ? Number.POSITIVE_INFINITY : Number(most)];
}

function inRows(atom: string, least: number, most: number): string {
  const row = (count: number, low: (n: number) => number): string => {
    const whole = `${atom}{${low(RE2_REPEAT_MAX)},${RE2_REPEAT_MAX}}`.repeat(Math.floor(count / RE2_REPEAT_MAX));
    const rest = count % RE2_REPEAT_MAX;
    return rest === 0 ? whole : `${whole}${atom}{${low(rest)},${rest}}`;
  };
  const must = row(least, (count) => count);
  return most === Number.POSITIVE_INFINITY ? `${must}${atom}*` : must + row(most - least, () => 0);
}

/** Reads one atom that matches a single character (or a word boundary) and moves past it. */
function atomAt(scan: Scan): string {
  const char = scan.text[scan.at] ?? '';
  if (char === '.') {
    scan.at += 1;
    return ANY;
  }
  if (char === '[') return classAt(scan);
  if (char === '\\') return escapeAt(scan, false);
  const symbol = String.fromCodePoint(scan.text.codePointAt(scan.at) ?? 0);
  scan.at += symbol.length;
  return /[\\^$.*+?()[\]{}|]/.test(symbol) ? `\\${symbol}` : symbol;
}

function classAt(scan: Scan): string {
  const opening = /^\[\^?/.exec(scan.text.slice(scan.at, scan.at + 2))?.[0] ?? '[';
  scan.at += opening.length;
  let inside = '';
  while (scan.at < scan.text.length && scan.text[scan.at] !== ']') {
    const char = scan.text[scan.at] ?? '';
    if (char === '\\') inside += escapeAt(scan, true);
    else {
      scan.at += 1;
      inside += char === '[' ? '\\[' : char;
    }
  }
  scan.at += 1;
  if (inside === '') return opening === '[' ? '[^\\x00-\\x{10FFFF}]' : '[\\x00-\\x{10FFFF}]';
  return `${opening}${inside}]`;
}

function escapeAt(scan: Scan, inClass: boolean): string {
  const rest = scan.text.slice(scan.at, scan.at + 64);
  const take = (length: number, meaning: string): string => {
    scan.at += length;
    return meaning;
  };
  if (/^\\[1-9]/.test(rest) || (!inClass && /^\\k</.test(rest)))
    throw new SyntaxError(`back-reference "${rest.slice(0, 2)}" at character ${scan.at}`);
  const pair = /^\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(rest);
  if (pair !== null) {
    const symbol = String.fromCharCode(Number.parseInt(pair[1] ?? '', 16), Number.parseInt(pair[2] ?? '', 16));
    return take(pair[0].length, symbol);
  }
  const code = /^\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/.exec(rest);
  if (code !== null) return take(code[0].length, `\\x{${code[1] ?? code[2] ?? code[3] ?? ''}}`);
  const control = /^\\c([A-Za-z])/.exec(rest)?.[1];
  if (control !== undefined) return take(3, `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`);
  const property = /^\\([pP])\{(?:(?:sc|Script|gc|General_Category)=)?([A-Za-z_]+)\}/.exec(rest);
  if (property !== null && scan.unicode)
    return take(property[0].length, `\\${property[1]}{${LONG_CATEGORIES[property[2] ?? ''] ?? property[2]}}`);
  const symbol = String.fromCodePoint(scan.text.codePointAt(scan.at + 1) ?? 0x5c);
  return take(1 + symbol.length, simpleEscape(symbol, inClass));
}

function simpleEscape(symbol: string, inClass: boolean): string {
  const spaces = symbol === 's' ? SPACE : symbol === 'S' ? NO_SPACE : undefined;
  if (spaces !== undefined) return inClass ? spaces : `[${spaces}]`;
  if (symbol === '0') return '\\x00';
  if (symbol === 'b' && inClass) return '\\x08';
  if (/[dDwWtnvfrbB]/.test(symbol)) return `\\${symbol}`;
  // Without the `u` flag an escaped letter that means nothing is the letter itself; RE2 would give it a meaning.
  return /[A-Za-z0-9_]/.test(symbol) || symbol > '\x7f' ? symbol : `\\${symbol}`;
}
