/**
 * The stem of an English word, so that "booking" finds "booked": the algorithm of M. F. Porter, An algorithm for suffix
 * stripping, Program 14 (1980), 130–137. Words that are short or hold anything but a to z are their own stem.
 */
export function stemOf(word: string): string {
  if (word.length < 3 || word.length > WORD_CHARACTERS_MAX || !/^[a-z]+$/.test(word)) return word;
  let stem = withoutPlural(word);
  stem = withoutPast(stem);
  if (stem.endsWith('y') && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  stem = replaceLongest(stem, DOUBLE_SUFFIXES, 1);
  stem = replaceLongest(stem, ADJECTIVE_SUFFIXES, 1);
  stem = replaceLongest(stem, LAST_SUFFIXES, 2);
  return tidyEnd(stem);
}

/** Longer runs of letters are no words and stay unchanged. */
const WORD_CHARACTERS_MAX = 40;

type Suffixes = readonly (readonly [suffix: string, replacement: string])[];

/** Step 2 of the paper: a suffix made of two becomes the first of them. Longer ones first. */
const DOUBLE_SUFFIXES: Suffixes = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['entli', 'ent'],
  ['ousli', 'ous'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['alli', 'al'],
  ['ator', 'ate'],
  ['logi', 'log'],
  ['bli', 'ble'],
  ['eli', 'e'],
];

/** Step 3. */
const ADJECTIVE_SUFFIXES: Suffixes = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];

/** Step 4; `ion` goes only after s or t. */
const LAST_SUFFIXES: Suffixes = [
  'ement',
  'ance',
  'ence',
  'able',
  'ible',
  'ment',
  'ant',
  'ent',
  'ion',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
  'al',
  'er',
  'ic',
  'ou',
].map((suffix) => [suffix, ''] as const);

function withoutPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function withoutPast(word: string): string {
  if (word.endsWith('eed')) return measureOf(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const stem = word.endsWith('ed') ? word.slice(0, -2) : word.endsWith('ing') ? word.slice(0, -3) : undefined;
  if (stem === undefined || !hasVowel(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (endsDouble(stem) && !/[lsz]$/.test(stem)) return stem.slice(0, -1);
  return measureOf(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

/** The first matching suffix decides, even when the rest is too short to lose it. */
function replaceLongest(word: string, suffixes: Suffixes, measureLeast: number): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix));
  if (found === undefined) return word;
  const stem = word.slice(0, word.length - found[0].length);
  if (measureOf(stem) < measureLeast) return word;
  return found[0] === 'ion' && !/[st]$/.test(stem) ? word : stem + found[1];
}

/** Step 5: a last e, and one l of two. */
function tidyEnd(word: string): string {
  let stem = word;
  if (stem.endsWith('e')) {
    const before = stem.slice(0, -1);
    const measure = measureOf(before);
    if (measure > 1 || (measure === 1 && !endsShort(before))) stem = before;
  }
  return stem.endsWith('ll') && measureOf(stem) > 1 ? stem.slice(0, -1) : stem;
}

/** `y` is a vowel after a consonant. */
function isVowel(word: string, at: number): boolean {
  const letter = word.charAt(at);
  if (letter !== 'y') return 'aeiou'.includes(letter);
  return at > 0 && !isVowel(word, at - 1);
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (isVowel(word, at)) return true;
  return false;
}

/** How often a consonant follows a vowel: the paper's m. */
function measureOf(word: string): number {
  let measure = 0;
  let afterVowel = false;
  for (let at = 0; at < word.length; at += 1) {
    const vowel = isVowel(word, at);
    if (afterVowel && !vowel) measure += 1;
    afterVowel = vowel;
  }
  return measure;
}

function endsDouble(word: string): boolean {
  const last = word.length - 1;
  return last > 0 && word[last] === word[last - 1] && !isVowel(word, last);
}

/** Consonant, vowel, consonant, the last of them not w, x or y: the paper's *o. */
function endsShort(word: string): boolean {
  const last = word.length - 1;
  return (
    last > 1 && !isVowel(word, last) && isVowel(word, last - 1) && !isVowel(word, last - 2) && !/[wxy]$/.test(word)
  );
}
