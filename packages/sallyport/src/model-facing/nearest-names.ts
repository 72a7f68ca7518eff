/** Most names compared; a tenant may have any number of tools. */
const COMPARED_MAX = 2_000;
/** Characters of a name that are compared. */
const LENGTH_MAX = 128;
/** Most names returned. */
const NAMES_MAX = 3;
/** Least similarity, 0 to 1, of a suggested name. */
const LIKENESS_MIN = 0.4;

/**
 * The names most similar to a wrong one, most similar first, by the letter pairs that they share (Dice). Case, dots,
 * dashes and underscores are ignored.
 */
export function nearestNames(wrong: string, names: readonly string[]): readonly string[] {
  const wanted = pairsOf(wrong);
  if (wanted.size === 0) return [];
  return names
    .slice(0, COMPARED_MAX)
    .map((name) => ({ name, likeness: likeness(wanted, pairsOf(name)) }))
    .filter(({ likeness }) => likeness >= LIKENESS_MIN)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, NAMES_MAX)
    .map(({ name }) => name);
}

function pairsOf(name: string): ReadonlySet<string> {
  const letters = name.slice(0, LENGTH_MAX).toLowerCase().replaceAll(/[._-]/g, '');
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < letters.length; at += 1) pairs.add(letters.slice(at, at + 2));
  return pairs;
}

function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of one) if (other.has(pair)) shared += 1;
  return (2 * shared) / (one.size + other.size);
}
