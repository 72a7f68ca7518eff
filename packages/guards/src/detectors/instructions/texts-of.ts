import { pointerTo } from '@sallyport/std/json/json-pointer';

/** Deeper texts are not read. */
const DEPTH_MAX = 256;

/**
 * Every text in a value as parsed from JSON, names of members included, each with a JSON Pointer below `pointer`. A
 * name that many objects share comes once, at its first place.
 */
export function* textsBelow(
  value: unknown,
  pointer: string,
  depth = 0,
  names = new Set<string>(),
): Generator<[pointer: string, text: string]> {
  if (typeof value === 'string') yield [pointer, value];
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return;
  const isList = Array.isArray(value);
  for (const key of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    const place = pointerTo(pointer, key);
    if (!isList && !names.has(key)) {
      names.add(key);
      yield [place, key];
    }
    // A generator for each number and text would cost more than to judge the texts.
    if (typeof member === 'string') yield [place, member];
    else if (typeof member === 'object') yield* textsBelow(member, place, depth + 1, names);
  }
}
