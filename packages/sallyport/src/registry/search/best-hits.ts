// A common word occurs in most of 100 000 tools.
import type { KeywordScores } from './keywords/keyword-index.ts';

/** Resolution of scores when there are too many hits. */
const STEPS = 4096;

/**
 * The slots with the largest scores, `max` at most, in no order; among nearly equal scores the first ones. Takes linear
 * time: sorting the scores of 100 000 tools takes longer than computing them.
 */
export function bestHits({ hits, scores }: KeywordScores, max: number): Uint32Array {
  if (hits.length <= max) return hits;
  let largest = 0;
  for (const slot of hits) if ((scores[slot] as number) > largest) largest = scores[slot] as number;
  const stepOf = (slot: number): number =>
    Math.min(STEPS - 1, Math.floor(((scores[slot] as number) / largest) * STEPS));
  const counts = new Uint32Array(STEPS);
  for (const slot of hits) counts[stepOf(slot)] = (counts[stepOf(slot)] as number) + 1;
  let lowest = STEPS;
  let above = 0;
  for (let taken = 0; taken < max; taken += counts[lowest] as number) {
    above = taken;
    lowest -= 1;
  }
  let ofLowest = max - above;
  const best = new Uint32Array(max);
  let count = 0;
  for (const slot of hits) {
    const step = stepOf(slot);
    if (step < lowest || (step === lowest && ofLowest === 0)) continue;
    if (step === lowest) ofLowest -= 1;
    best[count++] = slot;
  }
  return best.subarray(0, count);
}
