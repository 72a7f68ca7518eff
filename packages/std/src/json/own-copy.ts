/** Levels that are copied; what is nested deeper is no JSON that anybody takes. */
const LEVELS_MAX = 256;

/**
 * A copy that nobody else can change: of lists and plain objects, each member read once. What stands in several places, or
 * holds itself, does so in the copy. Everything else is as it was: a date, say, and what is nested more than 256 levels deep.
 */
export function ownCopy<T>(value: T): T {
  return copyOf(value, 1, new Map()) as T;
}

/** @param copies by original: without them, an object that holds itself twice would take forever. */
function copyOf(value: unknown, level: number, copies: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null || level > LEVELS_MAX) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    copies.set(value, copy);
    for (const item of value) copy.push(copyOf(item, level + 1, copies));
    return copy;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy: Record<string, unknown> = {};
  copies.set(value, copy);
  for (const name of Object.keys(value)) {
    const member = copyOf((value as Record<string, unknown>)[name], level + 1, copies);
    // A plain assignment would set the prototype.
    if (name === '__proto__')
      Object.defineProperty(copy, name, { value: member, enumerable: true, configurable: true, writable: true });
    else copy[name] = member;
  }
  return copy;
}
