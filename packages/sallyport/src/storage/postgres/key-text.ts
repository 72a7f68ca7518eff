const ESCAPED = 'json:';

/**
 * Text of a key as a column can hold it. PostgreSQL knows no U+0000 and UTF-8 no lone surrogate; both are escaped, never
 * dropped, so that two keys stay two keys.
 */
export function keyText(key: string): string {
  if (!key.includes('\0') && key.isWellFormed() && !key.startsWith(ESCAPED)) return key;
  return ESCAPED + JSON.stringify(key);
}

/** The key that `keyText` wrote. */
export function keyOfText(text: string): string {
  return text.startsWith(ESCAPED) ? (JSON.parse(text.slice(ESCAPED.length)) as string) : text;
}

/** Text for people and for search, with the replacement character where a column cannot hold what was there. */
export function shownText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
