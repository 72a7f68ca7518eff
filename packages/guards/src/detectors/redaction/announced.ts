import type { Scan } from './scan.ts';

/** How far before a number a word about its meaning may be, in characters. */
const REACH_CHARS = 40;
/** Last characters of a field's name that say what it is; longer names are none of fields. */
const NAME_CHARS_MAX = 128;

/**
 * True when one of the words is shortly before this place, or in the name of the field.
 * @param inName pattern for names, undefined for none
 */
export function announced({ text, name }: Scan, at: number, words: RegExp, inName: RegExp | undefined): boolean {
  if (name !== '' && inName?.test(spaced(name.slice(-NAME_CHARS_MAX))) === true) return true;
  return at > 0 && words.test(text.slice(Math.max(0, at - REACH_CHARS), at));
}

/** Identifiers as words: `homePhone_number` as `home Phone number`. */
export function spaced(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ');
}

/** True when the text is nothing but this place: a bare value, whose field says nothing about it. */
export function isAlone({ text, name }: Scan, start: number, end: number): boolean {
  return name === '' && text.slice(0, start).trim() === '' && text.slice(end).trim() === '';
}
