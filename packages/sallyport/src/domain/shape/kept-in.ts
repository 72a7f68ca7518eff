/** The value of a map under a key; made and kept where there is none. */
export function keptIn<Kept>(all: Map<string, Kept>, key: string, make: () => Kept): Kept {
  const kept = all.get(key) ?? make();
  all.set(key, kept);
  return kept;
}
