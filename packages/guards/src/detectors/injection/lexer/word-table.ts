import { FACT_WORDS } from '../text/word-facts.ts';
import { ANCHORS, WORDS } from './sql-words.ts';

/**
 * Factor of a word's hash: a prime beyond the span of ASCII letters and digits, so that no two words of up to four of
 * them collide. A smaller one takes `q4` for `or`.
 */
export const HASH_FACTOR = 131;
/** Eight times as many as there are words, so that most unknown words meet a free slot. */
const SLOTS = 1 << 12;

/** Roles of a word, as bits: SQL knows it. */
export const ROLE_KNOWN = 1;
/** A rule begins at the word. */
export const ROLE_ANCHOR = 2;
/** Position of the first fact, above the roles; facts are bits of FACT. */
export const FACTS_PLACE = 8;

const hashes = new Int32Array(SLOTS);
const kindsOf = new Int32Array(SLOTS);
/** 0 for a free slot. */
const roles = new Int32Array(SLOTS);

for (const [kinds, words] of WORDS) {
  enter(words, kinds, ROLE_KNOWN | ((kinds & ANCHORS) === 0 ? 0 : ROLE_ANCHOR));
}
for (const [bit, words] of FACT_WORDS) enter(words, 0, bit << FACTS_PLACE);

function enter(words: string, kinds: number, role: number): void {
  for (const word of words.split(' ')) {
    const hash = hashOf(word);
    const slot = placeOf(hash);
    hashes[slot] = hash;
    kindsOf[slot] = (kindsOf[slot] ?? 0) | kinds;
    roles[slot] = (roles[slot] ?? 0) | role;
  }
}

/** Slot of the word with this hash, or its free slot. Words with equal hashes would be confused. */
function placeOf(hash: number): number {
  let slot = hash & (SLOTS - 1);
  while (roles[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) & (SLOTS - 1);
  return slot;
}

function hashOf(word: string): number {
  let hash = 0;
  for (let at = 0; at < word.length; at++) hash = (Math.imul(hash, HASH_FACTOR) + word.charCodeAt(at)) | 0;
  return hash;
}

/** Slot of the word with this hash, or -1. The lexer computes the hash while it reads. */
export function slotOf(hash: number): number {
  const slot = placeOf(hash);
  return roles[slot] === 0 ? -1 : slot;
}

/** Slot of a word in lower case, or -1. */
export function slotOfWord(word: string): number {
  return slotOf(hashOf(word));
}

/** Bits of ROLE of the word in a slot, and above them bits of FACT. */
export function roleAt(slot: number): number {
  return roles[slot] ?? 0;
}

/** Bits of IS of the word in a slot. */
export function kindsIn(slot: number): number {
  return kindsOf[slot] ?? 0;
}
