/** An order to leave the instructions whose words are not spelt as words: typing errors on purpose, digits, letters apart. */
export interface MisspeltOrder {
  /** Place in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Words that begin such an order; `override` and `bypass` have an object of their own kind. */
const VERBS: readonly string[] = ['ignore', 'disregard', 'forget', 'bypass', 'override'];
/** What is to be left, and what it is called. */
const BEFORE: readonly string[] = [
  'previous',
  'prior',
  'earlier',
  'preceding',
  'above',
  'existing',
  'system',
  'safety',
];
const OBJECTS: readonly string[] = [
  'instructions',
  'instruction',
  'guidelines',
  'directives',
  'directions',
  'prompts',
  'rules',
  'restrictions',
];
/** Words between verb and object that say nothing. */
const FILLERS: ReadonlySet<string> = new Set(
  'all any the teh your you my our of these those every each given and'.split(' '),
);
/** Words after the verb in which the rest of the order stands. */
const REACH_WORDS = 7;
/** Longest gap between two words, in characters. */
const GAP_MAX = 3;

const WORD = /[a-z0-9@$!|*']+/g;
/** The whole order in one word, as its letters stand when they were apart or without blanks. */
const JOINED =
  /(?:ignore|disregard|forget|bypass|override)(?:all|any|the|of|my|your|these)*(?:previous|prior|above|earlier|preceding|existing|system|safety)[a-z]{0,12}(?:instructions?|guidelines|directives|prompts?|rules|orders|commands)/;
/** Single letters with one sign between them. */
const APART = /(?<![a-z0-9])(?:[a-z0-9@$!|]([ ._*~-]))(?:[a-z0-9@$!|]\1){3,200}[a-z0-9@$!|](?![a-z0-9])/g;

/** First letters of a verb, also as digits and signs that look like them. */
const FIRST = codesOf('i1!|dfbo0');
/** Letters of a word, and the signs that stand for letters in it. */
const LETTERS = codesOf('abcdefghijklmnopqrstuvwxyz0123456789_@$!|*');
/** Signs between letters that stand apart. */
const BETWEEN = codesOf(' ._*~-');
/** Lengths of a misspelt verb. */
const VERB_CHARS_MIN = 5;
const VERB_CHARS_MAX = 11;
/** Length of the shortest order in one word. */
const JOINED_CHARS_MIN = 16;

/**
 * One pass over the letters finds the few words and places that are worth a closer look: most texts have none.
 * @param text in lower case
 */
export function misspeltOrder(text: string): MisspeltOrder | undefined {
  let isJoined = false;
  let isApart = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (BETWEEN[code] === 1) isApart ||= hasLettersApart(text, at, code);
    if (LETTERS[code] !== 1) continue;
    const start = at;
    while (LETTERS[text.charCodeAt(at + 1)] === 1) {
      at += 1;
      if (BETWEEN[text.charCodeAt(at)] === 1) isApart ||= hasLettersApart(text, at, text.charCodeAt(at));
    }
    const chars = at + 1 - start;
    isJoined ||= chars >= JOINED_CHARS_MIN;
    if (FIRST[code] !== 1 || chars < VERB_CHARS_MIN || chars > VERB_CHARS_MAX) continue;
    const end = misspeltFrom(text, start, at + 1);
    if (end !== undefined) return { start, end };
  }
  return (isJoined ? joinedWord(text) : undefined) ?? (isApart ? lettersApart(text) : undefined);
}

function codesOf(letters: string): Uint8Array {
  const codes = new Uint8Array(128);
  for (const letter of letters) codes[letter.charCodeAt(0)] = 1;
  return codes;
}

/** True when the sign at this place stands between four single letters. */
const hasLettersApart = (text: string, at: number, sign: number): boolean =>
  text.charCodeAt(at + 2) === sign && text.charCodeAt(at + 4) === sign && text.charCodeAt(at + 6) === sign;

/** End of the order that begins with the word at this place; undefined when it is none. */
function misspeltFrom(text: string, start: number, end: number): number | undefined {
  const word = text.slice(start, end).replace(/!+$/, '');
  const spelling = nearest(word, VERBS);
  return spelling === undefined ? undefined : endOfOrder(text, start + word.length, spelling.isExact);
}

/** End of an order after its verb; undefined when the words are no such order, or all spelt right. */
function endOfOrder(text: string, from: number, isVerbExact: boolean): number | undefined {
  let exact = isVerbExact;
  let isNamed = false;
  let before = from;
  WORD.lastIndex = from;
  for (let words = 0; words < REACH_WORDS; words += 1) {
    const match = WORD.exec(text);
    if (match === null || match.index - before > GAP_MAX || /[.;:?\n]/.test(text.slice(before, match.index))) return;
    before = WORD.lastIndex;
    const [word] = match;
    const object = nearest(word, OBJECTS);
    if (object !== undefined) {
      exact &&= object.isExact;
      // "ignore the rules" may be about any rules; who misspells it means the model's.
      return !exact && (isNamed || isAbove(text, before)) ? before : undefined;
    }
    const named = nearest(word, BEFORE);
    if (named !== undefined) exact &&= named.isExact;
    if (word === 'teh') exact = false;
    if (named !== undefined || /^y[o0]ur$/.test(word)) isNamed = true;
    else if (!FILLERS.has(word) && !FILLERS.has(plain(word)) && words - 1 > 2) return;
  }
  return undefined;
}

const isAbove = (text: string, at: number): boolean => /^ (?:above|before|so far)\b/.test(text.slice(at, at + 10));

function joinedWord(text: string): MisspeltOrder | undefined {
  const match = JOINED.exec(text);
  return match === null ? undefined : { start: match.index, end: match.index + match[0].length };
}

/** Puts letters together that stand apart, and looks for the order in the whole. */
function lettersApart(text: string): MisspeltOrder | undefined {
  APART.lastIndex = 0;
  const first = APART.exec(text);
  if (first === null) return undefined;
  let end = APART.lastIndex;
  const together = text.replace(APART, (letters, sign: string, at: number) => {
    end = at + letters.length;
    return plain(letters.replaceAll(sign, ''));
  });
  const isOrder = JOINED.test(together.replace(/[^a-z]/g, '').slice(0, 4_096));
  return isOrder ? { start: first.index, end } : undefined;
}

const LEET: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'i',
};
/** A word with letters for the digits and signs that look like them. */
const plain = (word: string): string =>
  /[013457@$!|]/.test(word) ? word.replace(/[013457@$!|]/g, (sign) => LEET[sign] ?? sign) : word;

