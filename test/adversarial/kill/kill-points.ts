import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import type { LayerProcess, Mark } from './layer-process.ts';

/** What is in progress at the moment of a kill. */
export type KillPoint = 'any' | 'effect' | 'rollback' | 'approval' | 'recovery';

/** How often each kind of moment occurs in one test; the exact moments differ from run to run. */
const TIMES: readonly (readonly [KillPoint, number])[] = [
  ['any', 4],
  ['effect', 2],
  ['rollback', 3],
  ['approval', 3],
  ['recovery', 2],
];

/** Longest wait for the moment, in ms. Then the kill is done anyway. */
const PATIENCE_MS = 30_000;
/** Longest random delay after the moment, in ms: about as long as a rollback or a recovery takes. */
const SPREAD_MS: Readonly<Record<KillPoint, number>> = {
  any: 250,
  effect: 6,
  rollback: 10,
  approval: 12,
  recovery: 20,
};

/** The kills of a test in random order. The first is never at a recovery, which needs an earlier kill. */
export function killPoints(chance: Chance): readonly KillPoint[] {
  const points = chance.shuffled(TIMES.flatMap(([point, times]) => Array.from({ length: times }, () => point)));
  const first = points.findIndex((point) => point !== 'recovery');
  return [...points.splice(first, 1), ...points];
}

/** Where the moments are observed. */
interface Watched {
  readonly layer: Pick<LayerProcess, 'next'>;
  /** Resolves when a client sends its next decision on an approval. */
  nextDecision(): Promise<void>;
}

/**
 * Waits for the moment of a kill.
 * @returns whether the moment came in time
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
