/** Cosine of two vectors of norm 1 and one length. */
export function cosineOf(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] as number) * (other[at] as number);
  return sum;
}

/** The same direction with norm 1. Undefined for a vector without a direction: empty, all zero, or with what is no finite number. */
export function unitVector(vector: ArrayLike<number>): Float32Array | undefined {
  let square = 0;
  for (let at = 0; at < vector.length; at += 1) square += (vector[at] as number) ** 2;
  if (!(square > 0) || !Number.isFinite(square)) return undefined;
  const norm = Math.sqrt(square);
  return Float32Array.from(vector, (value) => value / norm);
}

/** The middle direction of vectors of one length. */
export function middleOf(vectors: readonly Float32Array[]): Float32Array {
  const [first] = vectors;
  if (first === undefined || vectors.length === 1) return first ?? new Float32Array();
  const sum = new Float64Array(first.length);
  for (const vector of vectors) {
    for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] as number) + (vector[at] as number);
  }
  return unitVector(sum) ?? first;
}
