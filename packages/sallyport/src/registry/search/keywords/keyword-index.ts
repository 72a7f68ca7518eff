// Hot path: a search over 100 000 tools has a few milliseconds for this part.
import { wordsOf } from './words.ts';

/** A part of a text, how much its words count, and how many words such a part usually has. */
export interface Field {
  readonly text: string;
  readonly weight: number;
  readonly usualWords: number;
}

/** How well each text answers a query by its words. */
export interface KeywordScores {
  /** By slot; 0 where no word of the query occurs. A word that is rare and occurs often adds at most {@link WORD_SCORE_MAX}. */
  readonly scores: Float32Array;
  /** Slots with a score, in no order. */
  readonly hits: Uint32Array;
}

/**
 * BM25 over weighted fields (S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework, 2009, 3.6), with lengths
 * compared to what is usual for a field, so that adding a text changes nothing of the others. Texts are known by slots.
 */
export interface KeywordIndex {
  /** Adds a text. A slot takes one text until it is removed. */
  add(slot: number, fields: readonly Field[]): void;
  /** Forgets a text; its slot stays empty until the index is made anew. */
  remove(slot: number): void;
  /** Share of the slots whose text was removed, 0 to 1; make the index anew when it grows. */
  emptyShare(): number;
  /** @param slots slots in use, from 0: the length of the scores */
  search(query: string, slots: number, allowed?: Uint8Array): KeywordScores;
}

/** Score of one word at most; the sum over the words of a query is not bounded but by their number. */
export const WORD_SCORE_MAX = 2.5;
/** Words of a query that are looked for. */
const QUERY_WORDS_MAX = 128;
/** How soon more occurrences of a word stop to count. */
const SATURATION = WORD_SCORE_MAX - 1;
/** How much the length of a field counts, 0 to 1. */
const LENGTH_SHARE = 0.6;
/** Letters that an unknown word needs to stand for the words that begin with it. */
const PREFIX_LETTERS_MIN = 3;
/** Words that begin like an unknown one and are taken for it. */
const PREFIX_WORDS_MAX = 16;
/** Unknown words of a query that are completed. */
const PREFIXES_MAX = 3;
/** What a completed word counts beside one that is written out. */
const PREFIX_WEIGHT = 0.6;

/**
 * Where a word occurs: each number is a slot and, in its last bits, what the word adds there. One plain array of
 * numbers takes a third of what two typed arrays take, for most words occur once or twice.
 */
type Postings = number[];

/** Bits of what a word adds; the slot takes the 20 above. */
const WEIGHT_BITS = 12;
const WEIGHT_MAX = 2 ** WEIGHT_BITS - 1;
/** Texts in one index; later ones are not found by words. */
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
  /** Ever added. */
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
    // What the word adds for this text, its rarity apart: computed here, once, instead of for every query.
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
    // Beyond the length lies a text that came after the search began.
    if (slot < scores.length) scores[slot] = (scores[slot] as number) + (posting & WEIGHT_MAX) * step;
  }
}

/** 0 to 1: how few texts have the word, on the scale of the logarithm of all, so that large sets score as small ones do. */
function rarity({ texts }: State, count: number): number {
  return Math.log(1 + (texts - count + 0.5) / (count + 0.5)) / Math.log(2 + 2 * texts);
}

/** Each word once. Unknown words stand for known ones that begin with them, for who types a part of a name. */
function wantedWords({ terms }: State, query: string): Map<string, number> {
  const wanted = new Map<string, number>();
  const unknown: string[] = [];
  for (const word of new Set(wordsOf(query).slice(0, QUERY_WORDS_MAX))) {
    if (terms.has(word)) wanted.set(word, 1);
    else if (word.length >= PREFIX_LETTERS_MIN) unknown.push(word);
  }
  // A sentence has words that no tool knows; completing them would only bring chance.
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
