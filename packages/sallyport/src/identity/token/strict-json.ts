/** Levels of arrays and objects in a header or payload; claims need few. */
const DEPTH_MAX = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A JSON object from foreign bytes: valid UTF-8 without a byte order mark, no duplicate member at any level (RFC 7519
 * §4: parsers differ in which one counts), at most 32 levels.
 * @throws Error saying which rule is broken
 */
export function strictObject(bytes: Uint8Array): Record<string, unknown> {
  const text = UTF8.decode(bytes);
  // The depth first: a recursive parser must not get more.
  const fault = structureFault(text);
  if (fault !== undefined) throw new Error(fault);
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not a JSON object');
  return value as Record<string, unknown>;
}

/** Checks brackets, strings and commas alone; the parser decides whether it is JSON. */
function structureFault(text: string): string | undefined {
  /** Names of each open object; undefined for an array. */
  const open: (string[] | undefined)[] = [];
  let names: string[] | undefined;
  let nameNext = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      // Names are compared decoded, not as spelt.
      if (nameNext) names?.push(JSON.parse(text.slice(at, end + 1)) as string);
      nameNext = false;
      at = end;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      nameNext = code === OPEN_OBJECT;
      names = nameNext ? [] : undefined;
      open.push(names);
      if (open.length > DEPTH_MAX) return `more than ${DEPTH_MAX} levels`;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      const closed = open.pop();
      if (closed !== undefined && new Set(closed).size < closed.length) return 'a member stands there twice';
      names = open.at(-1);
      nameNext = false;
    } else if (code === COMMA) nameNext = names !== undefined;
  }
  return undefined;
}

/** Index of the closing quote; where there is none, of no character. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
