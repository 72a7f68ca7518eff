// Hot path: this part has a few milliseconds in a search over 100 000 tools.
import { wordsOf } from './words.ts';

/** A field of a text: its weight, and its usual number of words. */
export interface Field {
  readonly text: string;
  readonly weight: number;
  readonly usualWords: number;
}

/** How well each text matches a query by its words. */
export interface KeywordScores {
  /** By slot; 0 when no word of the query occurs. A rare and frequent word adds at most {@link WORD_SCORE_MAX}. */
  readonly scores: Float32Array;
  /** Slots with a score, in no order. */
  readonly hits: Uint32Array;
}

/**
 * BM25 over weighted fields (S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework, 2009, 3.6), with lengths
 * relative to a field's usual length, so that adding a text does not affect the others. Texts are identified by slots.
 */
export interface KeywordIndex {
  /** Adds a text. A slot takes one text until it is removed. */
  add(slot: number, fields: readonly Field[]): void;
  /** Removes a text; its slot stays empty until the index is rebuilt. */
  remove(slot: number): void;
  /** Share of slots with a removed text, 0 to 1; rebuild the index when it grows. */
  emptyShare(): number;
  /** @param slots slots in use, from 0: the length of the scores */
  search(query: string, slots: number, allowed?: Uint8Array): KeywordScores;
}

/** Most that one word scores; the sum over a query is limited only by its number of words. */
export const WORD_SCORE_MAX = 2.5;
/** Most words of a query that are searched. */
const QUERY_WORDS_MAX = 128;
/** How soon further occurrences of a word stop counting. */
const SATURATION = WORD_SCORE_MAX - 1;
/** How much the length of a field counts, 0 to 1. */
const LENGTH_SHARE = 0.6;
/** Least letters of an unknown word that is completed as a prefix. */
const PREFIX_LETTERS_MIN = 3;
/** Most words that an unknown prefix is completed to. */
const PREFIX_WORDS_MAX = 16;
/** Most unknown words of a query that are completed. */
const PREFIXES_MAX = 3;
/** Weight of a completed word relative to an exact one. */
const PREFIX_WEIGHT = 0.6;

/**
 * Occurrences of a word: each number is a slot and, in its last bits, the word's score there. One plain array of
 * numbers takes a third of the memory of two typed arrays, because most words occur once or twice.
 */
type Postings = number[];

/** Bits of a word's score; the slot takes the 20 above. */
const WEIGHT_BITS = 12;
const WEIGHT_MAX = 2 ** WEIGHT_BITS - 1;
/** Most texts in one index; later ones are not found by words. */
const TEXTS_MAX = 2 ** 20;

/** An index without texts. */
export function createKeywordIndex(): KeywordIndex {
  const state: State = { terms: new Map(), removed: new Set(), texts: 0 };
  return {
    add: (slot, fields) => add(state, slot, fields),
    remove: (slot) => void state.removed.add(slot),
    emptyShare: () => (state.texts === 0 ? 0 : state.removed.size / state.texts),
    search: (query, slots, allowed) => search(state, query, slots, allowed),
  };
}

interface State {
  readonly terms: Map<string, Postings>;
  readonly removed: Set<number>;
  /** Number of texts ever added. */
  texts: number;
}

function add(state: State, slot: number, fields: readonly Field[]): void {
  if (slot >= TEXTS_MAX) return;
  const weights = new Map<string, number>();
  for (const { text, weight, usualWords } of fields) {
    const words = wordsOf(text);
    const share = weight / (1 - LENGTH_SHARE + (LENGTH_SHARE * words.length) / usualWords);
    for (const word of words) weights.set(word, (weights.get(word) ?? 0) + share);
  }
  for (const [word, weight] of weights) {
    // The word's score for this text without its rarity: computed here once, instead of for every query.
    const score = weight / (weight + SATURATION);
    const posting = slot * 2 ** WEIGHT_BITS + Math.max(1, Math.round(score * WEIGHT_MAX));
    const postings = state.terms.get(word);
    if (postings === undefined) state.terms.set(word, [posting]);
    else postings.push(posting);
  }
  state.texts += 1;
}

function search(state: State, query: string, slots: number, allowed?: Uint8Array): KeywordScores {
  const scores = new Float32Array(slots);
  for (const [word, share] of wantedWords(state, query)) {
    const postings = state.terms.get(word);
    if (postings !== undefined) addScores(scores, postings, share * rarity(state, postings.length));
  }
  for (const slot of state.removed) if (slot < slots) scores[slot] = 0;
  const hits = new Uint32Array(slots);
  let count = 0;
  for (let slot = 0; slot < slots; slot += 1) {
    if (scores[slot] === 0) continue;
    if (allowed === undefined || allowed[slot] === 1) hits[count++] = slot;
    else scores[slot] = 0;
  }
  return { scores, hits: hits.subarray(0, count) };
}

function addScores(scores: Float32Array, postings: Postings, rare: number): void {
  const step = (rare * WORD_SCORE_MAX) / WEIGHT_MAX;
  for (const posting of postings) {
    const slot = posting >>> WEIGHT_BITS;
    // Slots beyond the length belong to texts added after the search began.
    if (slot < scores.length) scores[slot] = (scores[slot] as number) + (posting & WEIGHT_MAX) * step;
  }
}

/** 0 to 1: how few texts contain the word, on a logarithmic scale, so that large sets score like small ones. */
function rarity({ texts }: State, count: number): number {
  return Math.log(1 + (texts - count + 0.5) / (count + 0.5)) / Math.log(2 + 2 * texts);
}

/** Each word once. Unknown words are completed to known ones, for users who type a part of a name. */
function wantedWords({ terms }: State, query: string): Map<string, number> {
  const wanted = new Map<string, number>();
  const unknown: string[] = [];
  for (const word of new Set(wordsOf(query).slice(0, QUERY_WORDS_MAX))) {
    if (terms.has(word)) wanted.set(word, 1);
    else if (word.length >= PREFIX_LETTERS_MIN) unknown.push(word);
  }
  // A sentence contains words that no tool knows; completing them would only add noise.
  if (unknown.length + wanted.size > PREFIXES_MAX) return wanted;
  for (const beginning of unknown) {
    let found = 0;
    for (const term of terms.keys()) {
      if (!term.startsWith(beginning) || wanted.has(term)) continue;
      wanted.set(term, PREFIX_WEIGHT);
      found += 1;
      if (found === PREFIX_WORDS_MAX) break;
    }
  }
  return wanted;
}
