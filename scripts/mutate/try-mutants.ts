import { spawn } from 'node:child_process';
import { mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import tests from '../../vitest.config.ts';
import { codeFiles, ROOT, readProjectFile } from '../project-files.ts';
import { findMutants, type Mutant } from './find-mutants.ts';
import type { NumberedMutant } from './instrument.ts';
import { findings, killedIds, LATE, lastFinding, note, PLAN_VARIABLE, type Plan } from './plan.ts';
import { relatedTests } from './related-tests.ts';

/** Not changed: tests, what they are made of, and code that a program writes. */
const NOT_MUTATED = /\.(?:test|fixture|conformance|generated|port)\.ts$|-cases\.ts$/;
/** A process that finds nothing for so long hangs; a mutant has its own limit, and this on top. */
const STALL_MS = 300_000;
const SLACK_MS = 10_000;
const POLL_MS = 1_000;
/** Multiples of it are spread evenly in what they leave of whole numbers. */
const GOLDEN = 0.618;

/** What is covered, and how far. */
export interface MutationOptions {
  /** Folders of the components, and a glob of their files from there. */
  readonly folders: readonly string[];
  readonly glob: string;
  /** Number of mutants of each folder, spread evenly over its files; all when absent. */
  readonly sample?: number;
  /** Which mutants a sample takes: another number, others. 0 when absent. */
  readonly seed?: number;
  readonly mutantMsMax: number;
  readonly withHeavy: boolean;
  /** Goes on where a run that was ended stopped; the code must be the same. */
  readonly resume?: boolean;
  /** Glob of the test files, from the root; all that import the code when absent. */
  readonly tests?: string;
  /** Folder for what is found; `node_modules/.cache/sallyport/mutants` when absent. */
  readonly results?: string;
  /** How many test files are run, nearest first; all when absent. */
  readonly testFilesMax?: number;
}

/** A mutant that no test noticed. */
export interface Survivor {
  /** Path and line. */
  readonly at: string;
  readonly operator: string;
  readonly original: string;
  readonly mutant: string;
  /** No test ran it at all. */
  readonly isUncovered: boolean;
}

interface PlacedMutant extends Mutant {
  readonly path: string;
}

/**
 * Tries the mutants of components on the tests that import them. Leaves the survivors, as JSON, in the folder for results.
 * Answers with them, and with a table in lines of text.
 */
export async function tryMutants(options: MutationOptions): Promise<{ survivors: Survivor[]; lines: string[] }> {
  const files = numbered(options.folders.flatMap((folder) => mutantsOf(folder, options)));
  const cache = options.results ?? join(ROOT, 'node_modules/.cache/sallyport/mutants');
  mkdirSync(cache, { recursive: true });
  const name = join(cache, `${options.folders.join()}/${options.glob}`.replace(/[^\w.]+/g, '-'));
  const plan: Plan = {
    files,
    testFiles: testFilesFor(Object.keys(files), options),
    mutantMsMax: options.mutantMsMax,
    journal: `${name}.journal`,
  };
  if (options.resume !== true) writeFileSync(plan.journal, '');
  while (!(await runTests(plan, name)));
  const report = reportOf(plan, options.folders);
  writeFileSync(`${name}.survivors.json`, JSON.stringify(report.survivors, undefined, 1));
  return { ...report, lines: [...report.lines, `Survivors: ${name}.survivors.json`] };
}

function testFilesFor(
  files: readonly string[],
  { withHeavy, tests: glob = '**', testFilesMax }: MutationOptions,
): string[] {
  const projects = (tests.test?.projects ?? []) as TestProjectInlineConfiguration[];
  const heavy = projects.find(({ test }) => test?.name === 'heavy')?.test?.include ?? [];
  return relatedTests(files)
    .filter((path) => matchesGlob(path, glob))
    .filter((path) => withHeavy || !heavy.some((pattern) => matchesGlob(path, pattern)))
    .slice(0, testFilesMax);
}

function mutantsOf(folder: string, { glob, sample, seed = 0 }: MutationOptions): PlacedMutant[] {
  const all = codeFiles([folder])
    .filter((path) => !NOT_MUTATED.test(path) && matchesGlob(path.slice(folder.length + 1), glob))
    .flatMap((path) => findMutants(readProjectFile(path)).map((mutant) => ({ path, ...mutant })));
  const step = Math.max(1, all.length / (sample ?? all.length));
  const first = (seed * GOLDEN * step) % step;
  return all.filter((_, index) => Math.floor((index + first) / step) !== Math.floor((index + first - 1) / step));
}

function numbered(mutants: readonly PlacedMutant[]): Record<string, NumberedMutant[]> {
  let id = 0;
  const files = Map.groupBy(mutants, ({ path }) => path);
  return Object.fromEntries(
    [...files].map(([path, mutants]) => [path, mutants.map(({ path: _, ...mutant }) => ({ ...mutant, id: ++id }))]),
  );
}

/** Runs the tests. False when they hung or crashed: then the rest is to run. */
async function runTests(plan: Plan, name: string): Promise<boolean> {
  writeFileSync(`${name}.plan.json`, JSON.stringify(plan));
  const log = openSync(`${name}.log`, 'a');
  const child = spawn(
    join(ROOT, 'node_modules/.bin/node'),
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'scripts/mutate/vitest.config.ts'],
    {
      cwd: ROOT,
      env: { ...ownEnvironment(), [PLAN_VARIABLE]: `${name}.plan.json` },
      stdio: ['ignore', log, log],
      detached: true,
    },
  );
  const endChild = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
  process.once('exit', endChild);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = new AbortController();
  const hasEnded = await Promise.race([ended.then(() => true), hangs(plan, stop.signal).then(() => false)]);
  stop.abort();
  process.off('exit', endChild);
  if (!hasEnded) endChild();
  await ended;
  return lastFinding(plan.journal)?.kind === 'over' || !noteHang(plan);
}

