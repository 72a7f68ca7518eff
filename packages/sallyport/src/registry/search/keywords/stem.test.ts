import { expect, test } from 'vitest';
import { stemOf } from './stem.ts';

// Pairs from the paper on the algorithm, and words from tool descriptions.
test.each([
  ['caresses', 'caress'],
  ['ponies', 'poni'],
  ['cats', 'cat'],
  ['feed', 'feed'],
  ['agreed', 'agre'],
  ['plastered', 'plaster'],
  ['motoring', 'motor'],
  ['sing', 'sing'],
  ['conflated', 'conflat'],
  ['troubled', 'troubl'],
  ['sized', 'size'],
  ['hopping', 'hop'],
  ['falling', 'fall'],
  ['hissing', 'hiss'],
  ['failing', 'fail'],
  ['filing', 'file'],
  ['happy', 'happi'],
  ['sky', 'sky'],
  ['relational', 'relat'],
  ['conditional', 'condit'],
  ['vietnamization', 'vietnam'],
  ['triplicate', 'triplic'],
  ['hopefulness', 'hope'],
  ['goodness', 'good'],
  ['revival', 'reviv'],
  ['allowance', 'allow'],
  ['adjustment', 'adjust'],
  ['adoption', 'adopt'],
  ['probate', 'probat'],
  ['rate', 'rate'],
  ['cease', 'ceas'],
  ['controlling', 'control'],
  ['roll', 'roll'],
  ['translating', 'translat'],
  ['translation', 'translat'],
])('%s has the stem %s', (word, stem) => expect(stemOf(word)).toBe(stem));

test('what is no English word is its own stem', () => {
  for (const word of ['', 'is', 'naïve', '2fa', '天気', 'x'.repeat(100)]) expect(stemOf(word)).toBe(word);
});
