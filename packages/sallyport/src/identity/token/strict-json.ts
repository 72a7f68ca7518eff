import { repeatedMemberIn, tooDeepAt } from '@sallyport/std/json/json-text';

/** Levels of arrays and objects in a header or payload; claims need few. */
const DEPTH_MAX = 32;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A JSON object from foreign bytes: valid UTF-8 without a byte order mark, no duplicate member at any level (RFC 7519
 * §4: parsers differ in which one counts), at most 32 levels.
 * @throws Error saying which rule is broken
 */
export function strictObject(bytes: Uint8Array): Record<string, unknown> {
  const text = UTF8.decode(bytes);
  // The depth first: a recursive parser must not get more.
  if (tooDeepAt(text, DEPTH_MAX) >= 0) throw new Error(`more than ${DEPTH_MAX} levels`);
  const value: unknown = JSON.parse(text);
  if (repeatedMemberIn(text, value) !== undefined) throw new Error('a member stands there twice');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not a JSON object');
  return value as Record<string, unknown>;
}
