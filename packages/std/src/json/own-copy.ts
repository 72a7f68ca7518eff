/** Levels that are copied; what is nested deeper, or holds itself, is no JSON that anybody takes. */
const LEVELS_MAX = 256;

/**
 * A copy that nobody else can change: of lists and plain objects, each member read once. Everything else is as it was: a
 * date, say, and what is nested more than 256 levels deep.
 */
export function ownCopy<T>(value: T): T {
  return copyOf(value, 1) as T;
}

function copyOf(value: unknown, level: number): unknown {
  if (typeof value !== 'object' || value === null || level > LEVELS_MAX) return value;
  if (Array.isArray(value)) return value.map((item) => copyOf(item, level + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = copyOf((value as Record<string, unknown>)[name], level + 1);
    // A plain assignment would set the prototype.
    if (name === '__proto__')
      Object.defineProperty(copy, name, { value: member, enumerable: true, configurable: true, writable: true });
    else copy[name] = member;
  }
  return copy;
}
