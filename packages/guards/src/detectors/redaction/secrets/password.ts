import { isPlaceholder } from './placeholder.ts';

/** Words joined by dots are a property path, not a value. */
const PROPERTY = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*|\[\w{1,20}\]?)+$/;
const GROUPS = [/[a-z]/, /[A-Z]/, /\d/, /[^\p{L}\p{M}0-9\s_.-]/u];
const LONG_CHARS_MIN = 16;

/** True when this may be a person's password: shorter than keys, with any characters; plain words are text. */
export function isPassword(value: string, isQuoted: boolean): boolean {
  if (value.length < 4 || /\s|:\/\//.test(value) || isPlaceholder(value) || PROPERTY.test(value)) return false;
  const groups = GROUPS.filter((group) => group.test(value)).length;
  if (/\d|[^\p{L}\p{M}0-9_.:/-]/u.test(value)) return groups >= 2;
  return isQuoted && value.length >= LONG_CHARS_MIN && groups >= 2 && looksMixed(value);
}

/** Capital letters in a pattern that program names do not have. */
const looksMixed = (value: string): boolean => /[A-Z]{2,}[a-z]|[a-z][A-Z][A-Z]/.test(value) && !/[_.:/-]/.test(value);
