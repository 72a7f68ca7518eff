import { TOLD_WORDS } from '../text/told-words.ts';
import {
  GROUP_SHIFT,
  GROUPS,
  HASH_FACTOR,
  ROLE_ANCHOR,
  ROLE_CONTINUES,
  ROLE_KNOWN,
  SLOT_SHIFT,
  SLOTS,
  SPREAD,
  TELLS_PLACE,
} from './constants.ts';
import { ANCHORS, CONTINUING, WORDS } from './sql-words.ts';

/**
 * The known words, each in a slot of its own, so that one comparison of hashes says whether a word is known. Words whose
 * hashes begin alike are a group; the displacement of a group is the first number that moves all its words to free slots
 * (Fox, Chen, Heath: A faster algorithm for constructing minimal perfect hash functions, 1992).
 */
export interface WordTable {
  /** By group. */
  readonly displacements: Int32Array;
  /** By slot, as those below. */
  readonly hashes: Int32Array;
  /** Bits of IS. */
  readonly kinds: Int32Array;
  /** Bits of ROLE, and above them bits of TOLD. */
  readonly roles: Int32Array;
  readonly slots: ReadonlyMap<string, number>;
}

/** What is known of one word. */
interface Entry {
  kinds: number;
  roles: number;
}

export const WORD_TABLE: WordTable = buildTable(entries());

function entries(): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>();
  const enter = (words: string, kinds: number, roles: number): void => {
    for (const word of words.split(' ')) {
      const before = found.get(word) ?? { kinds: 0, roles: 0 };
      found.set(word, { kinds: before.kinds | kinds, roles: before.roles | roles });
    }
  };
  for (const [kinds, words] of WORDS) {
    enter(words, kinds, ROLE_KNOWN | ((kinds & ANCHORS) === 0 ? 0 : ROLE_ANCHOR));
  }
  for (const [bit, words] of TOLD_WORDS) enter(words, 0, bit << TELLS_PLACE);
  enter(CONTINUING, 0, ROLE_CONTINUES);
  return found;
}

function buildTable(words: ReadonlyMap<string, Entry>): WordTable {
  const table = {
    displacements: new Int32Array(GROUPS),
    hashes: new Int32Array(SLOTS),
    kinds: new Int32Array(SLOTS),
    roles: new Int32Array(SLOTS),
    slots: new Map<string, number>(),
  };
  const groups = Map.groupBy(words.keys(), (word) => groupOf(hashOf(word)));
  // The largest first, while there is room.
  for (const [group, members] of [...groups].sort(([, one], [, other]) => other.length - one.length)) {
    const displacement = displacementFor(members.map(hashOf), table.roles);
    table.displacements[group] = displacement;
    for (const word of members) {
      const slot = slotOf(hashOf(word), displacement);
      table.hashes[slot] = hashOf(word);
      table.kinds[slot] = words.get(word)?.kinds ?? 0;
      table.roles[slot] = words.get(word)?.roles ?? 0;
      table.slots.set(word, slot);
    }
  }
  return table;
}

function displacementFor(hashes: readonly number[], roles: Int32Array): number {
  for (let displacement = 0; displacement < SLOTS; displacement++) {
    const slots = new Set(hashes.map((hash) => slotOf(hash, displacement)));
    if (slots.size === hashes.length && [...slots].every((slot) => roles[slot] === 0)) return displacement;
  }
  throw new Error('The table of words has no room: it takes more slots.');
}

function groupOf(hash: number): number {
  return Math.imul(hash, SPREAD) >>> GROUP_SHIFT;
}

function slotOf(hash: number, displacement: number): number {
  return ((Math.imul(hash, SPREAD) >>> SLOT_SHIFT) ^ displacement) & (SLOTS - 1);
}

/** Hash of a word in lower case; the lexer computes the same while it reads. */
function hashOf(word: string): number {
  let hash = 0;
  for (let at = 0; at < word.length; at++) hash = (Math.imul(hash, HASH_FACTOR) + word.charCodeAt(at)) | 0;
  return hash;
}
