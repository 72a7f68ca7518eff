import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TEXT_UNITS_MAX } from '../lexer/constants.ts';
import { WORDS } from '../lexer/sql-words.ts';
import { readText } from '../text/reading.ts';
import { ALL_FACTS, FACT, FACT_WORDS } from '../text/word-facts.ts';
import { lex } from './lex.ts';
import { FLAG, KIND, type Tokens } from './tokens.ts';
import { kindsAt, slotFor } from './words.ts';

const NAMES = new Map<number, string>(Object.entries(KIND).map(([name, kind]) => [kind, name]));
const cut = (text: string, plusIsBlank = false): Tokens => lex(readText(text), plusIsBlank, false);
const told = (text: string): number => {
  const reading = readText(text);
  lex(reading, false, false);
  return reading.facts;
};

/** The kind and the text of each token. */
function shown(text: string, plusIsBlank = false): string[] {
  const { kinds, starts, ends, count } = cut(text, plusIsBlank);
  return Array.from({ length: count }, (_, at) => `${NAMES.get(kinds[at] ?? -1)} ${text.slice(starts[at], ends[at])}`);
}

describe('tokens', () => {
  test.each<[string, string[]]>([
    ['', []],
    [' \t\r ', []],
    ["1' or 1=1--", ['number 1', "quote '", 'word or', 'number 1', 'comparison =', 'number 1', 'comment --']],
    ['1DUNION 0x1Fz 1.5e3.', ['number 1D', 'word UNION', 'number 0x1F', 'word z', 'number 1.5e3', 'dot .']],
    ['3or4', ['number 3', 'word or4']],
    ['a$b $c d$', ['word a$b', 'other $', 'word c', 'word d$']],
    ['@@version @x$y @', ['variable @@version', 'variable @x$y', 'variable @']],
    ['a&&b|c||d', ['word a', 'logic &&', 'word b', 'arithmetic |', 'word c', 'logic ||', 'word d']],
    [
      'a<=b => c !x != d ==',
      ['word a', 'comparison <=', 'word b', 'other =>', 'word c', 'arithmetic !', 'word x'].concat([
        'comparison !=',
        'word d',
        'other ==',
      ]),
    ],
    ['a/* b */c /*!50000 union*/', ['word a', 'word c', 'word union']],
    ['a /* b', ['word a', 'openComment /*', 'word b']],
    ['x#y---z', ['word x', 'comment #', 'word y', 'comment ---', 'word z']],
    ["\\' \\n", ["quote '", 'other \\', 'word n']],
    ['é\u00a0‘ür’ – ＯＲ', ['word é', 'quote ‘', 'word ür', 'quote ’', 'comment –', 'word ＯＲ']],
    ['one two three four; five', ['word one', 'word two three four', 'semicolon ;', 'word five']],
    ['a+b', ['word a', 'arithmetic +', 'word b']],
    ['a$b$c or d', ['word a$b$c', 'word or', 'word d']],
    ['a */ b', ['word a', 'arithmetic *', 'arithmetic /', 'word b']],
  ])('%j', (text, tokens) => {
    expect(shown(text)).toEqual(tokens);
  });

  test('words side by side that SQL does not know are prose', () => {
    expect(cut('one two three or four five, six').prosePairs).toBe(3);
    expect(cut('one or two and three').prosePairs).toBe(0);
  });

  test('typographic quotes count as plain ones of their sort', () => {
    expect(cut('“a” ‘b’ ´c')).toMatchObject({ doubleQuotes: 2, quotes: 3 });
  });

  test('a comment may hide something where a value stands before it on its line', () => {
    for (const text of ['1 -- c', "x = 'a' # c", 'a or -- c']) expect(cut(text).lineComments, text).toBe(true);
    for (const text of ['-- c', 'name -- c', 'x = 1\n-- c', '1 - c']) expect(cut(text).lineComments, text).toBe(false);
  });

  test('a plus stands for a blank where it is told so', () => {
    expect(shown('a+or+1', true)).toEqual(['word a', 'word or', 'number 1']);
  });

  test('only a quote that may close a text is odd, and each line begins anew', () => {
    const { flags, count, kinds } = cut("'a' 'b\n' \"");
    const quotes = Array.from({ length: count }, (_, at) => at).filter((at) => kinds[at] === KIND.quote);
    expect(quotes.map((at) => flags[at])).toEqual([FLAG.odd, 0, FLAG.odd, FLAG.odd, FLAG.odd]);
  });

  test('a quote within a word is an apostrophe, unless a splice goes on behind it', () => {
    const flagsOf = (text: string): number[] => [...cut(text).flags.slice(1, 2)];
    expect(flagsOf("don't")).toEqual([FLAG.apostrophe]);
    expect(flagsOf("d'or")).toEqual([FLAG.odd]);
    expect(flagsOf("D'OR x")).toEqual([FLAG.odd]);
    expect(flagsOf("d'orange")).toEqual([FLAG.apostrophe]);
    expect(flagsOf("d'or_")).toEqual([FLAG.apostrophe]);
    expect(flagsOf("d'oré")).toEqual([FLAG.odd]);
  });
});

