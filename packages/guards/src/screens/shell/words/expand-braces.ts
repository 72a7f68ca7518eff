import { SHELL_SCREEN_BOUNDS } from '../bounds.ts';

/** Braces in and after braces that are expanded. */
const DEPTH_MAX = 24;

/**
 * The words that braces make of one word, as source text: `{a,b}{1..2}` gives a1 a2 b1 b2. Quotes are respected.
 * @returns undefined when there are too many
 */
export function expandBraces(source: string, depth = 0): string[] | undefined {
  if (depth > DEPTH_MAX) return undefined;
  const open = openingBrace(source);
  if (open === undefined) return [source];
  const { start, end, commas } = open;
  const alternatives = alternativesOf(source.slice(start + 1, end), commas, start + 1);
  if (alternatives === undefined) {
    const rest = expandBraces(source.slice(start + 1), depth + 1);
    return rest?.map((text) => source.slice(0, start + 1) + text);
  }
  const tails = expandBraces(source.slice(end + 1), depth + 1);
  const heads = alternatives.length > SHELL_SCREEN_BOUNDS.fieldsMax ? undefined : allOf(alternatives, depth + 1);
  if (tails === undefined || heads === undefined || heads.length * tails.length > SHELL_SCREEN_BOUNDS.fieldsMax)
    return undefined;
  return heads.flatMap((head) => tails.map((tail) => source.slice(0, start) + head + tail));
}

function allOf(alternatives: readonly string[], depth: number): string[] | undefined {
  const all: string[] = [];
  for (const text of alternatives) {
    const texts = expandBraces(text, depth);
    if (texts === undefined || all.length + texts.length > SHELL_SCREEN_BOUNDS.fieldsMax) return undefined;
    all.push(...texts);
  }
  return all;
}

interface Braces {
  readonly start: number;
  readonly end: number;
  /** Places of commas of this pair. */
  readonly commas: readonly number[];
}

/** The first pair of braces outside quotes and expansions. */
function openingBrace(source: string): Braces | undefined {
  const open: { start: number; commas: number[] }[] = [];
  let found: Braces | undefined;
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at];
    if (character === '\\') at += 1;
    else if (character === "'" || character === '"' || character === '`') at = quoteEnd(source, at);
    else if (character === '$' && (source[at + 1] === '{' || source[at + 1] === '(')) at = nestedEnd(source, at + 1);
    else if (character === '{') open.push({ start: at, commas: [] });
    else if (character === ',') open.at(-1)?.commas.push(at);
    else if (character === '}') {
      const last = open.pop();
      if (last !== undefined) found = { ...last, end: at };
      if (open.length === 0 && found !== undefined) return found;
    }
  }
  return found;
}

function quoteEnd(source: string, open: number): number {
  const quote = source.charAt(open);
  for (let at = open + 1; at < source.length; at += 1) {
    if (source[at] === '\\' && quote !== "'") at += 1;
    else if (source[at] === quote) return at;
  }
  return source.length;
}

function nestedEnd(source: string, open: number): number {
  let depth = 0;
  for (let at = open; at < source.length; at += 1) {
    const character = source[at];
    if (character === '\\') at += 1;
    else if (character === "'" || character === '"') at = quoteEnd(source, at);
    else if (character === '{' || character === '(') depth += 1;
    else if (character === '}' || character === ')') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return source.length;
}

function alternativesOf(body: string, commas: readonly number[], offset: number): string[] | undefined {
  if (commas.length === 0) return rangeOf(body);
  const ends = [...commas.map((at) => at - offset), body.length];
  let start = 0;
  return ends.map((end) => {
    const text = body.slice(start, end);
    start = end + 1;
    return text;
  });
}

const RANGE = /^(?:(-?\d{1,6})\.\.(-?\d{1,6})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d{1,6}))?$/;

function rangeOf(body: string): string[] | undefined {
  const found = RANGE.exec(body);
  if (found === null) return undefined;
  const [, first, last, firstLetter, lastLetter, by] = found;
  const letters = firstLetter !== undefined && lastLetter !== undefined;
  const from = letters ? firstLetter.charCodeAt(0) : Number(first);
  const to = letters ? lastLetter.charCodeAt(0) : Number(last);
  const step = Math.max(1, Math.abs(Number(by ?? 1)));
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  if (count > SHELL_SCREEN_BOUNDS.fieldsMax) return undefined;
  const sign = to >= from ? step : -step;
  return Array.from({ length: count }, (_, index) => {
    const value = from + index * sign;
    return letters ? String.fromCharCode(value) : String(value);
  });
}
