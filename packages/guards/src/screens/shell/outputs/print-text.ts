import { SHELL_SCREEN_BOUNDS } from '../bounds.ts';

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};
const ESCAPE = /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([0-7]{1,4})|([abeEfnrtv\\"']))/g;

/** Turns backslash escapes into characters, as echo -e and printf do. */
export function readEscapes(text: string): string {
  return text.replace(ESCAPE, (whole, hex, short, long, octal: string | undefined, simple: string | undefined) => {
    const code = hex ?? short ?? long;
    if (code !== undefined) return character(Number.parseInt(String(code), 16), whole);
    if (octal !== undefined) return character(Number.parseInt(octal, 8) & 0xff, whole);
    return SIMPLE[simple ?? ''] ?? whole;
  });
}

function character(code: number, otherwise: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;
}

/** What echo writes. Escapes are read with -e; some shells read them always. */
export function echoText(words: readonly string[]): string {
  let from = 0;
  let newline = true;
  let escapes = false;
  for (; /^-[neE]+$/.test(words[from] ?? ''); from += 1) {
    const option = words[from] ?? '';
    if (option.includes('n')) newline = false;
    if (option.includes('e')) escapes = true;
  }
  const text = words.slice(from).join(' ');
  return (escapes ? readEscapes(text) : text) + (newline ? '\n' : '');
}

const DIRECTIVE = /%(?:%|[-+ 0#]*(\d{0,3})(?:\.(\d{1,3}))?([bqsdiouxXc]))/g;

/** What printf writes; undefined when a directive is not understood. The format is used again while words are left. */
export function formatText(words: readonly string[]): string | undefined {
  const [first = '', ...rest] = words[0] === '--' ? words.slice(1) : words;
  if (first.startsWith('-v')) return '';
  const format = readEscapes(first);
  let at = 0;
  let output = '';
  do {
    const before = at;
    output += format.replace(DIRECTIVE, (whole, _width, precision: string | undefined, kind: string | undefined) =>
      kind === undefined ? '%' : directive(kind, rest[at++] ?? '', precision, whole),
    );
    if (at === before || output.length > SHELL_SCREEN_BOUNDS.textCharactersMax) break;
  } while (at < rest.length);
  return output;
}

function directive(kind: string, word: string, precision: string | undefined, whole: string): string {
  if (kind === 's' || kind === 'q') return precision === undefined ? word : word.slice(0, Number(precision));
  if (kind === 'b') return readEscapes(word);
  if (kind === 'c') return word.charAt(0);
  const number = numberOf(word);
  if (number === undefined) return '';
  const width = Number(/\d+/.exec(whole)?.[0] ?? 0);
  const digits =
    kind === 'o'
      ? number.toString(8)
      : kind === 'x'
        ? number.toString(16)
        : kind === 'X'
          ? number.toString(16).toUpperCase()
          : String(number);
  return digits.padStart(Math.min(width, 64), /%-?0/.test(whole) ? '0' : ' ');
}

/** `'a` is the code of a. */
function numberOf(word: string): number | undefined {
  if (/^['"]./.test(word)) return word.codePointAt(1);
  const number = /^0[0-7]+$/.test(word) ? Number.parseInt(word, 8) : Number(word || '0');
  return Number.isInteger(number) ? number : undefined;
}
