import { editDistance } from './edit-distance.ts';

/** Names longer than this are not compared. */
const NAME_LENGTH_MAX = 64;
/** Candidates beyond this many are not compared. */
const CANDIDATES_MAX = 512;

/** The candidate that is nearest to `given` by edits, when it is near enough to be meant; undefined otherwise. */
export function nearestName(given: string, candidates: readonly string[]): string | undefined {
  if (given.length > NAME_LENGTH_MAX) return undefined;
  const plainGiven = plain(given);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const candidate of candidates.slice(0, CANDIDATES_MAX)) {
    if (candidate.length > NAME_LENGTH_MAX) continue;
    if (plain(candidate) === plainGiven) return candidate;
    // The distance is never less than the difference of the lengths.
    if (Math.abs(candidate.length - given.length) >= bestDistance) continue;
    const distance = editDistance(given, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `userId`, `user_id` and `USER-ID` are the same word to a model. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[_\-\s]/g, '');