interface Spelling {
  readonly isExact: boolean;
}

const EXACT: Spelling = { isExact: true };
const NEAR: Spelling = { isExact: false };

/** Whether a word is one of these, or one of them misspelt; undefined for neither. */
function nearest(word: string, wanted: readonly string[]): Spelling | undefined {
  if (wanted.includes(word)) return EXACT;
  if (NOT_MISSPELT.has(word)) return undefined;
  const letters = plain(word);
  return wanted.some((each) => isNear(letters, each)) ? NEAR : undefined;
}

/** Words of their own that are near to one of those. */
const NOT_MISSPELT: ReadonlySet<string> = new Set(
  (
    'ignores ignored ignorer ignoring ignition forgets forgot forged forge former format forest disregards bypassed bypasses overrides ' +
    'overridden overrode overdrive overrise overrides disregarded priori prior system systems rule ruler roles roles tules rulers ' +
    'prompt prompted prompter promps constructions instructors instructor obstructions destructions restriction directive directs ' +
    'direction guideline about abode previously priors precedent exiting exists safely safe ignite ignited'
  ).split(' '),
);
/** From this length on two errors are one too few to be another word. */
const TWO_ERRORS_CHARS = 8;

/** Equal but for an error or two, or for the order of the letters within it. */
function isNear(word: string, wanted: string): boolean {
  const errors = wanted.length >= TWO_ERRORS_CHARS ? 2 : 1;
  if (word === wanted) return true;
  if (Math.abs(word.length - wanted.length) > errors || word[0] !== wanted[0]) return false;
  let common = 0;
  for (let at = 0; at < word.length; at += 1) if (wanted.includes(word[at] as string)) common += 1;
  if (common < wanted.length - errors) return false;
  if (word.length === wanted.length && word.at(-1) === wanted.at(-1) && sorted(word) === sorted(wanted)) return true;
  return distance(word, wanted, errors) <= errors;
}

const sorted = (word: string): string => [...word].sort().join('');

/** Edits from one word to the other, where two neighbours that change places are one (optimal string alignment). */
function distance(one: string, other: string, bound: number): number {
  let twoBefore: number[] = [];
  let before = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = one[i - 1] === other[j - 1] ? 0 : 1;
      let least = Math.min((before[j] as number) + 1, (row[j - 1] as number) + 1, (before[j - 1] as number) + change);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        least = Math.min(least, (twoBefore[j - 2] as number) + 1);
      row.push(least);
    }
    if (Math.min(...row) > bound) return bound + 1;
    [twoBefore, before] = [before, row];
  }
  return before[other.length] as number;
}