/** Settles when the tests have found nothing for too long. */
async function hangs({ journal }: Plan, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await setTimeout(POLL_MS);
    const last = lastFinding(journal);
    const allowedMs = last?.kind === 'stuck' ? 0 : last?.kind === 'tried' ? last.limitMs + SLACK_MS : STALL_MS;
    if (Date.now() - statSync(journal).mtimeMs > allowedMs) return;
  }
}

/** Says in the journal what hung or crashed: the mutant that ran is killed; a file without one is unusable. False when neither is known. */
function noteHang({ journal }: Plan): boolean {
  const last = findings(journal).findLast(({ kind }) => kind !== 'stuck');
  if (last?.kind === 'tried') note(journal, { kind: 'killed', id: last.id, test: last.test, by: `${LATE}no end` });
  if (last?.kind === 'started') {
    note(journal, { kind: 'unusable', test: last.test, because: 'hangs' });
    note(journal, { kind: 'reached', test: last.test, ms: 0, durations: {}, usable: false, tests: [] });
  }
  return last?.kind === 'tried' || last?.kind === 'started';
}

function reportOf({ files, journal }: Plan, folders: readonly string[]): { survivors: Survivor[]; lines: string[] } {
  const found = findings(journal);
  const killed = killedIds(found);
  const covered = new Set(
    found.flatMap((finding) => (finding.kind === 'reached' && finding.usable ? finding.tests.map(([id]) => id) : [])),
  );
  const rows = Object.entries(files).map(([path, mutants]) => rowOf(path, mutants, killed, covered));
  const late = found.filter((finding) => finding.kind === 'killed' && finding.by.startsWith(LATE)).length;
  const sums = folders.map((folder) => {
    const own = Object.entries(files).flatMap(([path, mutants]) => (path.startsWith(`${folder}/`) ? mutants : []));
    return rowOf(`all of ${folder}`, own, killed, covered);
  });
  const unusable = found.flatMap((finding) =>
    finding.kind === 'unusable' ? [`${finding.test} was of no use: ${finding.because}`] : [],
  );
  return {
    survivors: Object.entries(files).flatMap(([path, mutants]) =>
      mutants.filter(({ id }) => !killed.has(id)).map((mutant) => survivorOf(path, mutant, covered)),
    ),
    lines: [...unusable, ...rows, ...sums, `${late} of the killed by the time that a test took`],
  };
}

function rowOf(
  name: string,
  mutants: readonly NumberedMutant[],
  killed: ReadonlySet<number>,
  covered: ReadonlySet<number>,
) {
  const dead = mutants.filter(({ id }) => killed.has(id)).length;
  const uncovered = mutants.filter(({ id }) => !killed.has(id) && !covered.has(id)).length;
  const share = ((100 * dead) / Math.max(1, mutants.length)).toFixed(1);
  return `${share.padStart(5)} %  ${dead} killed, ${mutants.length - dead - uncovered} survived, ${uncovered} uncovered  ${name}`;
}

function survivorOf(path: string, mutant: NumberedMutant, covered: ReadonlySet<number>): Survivor {
  const { line, operator, original, replacement, id } = mutant;
  return { at: `${path}:${line}`, operator, original, mutant: replacement, isUncovered: !covered.has(id) };
}

/** Without what a surrounding vitest says to its own processes. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
}
