import { pointerTo } from './json-pointer.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A whole number with this many digits may be more than a double holds: 2^53 has 16. */
const LONG_NUMBER = /(?:^|[[:,\s-])\d{16,}(?![\d.eE])/;
const WHOLE = /^-?\d+$/;

/** Index of the bracket that opens the first level beyond `levels`, or -1. Brackets inside strings do not count. */
export function tooDeepAt(text: string, levels: number): number {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth += 1;
      if (depth > levels) return at;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth -= 1;
  }
  return -1;
}

/**
 * Pointer to a member whose name its object has twice; of the two, JSON.parse keeps the last without a word.
 * @param value what JSON.parse made of the text; bounded in depth
 */
export function repeatedMemberIn(text: string, value: unknown): string | undefined {
  // Fast path: as many names in the text as in the value.
  return namesIn(text) === membersOf(value) ? undefined : repeatedMember(text);
}

/**
 * As JSON.parse, but whole numbers that a double does not hold, such as 9007199254740993, become a bigint.
 * @param text valid JSON, bounded in depth
 * @returns undefined when JSON.parse loses no digit
 */
export function exactJson(text: string): { readonly value: unknown } | undefined {
  if (!LONG_NUMBER.test(text)) return undefined;
  let lost = false;
  const value: unknown = JSON.parse(text, (_name, parsed: unknown, context?: { source?: string }) => {
    const source = context?.source;
    if (typeof parsed !== 'number' || source === undefined || isExact(parsed, source)) return parsed;
    lost = true;
    return BigInt(source);
  });
  return lost ? { value } : undefined;
}

function isExact(number: number, source: string): boolean {
  return (
    Number.isSafeInteger(number) || !Number.isFinite(number) || !WHOLE.test(source) || BigInt(source) === BigInt(number)
  );
}

/** Pointers to the whole numbers that JSON.parse rounds in valid JSON, the first 20; none in JSON of more than 512 levels. */
export function roundedIn(text: string): readonly string[] {
  const exact = boundedExactJson(text);
  return exact === undefined ? [] : bigintsIn(exact.value);
}

/**
 * The same for the results of JSON-RPC answers, each with its id: the text is one message or several, and what is no
 * JSON has none.
 */
export function roundedInAnswers(text: string): readonly (readonly [id: unknown, pointers: readonly string[]])[] {
  let exact: ReturnType<typeof exactJson>;
  try {
    exact = boundedExactJson(text);
  } catch {
    return [];
  }
  if (exact === undefined) return [];
  const messages: unknown[] = Array.isArray(exact.value) ? exact.value : [exact.value];
  return messages.map((message) => {
    const { id, result } = (message ?? {}) as Readonly<Record<string, unknown>>;
    return [id, bigintsIn(result)];
  });
}

const LEVELS_MAX = 512;
const ROUNDED_MAX = 20;

function boundedExactJson(text: string): ReturnType<typeof exactJson> {
  return LONG_NUMBER.test(text) && tooDeepAt(text, LEVELS_MAX) < 0 ? exactJson(text) : undefined;
}

function bigintsIn(value: unknown): readonly string[] {
  const found: string[] = [];
  findBigints(value, '', found);
  return found;
}

function findBigints(value: unknown, pointer: string, found: string[]): void {
  if (found.length >= ROUNDED_MAX) return;
  if (typeof value === 'bigint') found.push(pointer);
  else if (Array.isArray(value))
    for (const [at, item] of value.entries()) findBigints(item, pointerTo(pointer, at), found);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) findBigints(member, pointerTo(pointer, name), found);
  }
}

function namesIn(text: string): number {
  let names = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) names += 1;
  }
  return names;
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) for (const item of value) members += membersOf(item);
  else for (const name in value) members += 1 + membersOf((value as Record<string, unknown>)[name]);
  return members;
}

/** An array or object that is read: its pointer, and the names or the number of its items so far. */
interface Open {
  readonly pointer: string;
  readonly names?: Set<string>;
  items: number;
  /** Pointer to the member or item that is read. */
  inner: string;
}

function repeatedMember(text: string): string | undefined {
  const open: Open[] = [];
  let nameNext = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const holder = open.at(-1);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (nameNext && holder?.names !== undefined) {
        // Names are compared decoded, not as spelt.
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        holder.inner = pointerTo(holder.pointer, name);
        if (holder.names.has(name)) return holder.inner;
        holder.names.add(name);
      }
      nameNext = false;
      at = end;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      const pointer = holder?.inner ?? '';
      nameNext = code === OPEN_OBJECT;
      open.push({ pointer, items: 0, inner: pointerTo(pointer, 0), ...(nameNext ? { names: new Set<string>() } : {}) });
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop();
    else if (code === COMMA && holder !== undefined) {
      nameNext = holder.names !== undefined;
      holder.items += 1;
      if (!nameNext) holder.inner = pointerTo(holder.pointer, holder.items);
    }
  }
  return undefined;
}

/** Index of the quote that closes the string opened at `start`; the text's length when unclosed. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote >= 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote < 0 ? text.length : quote;
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}