describe('known words', () => {
  const words = WORDS.flatMap(([, each]) => each.split(' '));

  test('every one is found, in capitals and full-width letters too, and no longer word is taken for it', () => {
    for (const word of words) {
      const wide = word.replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 97 + 0xff41));
      for (const spelled of [word, word.toUpperCase(), wide])
        expect(cut(spelled).slots[0], spelled).toBe(slotFor(word));
      expect(cut(`${word}q`).slots[0], word).toBe(-1);
      expect(cut(`${word}$`).slots[0], word).toBe(-1);
      if (!/^[df]u/.test(word)) expect(cut(`1${word}`).slots[1], word).toBe(slotFor(word));
    }
  });

  test('their kinds are those of all their lists', () => {
    const kindsOf = (word: string): number =>
      WORDS.filter(([, each]) => each.split(' ').includes(word)).reduce((kinds, [kind]) => kinds | kind, 0);
    for (const word of words) expect(kindsAt(slotFor(word)), word).toBe(kindsOf(word));
    expect(() => slotFor('passwd')).toThrow('lacks passwd');
  });

  test('others are told of theirs, which are no words of SQL', () => {
    for (const [bit, each] of FACT_WORDS) {
      for (const word of each.split(' ')) expect(told(`a ${word} b`) & bit, word).toBe(bit);
    }
    expect(told('@cat')).toBe(FACT.shows);
    expect(told('one two')).toBe(0);
    expect(cut('mkfifo').slots[0]).toBe(-1);
    for (const unsure of ['é', 'a$b', '@a$b', '/* cat */']) expect(told(unsure), unsure).toBe(ALL_FACTS);
  });
});

describe('any text', () => {
  const pieces = [
    'or',
    'union',
    ' ',
    "'",
    '"',
    '--',
    '/*',
    '*/',
    '#',
    '\n',
    '1e',
    '0x',
    '@',
    '$',
    '&&',
    'é',
    '’',
    '\\',
    'x',
  ];
  const texts = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary' })), { maxLength: 20 });

  test('its tokens stand in it one behind the other, whatever was read before', () => {
    const listed = ({ count, kinds, slots, starts, ends, anchors, anchorCount }: Tokens): unknown[] => [
      [kinds, slots, starts, ends].map((each) => [...each.slice(0, count)]),
      [...anchors.slice(0, anchorCount)],
    ];
    fc.assert(
      fc.property(texts, texts, (parts, others) => {
        const text = parts.join('');
        const tokens = cut(text);
        const { count, kinds, starts, ends } = tokens;
        const first = listed(tokens);
        for (let at = 0; at < count; at += 1) {
          expect(starts[at]).toBeGreaterThanOrEqual(at === 0 ? 0 : (ends[at - 1] ?? Number.NaN));
          expect(ends[at]).toBeGreaterThan(starts[at] ?? Number.NaN);
        }
        expect([kinds[count], starts[count], ends[count]]).toEqual([KIND.end, text.length, text.length]);
        cut(others.join(''));
        expect(listed(cut(text))).toEqual(first);
      }),
    );
  });

  test.each(['(', 'a ', "'", '#\n', '1 ', 'é$', '/*', '@', '--\n'])('of the greatest length is cut: %j', (piece) => {
    const text = piece.repeat(TEXT_UNITS_MAX / piece.length + 1).slice(0, TEXT_UNITS_MAX);
    const { count, starts, ends } = cut(text);
    expect(count).toBeGreaterThan(0);
    expect([starts[count], ends[count]]).toEqual([TEXT_UNITS_MAX, TEXT_UNITS_MAX]);
    expect(shown('a or 1')).toEqual(['word a', 'word or', 'number 1']);
  });

  test('that is longer is refused', () => {
    expect(() => readText('a'.repeat(TEXT_UNITS_MAX + 1))).toThrow(RangeError);
  });
});
