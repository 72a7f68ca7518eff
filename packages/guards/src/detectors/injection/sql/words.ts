import { WORD_TABLE } from '../lexer/word-table.ts';

export { IS } from '../lexer/sql-words.ts';

const { kinds, slots } = WORD_TABLE;

/** Kinds of the word in a slot, 0 for none. */
export function kindsAt(slot: number): number {
  return slot < 0 ? 0 : (kinds[slot] ?? 0);
}

/** Slot of one word, to compare tokens with. */
export function slotFor(word: string): number {
  const slot = slots.get(word);
  if (slot === undefined) throw new Error(`The table of SQL words lacks ${word}.`);
  return slot;
}
