import { expect, test } from 'vitest';
import { hiddenEscaped, hiddenShown } from './hidden-characters.ts';

test.each([
  ['controls', 'a\u001b[2J\u0085\u009b\u007f\rb', 'a\\u{001b}[2J\\u{0085}\\u{009b}\\u{007f}\\u{000d}b'],
  [
    'direction marks',
    '\u202ea\u202c\u2066b\u2069\u200e\u200f\u061c',
    '\\u{202e}a\\u{202c}\\u{2066}b\\u{2069}\\u{200e}\\u{200f}\\u{061c}',
  ],
  ['zero width', 'a\u200bb\u200cc\u200dd\u2060\ufeff', 'a\\u{200b}b\\u{200c}c\\u{200d}d\\u{2060}\\u{feff}'],
  ['tags and selectors', 'a\u{e0041}\u{e0001}\ufe0f\u{e0100}', 'a\\u{e0041}\\u{e0001}\\u{fe0f}\\u{e0100}'],
  ['tags behind a flag that is none', '\u{1f3f4}\u{e0061}\u{e007f}', '\u{1f3f4}\\u{e0061}\\u{e007f}'],
  ['fillers, line and paragraph ends', '\u3164\u2028\u2029', '\\u{3164}\\u{2028}\\u{2029}'],
  ['halves of pairs', '\ud800', '\\u{d800}'],
])('%s are seen', (_what, text, seen) => {
  expect(hiddenShown(text)).toBe(seen);
  const json = JSON.stringify({ text });
  expect(JSON.parse(hiddenEscaped(json))).toEqual({ text });
  expect(hiddenEscaped(json)).toBe(hiddenShown(hiddenEscaped(json)));
});

test.each([
  ['lines and tabs', 'a\tb\nc\r\n'],
  ['scripts from right to left', 'שָׁלוֹם العالم ۝'],
  ['Persian', 'می\u200cخواهم'],
  ['Hindi and Sinhala', 'क्\u200dष ශ්\u200dරී'],
  ['combining marks', 'e\u0301 ก\u0e33 \u1100\u1161'],
  [
    'emoji sequences',
    '👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ☎\ufe0e 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  ],
  ['variants of ideographs', '葛\u{e0100}城'],
])('%s stay as they are', (_what, text) => expect(hiddenShown(text)).toBe(text));
