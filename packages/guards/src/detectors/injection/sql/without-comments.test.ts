import { describe, expect, test } from 'vitest';
import { readText } from '../text/reading.ts';
import { lex } from './lex.ts';
import type { Tokens } from './tokens.ts';
import { withoutComments } from './without-comments.ts';

const TEXTS: readonly string[] = [
  'id = 1 -- a note\nor 1=1',
  "name = 'it''s' # the \"owner\" of it all\nand x = 2 # two\n-- three\nunion select 1",
  '# first\n\n# second -- with more\nwhere a = b',
  'a -- one two three four\n-- the end',
  'x = 1--',
  "say 'no' # don't ' \n ' or '1'='1",
];

describe('leaving out the comments of a text that was cut', () => {
  test.each(TEXTS)('gives the tokens that the lexer gives without them: %j', (text) => {
    const tokens = lex(readText(text), false, false);
    expect(tokens.hidden.exact).toBe(true);
    const left = shown(withoutComments(tokens));
    expect(left).toEqual(shown(lex(readText(text), false, true)));
  });

  test('is not exact where a comment may go over lines', () => {
    expect(lex(readText('a # b /* c\n d */ e'), false, false).hidden.exact).toBe(false);
  });
});

/** A copy of the tokens, because their buffers are reused. */
function shown({ kinds, slots, starts, ends, anchors, anchorCount, count, ...rest }: Tokens): unknown {
  const { prosePairs, quotes, doubleQuotes } = rest;
  const columns = [kinds, slots, starts, ends].map((each) => [...each.subarray(0, count)]);
  return {
    columns,
    after: kinds[count],
    anchors: [...anchors.subarray(0, anchorCount)],
    prosePairs,
    quotes,
    doubleQuotes,
  };
}
