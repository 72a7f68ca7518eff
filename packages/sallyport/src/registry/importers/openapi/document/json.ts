/** An object of the foreign document. */
export type Node = Readonly<Record<string, unknown>>;

/** The value as an object, or undefined for anything else. */
export function asNode(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : undefined;
}

/** The value as a list; empty for anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a text that is not empty, else undefined. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/**
 * Members of an object without `__proto__`, which our copies could not hold as a plain member. Empty for anything but
 * an object.
 */
export function membersOf(value: unknown): [string, unknown][] {
  const node = asNode(value);
  if (node === undefined) return [];
  const members = Object.entries(node);
  return Object.hasOwn(node, '__proto__') ? members.filter(([key]) => key !== '__proto__') : members;
}
