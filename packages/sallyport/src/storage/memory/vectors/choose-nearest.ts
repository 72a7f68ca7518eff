/** Number of distinct cosine steps when many are found; a step is 0.0005. */
const STEPS = 4096;

/**
 * Indexes of the values of at least `least`; of those only the largest `max`, or a few more, in no order. Takes linear
 * time: sorting 100 000 values would take longer than computing them.
 */
export function chooseNearest(cosines: Float32Array, least: number, max: number): Uint32Array {
  const counts = new Uint32Array(STEPS);
  let found = 0;
  for (const cosine of cosines) {
    if (cosine < least) continue;
    counts[stepOf(cosine)] = (counts[stepOf(cosine)] as number) + 1;
    found += 1;
  }
  let lowest = 0;
  if (found > max) {
    lowest = STEPS;
    for (let taken = 0; taken < max && lowest > 0; ) taken += counts[--lowest] as number;
  }
  const places = new Uint32Array(found);
  let next = 0;
  for (let at = 0; at < cosines.length; at += 1) {
    const cosine = cosines[at] as number;
    if (cosine >= least && stepOf(cosine) >= lowest) places[next++] = at;
  }
  return places.subarray(0, next);
}

const stepOf = (cosine: number): number => Math.min(STEPS - 1, Math.max(0, Math.floor(((cosine + 1) / 2) * STEPS)));
