import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import type { LayerProcess, Mark } from './layer-process.ts';

/** What is under way when somebody kills. */
export type KillPoint = 'any' | 'effect' | 'rollback' | 'approval' | 'recovery';

/** How often each in one test; every run of it takes other moments. */
const TIMES: readonly (readonly [KillPoint, number])[] = [
  ['any', 4],
  ['effect', 2],
  ['rollback', 3],
  ['approval', 3],
  ['recovery', 2],
];

/** Longest wait for what is to be cut off, in ms. Then the kill comes all the same. */
const PATIENCE_MS = 30_000;
/** Random delay behind the moment, in ms: a rollback or a recovery takes about so long. */
const SPREAD_MS: Readonly<Record<KillPoint, number>> = {
  any: 250,
  effect: 6,
  rollback: 10,
  approval: 12,
  recovery: 20,
};

/** The kills of a test in a random order. A recovery needs a crash before it. */
export function killPoints(chance: Chance): readonly KillPoint[] {
  const points = chance.shuffled(TIMES.flatMap(([point, times]) => Array.from({ length: times }, () => point)));
  const first = points.findIndex((point) => point !== 'recovery');
  return [...points.splice(first, 1), ...points];
}

/** Where a kill comes from, beside the marks of the layer. */
interface Watched {
  readonly layer: Pick<LayerProcess, 'next'>;
  /** Resolves when a client sends its next decision on an approval. */
  nextDecision(): Promise<void>;
}

/**
 * Waits for the moment of a kill.
 * @returns whether what was waited for came
 */
export async function momentOf(point: KillPoint, { layer, nextDecision }: Watched, chance: Chance): Promise<boolean> {
  const after = chance.below(SPREAD_MS[point]);
  let came = true;
  if (point !== 'any') {
    const mark = point === 'approval' ? nextDecision() : layer.next(MARKS[point]);
    const late = sleep(PATIENCE_MS, 'late' as const, { ref: false });
    came = (await Promise.race([mark, late])) !== 'late';
  }
  await sleep(after);
  return came;
}

const MARKS: Readonly<Record<'effect' | 'rollback' | 'recovery', Mark>> = {
  effect: 'effect',
  rollback: 'rollback',
  recovery: 'recovering',
};
