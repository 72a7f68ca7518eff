import { isPlaceholder } from './placeholder.ts';

/** Words between points are the way to a value, not the value. */
const PROPERTY = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/;
const GROUPS = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9\s_.-]/];
const LONG_CHARS_MIN = 16;

/** Whether somebody's password may be this: people make them shorter than keys, of any characters; words alone are text. */
export function isPassword(value: string, isQuoted: boolean): boolean {
  if (value.length < 4 || /\s|:\/\//.test(value) || isPlaceholder(value) || PROPERTY.test(value)) return false;
  const groups = GROUPS.filter((group) => group.test(value)).length;
  if (/\d|[^A-Za-z0-9_.:/-]/.test(value)) return groups >= 2;
  return isQuoted && value.length >= LONG_CHARS_MIN && groups >= 2 && looksMixed(value);
}

/** Capital letters as no name of a program has them. */
const looksMixed = (value: string): boolean => /[A-Z]{2,}[a-z]|[a-z][A-Z][A-Z]/.test(value) && !/[_.:/-]/.test(value);
