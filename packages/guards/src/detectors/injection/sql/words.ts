import { kindsIn, slotOfWord } from '../lexer/word-table.ts';

export { IS } from '../lexer/sql-words.ts';

/** Kinds of the word in a slot, 0 for none. */
export function kindsAt(slot: number): number {
  return slot < 0 ? 0 : kindsIn(slot);
}

/** Slot of one word, to compare tokens with. */
export function slotFor(word: string): number {
  const slot = slotOfWord(word);
  if (slot < 0) throw new Error(`The table of SQL words lacks ${word}.`);
  return slot;
}
