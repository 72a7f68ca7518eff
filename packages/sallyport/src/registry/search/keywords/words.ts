import { stemOf } from './stem.ts';

/** Most words read in one text; further ones do not change its topic. */
export const WORDS_MAX = 4096;
/** Most stems cached; the cache is emptied when full. */
const STEMS_KEPT_MAX = 50_000;
/** Longest word kept: longer ones are encoded contents. */
const WORD_CHARACTERS_MAX = 64;

/** Words that say nothing of what a tool does. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the and or of to in on for with by from at as is are was were be been being it its this that these those ' +
    'i me my we our you your he she they them their what which who whom how when where why can could would should ' +
    'will shall may might do does did have has had not no yes please help need want like some any all there here if ' +
    'then than so but about into over out up down also just more most very'
  ).split(' '),
);

const LETTERS = /[\p{L}\p{N}]+/gu;
/** Scripts without spaces between words; each pair of adjacent characters counts as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;
const HAS_UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Stems of the words of a text in order, with names split into their parts (`createIssue`, `HTTPServer`, `list_files`),
 * without stop words. At most {@link WORDS_MAX}. Empty for a text without letters or digits.
 */
export function wordsOf(text: string): string[] {
  const found: string[] = [];
  for (const [run] of namePartsOf(text).toLowerCase().matchAll(LETTERS)) {
    if (found.length >= WORDS_MAX) break;
    if (HAS_UNSPACED.test(run)) found.push(...unspacedWords(run));
    else if (!STOP_WORDS.has(run)) found.push(keptStem(run.slice(0, WORD_CHARACTERS_MAX)));
  }
  return found.length > WORDS_MAX ? found.slice(0, WORDS_MAX) : found;
}

/** A name as words: `createIssue`, `list_files` and `HTTPServer` become `create Issue`, `list files`, `HTTP Server`. */
export function namePartsOf(text: string): string {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/_+/g, ' ');
}

function unspacedWords(run: string): string[] {
  const words = run.replace(UNSPACED, ' ').split(' ').filter(Boolean).map(keptStem);
  for (const [signs] of run.matchAll(UNSPACED)) {
    const each = [...signs];
    if (each.length === 1) words.push(signs);
    for (let at = 0; at + 1 < each.length; at += 1) words.push(`${each[at]}${each[at + 1]}`);
  }
  return words;
}

const stems = new Map<string, string>();

function keptStem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= STEMS_KEPT_MAX) stems.clear();
  const stem = stemOf(word);
  stems.set(word, stem);
  return stem;
}
