/** Names longer than this are not compared. */
const NAME_LENGTH_MAX = 64;
/** Candidates beyond this many are not compared. */
const CANDIDATES_MAX = 256;

/** The candidate that is nearest to `given` by edits, when it is near enough to be meant; undefined otherwise. */
export function nearest(given: string, candidates: readonly string[]): string | undefined {
  if (given.length > NAME_LENGTH_MAX) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const candidate of candidates.slice(0, CANDIDATES_MAX)) {
    if (candidate.length > NAME_LENGTH_MAX) continue;
    const distance = plain(candidate) === plain(given) ? 0 : editDistance(given, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `userId`, `user_id` and `USER-ID` are the same word to a model. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[_\-\s]/g, '');

/** Levenshtein distance in UTF-16 units. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
