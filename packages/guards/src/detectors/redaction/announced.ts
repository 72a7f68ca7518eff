import type { Scan } from './scan.ts';

/** How far in front of a number the word that tells its meaning may stand, in characters. */
const REACH_CHARS = 40;

/**
 * Whether one of the words stands shortly before this place, or in the name of the field.
 * @param inName what to look for in names, undefined for nothing
 */
export function announced({ text, name }: Scan, at: number, words: RegExp, inName: RegExp | undefined): boolean {
  if (name !== '' && inName?.test(spaced(name)) === true) return true;
  return at > 0 && words.test(text.slice(Math.max(0, at - REACH_CHARS), at));
}

/** Names in the style of programs, as words: `homePhone_number` as `home Phone number`. */
export function spaced(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[^A-Za-z0-9]+/g, ' ');
}

/** Whether the text is nothing but this place: a value by itself, which no field says the meaning of. */
export function isAlone({ text, name }: Scan, start: number, end: number): boolean {
  return name === '' && text.slice(0, start).trim() === '' && text.slice(end).trim() === '';
}
