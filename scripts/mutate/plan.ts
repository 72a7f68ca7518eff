import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import type { NumberedMutant } from './instrument.ts';

/** What a run of the tests is to try. It passes through a file that the environment names. */
export interface Plan {
  /** Mutants of each file; paths are relative to the root of the project. */
  readonly files: Readonly<Record<string, readonly NumberedMutant[]>>;
  /** Test files, nearest first, as paths from the root. */
  readonly testFiles: readonly string[];
  /** A mutant that outlived tests of this many ms is tried no further. */
  readonly mutantMsMax: number;
  /** File that takes what was found, a line of JSON each. */
  readonly journal: string;
}

/** A line of the journal. `test` is the file of the test, from the root. */
export type Finding =
  /** A mutant is about to run, for `limitMs` at most; the last line of a run that hung. */
  | { readonly kind: 'tried'; readonly id: number; readonly test: string; readonly limitMs: number }
  | { readonly kind: 'killed'; readonly id: number; readonly test: string; readonly by: string }
  | Alive
  /** A test hangs, and with it the process. */
  | { readonly kind: 'stuck'; readonly test: string }
  | { readonly kind: 'started'; readonly test: string }
  | Reach
  /** The file fails without a mutant, or after one; what it killed does not count. */
  | { readonly kind: 'unusable'; readonly test: string; readonly because: string }
  /** Nothing is left to try. */
  | { readonly kind: 'over' };

/** A mutant outlived so many tests of a file, which took `ms`. */
export interface Alive {
  readonly kind: 'alive';
  readonly id: number;
  readonly test: string;
  readonly among: number;
  readonly ms: number;
}

/** What a test file does without a mutant. */
export interface Reach {
  readonly kind: 'reached';
  readonly test: string;
  /** What the file took, and each of its tests by id. */
  readonly ms: number;
  readonly durations: Readonly<Record<string, number>>;
  readonly usable: boolean;
  /** Mutants, and the ids of the tests that reach them. */
  readonly tests: readonly (readonly [id: number, by: readonly string[]])[];
}

/** Begins what killed a mutant when that was the time that a test took: on a busy machine this may be chance. */
export const LATE = 'too late: ';

/** Variable with the path of the plan. */
export const PLAN_VARIABLE = 'MUTATION_PLAN';

/** The plan that the environment names. @throws Error without one */
export function readPlan(): Plan {
  const path = process.env[PLAN_VARIABLE];
  if (path === undefined) throw new Error(`Mutants are tried by \`npm run mutate\`, which sets ${PLAN_VARIABLE}.`);
  return JSON.parse(readFileSync(path, 'utf8')) as Plan;
}

/** Adds a line to the journal. It is there when the process ends. */
export function note(journal: string, finding: Finding): void {
  appendFileSync(journal, `${JSON.stringify(finding)}\n`);
}

/** Everything that was found, in order; nothing when there is no journal yet. */
export function findings(journal: string): Finding[] {
  if (!existsSync(journal)) return [];
  return readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Finding);
}

/** What was found last, but a line that is being written; undefined when nothing was. */
export function lastFinding(journal: string): Finding | undefined {
  const line = readFileSync(journal, 'utf8').split('\n').at(-2) ?? '';
  return line === '' ? undefined : (JSON.parse(line) as Finding);
}

/** Ids of the mutants that a test killed; what an unusable test file found does not count. */
export function killedIds(found: readonly Finding[]): Set<number> {
  const unusable = new Set(found.flatMap((finding) => (finding.kind === 'unusable' ? [finding.test] : [])));
  return new Set(
    found.flatMap((finding) => (finding.kind === 'killed' && !unusable.has(finding.test) ? [finding.id] : [])),
  );
}
