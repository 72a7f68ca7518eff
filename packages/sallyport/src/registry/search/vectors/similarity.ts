import type { EmbedderTraits } from '../../embedder.port.ts';

/** Similarity at the boundary between related and unrelated texts: the usual threshold. */
export const BOUNDARY_SIMILARITY = 0.7;
/** Similarity of the median pair of a request and a tool that serves it. */
export const RELATED_SIMILARITY = 0.9;
/** Least distance of the two cosines; prevents a division by zero for a model that cannot separate related texts. */
const COSINE_DISTANCE_MIN = 0.05;

/** Maps a model's cosine to a number with the same meaning for every model, and back. */
export interface Similarity {
  /** 0 to 1, growing with the cosine. */
  of(cosine: number): number;
  /** Cosine that a similarity of 0 to 1 stands for. */
  cosineOf(similarity: number): number;
}

/**
 * Linear interpolation through four points: cosine -1 is 0, the model's boundary {@link BOUNDARY_SIMILARITY}, its usual
 * cosine of related texts {@link RELATED_SIMILARITY}, and cosine 1 is 1.
 */
export function similarityOf({ boundaryCosine, relatedCosine }: EmbedderTraits): Similarity {
  const boundary = Math.min(Math.max(boundaryCosine, -0.9), 0.9);
  const related = Math.min(Math.max(relatedCosine, boundary + COSINE_DISTANCE_MIN), 0.98);
  const points: readonly Point[] = [
    [-1, 0],
    [boundary, BOUNDARY_SIMILARITY],
    [related, RELATED_SIMILARITY],
    [1, 1],
  ];
  const turned = points.map(([cosine, similarity]): Point => [similarity, cosine]);
  return {
    of: (cosine) => between(points, cosine),
    cosineOf: (similarity) => between(turned, similarity),
  };
}

type Point = readonly [x: number, y: number];

function between(points: readonly Point[], x: number): number {
  for (let at = 1; at < points.length; at += 1) {
    const [fromX, fromY] = points[at - 1] as Point;
    const [toX, toY] = points[at] as Point;
    if (x > toX && at + 1 < points.length) continue;
    const share = Math.min(1, Math.max(0, (x - fromX) / (toX - fromX)));
    return fromY + share * (toY - fromY);
  }
  return 0;
}
