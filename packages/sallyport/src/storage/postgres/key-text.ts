const ESCAPED = 'json:';

/**
 * A key as text that a column can hold. PostgreSQL does not support U+0000, nor UTF-8 lone surrogates; both are
 * escaped, never dropped, so that two keys stay two keys.
 */
export function keyText(key: string): string {
  if (!key.includes('\0') && key.isWellFormed() && !key.startsWith(ESCAPED)) return key;
  return ESCAPED + JSON.stringify(key);
}

/** The inverse of `keyText`. */
export function keyOfText(text: string): string {
  return text.startsWith(ESCAPED) ? (JSON.parse(text.slice(ESCAPED.length)) as string) : text;
}

/** Text for people and for search; characters that a column cannot hold become the replacement character. */
export function shownText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
