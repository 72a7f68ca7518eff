// Runs each test file as it is, notes which mutants it reaches, and runs its tests again with them, in one process and on the same modules.
import { dirname, join } from 'node:path';
import { type File, type Suite, startTests, type Task, type Test } from '@vitest/runner';
import { TestRunner, vi } from 'vitest';
import { ROOT } from '../project-files.ts';
import { SWITCH } from './instrument.ts';
import { type Alive, findings, killedIds, LATE, note, type Reach, readPlan } from './plan.ts';

/** Stands for code between tests: hooks, and the body of the file. */
const BETWEEN = 'between tests';
/** All tests of a file run. */
const EVERYTHING: ReadonlySet<string> = new Set([BETWEEN]);
/** A test with a mutant may take this long, and so many times what its file took. */
const LIMIT_MS = 3_000;
const LIMIT_TIMES = 3;
const FIRST_LIMIT_MS = 120_000;
/** A run of several tests may take so many limits of one; there are three runs at most for a mutant. */
const RUN_LIMITS = 2;
const RUNS_MAX = 3;
/** So many tests of a file are tried before all of them. */
const FAST_TESTS = 2;
/** Tests replace the timers; these are the real ones. */
const { setTimeout, clearTimeout } = globalThis;

const plan = readPlan();
const paths = new Map(Object.entries(plan.files).flatMap(([path, mutants]) => mutants.map(({ id }) => [id, path])));
const active = { id: 0, by: BETWEEN, isCollecting: false, atCollection: false };
const reached = new Map<number, Set<string>>();
Object.defineProperty(globalThis, SWITCH, {
  value: (id: number) => {
    if (active.id === 0) reached.set(id, (reached.get(id) ?? new Set()).add(active.by));
    if (active.isCollecting) active.atCollection = true;
    return active.id === id;
  },
});

/** Parts of the runner that its types keep to themselves. */
interface Insides {
  readonly moduleRunner: { import(path: string): Promise<unknown> };
  readonly workerState: { readonly evaluatedModules: Modules };
  readonly _otel: Parameters<TestRunner['__setTraces']>[0];
}
interface Modules {
  readonly fileToModulesMap: ReadonlyMap<string, Iterable<unknown>>;
  invalidateModule(module: unknown): void;
}

/** Takes one test file from vitest, and then runs those of the plan by itself. */
class MutationRunner extends TestRunner {
  override async onAfterRunFiles(): Promise<void> {
    super.onAfterRunFiles();
    await tryMutants(this);
  }
}

/** Runs chosen tests of one file, up to the first that fails. */
class Repetition extends TestRunner {
  readonly #chosen: ReadonlySet<string>;
  readonly #outer: Insides;

  constructor(outer: MutationRunner, chosen: ReadonlySet<string>, limitMs: number) {
    super({ ...outer.config, testTimeout: limitMs, hookTimeout: limitMs });
    this.#chosen = chosen;
    this.#outer = outer as unknown as Insides;
    this.__setTraces(this.#outer._otel);
    Object.defineProperty(this, 'moduleRunner', { value: this.#outer.moduleRunner });
  }

  override async importFile(path: string): Promise<unknown> {
    const { evaluatedModules } = this.#outer.workerState;
    for (const module of evaluatedModules.fileToModulesMap.get(path) ?? []) evaluatedModules.invalidateModule(module);
    active.isCollecting = true;
    try {
      return await this.#outer.moduleRunner.import(path);
    } finally {
      active.isCollecting = false;
    }
  }

  onCollected(files: File[]): void {
    if (this.#chosen.has(BETWEEN)) return;
    for (const test of testsOf(files)) if (!this.#chosen.has(test.id)) test.mode = 'skip';
  }

  override async onBeforeRunTask(test: Test): Promise<void> {
    await super.onBeforeRunTask(test);
    active.by = test.id;
  }

  override onAfterRunTask(test: Task): void {
    super.onAfterRunTask(test);
    active.by = BETWEEN;
    if (test.result?.state === 'fail') super.cancel('test-failure');
  }

  override async onAfterRunSuite(_suite: Suite): Promise<void> {}
}

/** One mutant on one test file. */
interface Trial {
  readonly id: number;
  readonly reach: Reach;
  readonly chosen: ReadonlySet<string>;
  /** What the tests that reach it took, ms; less for tests beside the code. */
  readonly costMs: number;
}

/** First all files without a mutant; then each mutant on the tests that reach it, the fastest first. */
async function tryMutants(runner: MutationRunner): Promise<void> {
  const known = new Map(findings(plan.journal).flatMap((each) => (each.kind === 'reached' ? [[each.test, each]] : [])));
  for (const test of plan.testFiles) {
    if (!known.has(test)) known.set(test, await reachOf(runner, test));
  }
  const trials = [...known.values()].flatMap(trialsOf).sort((a, b) => a.costMs - b.costMs);
  const holds = new Map<string, boolean>();
  const outcomes = knownOutcomes();
  for (const trial of trials) {
    if (!outcomes.isOpen(trial)) continue;
    const { id, reach } = trial;
    note(plan.journal, { kind: 'tried', id, test: reach.test, limitMs: RUNS_MAX * RUN_LIMITS * limitOf(reach) });
    const begun = performance.now();
    const by = await killerOf(runner, trial, holds);
    if (by === undefined) {
      const ms = Math.round(performance.now() - begun);
      const alive = { kind: 'alive', id, test: reach.test, among: trial.chosen.size, ms } as const;
      outcomes.outlived(alive);
      note(plan.journal, alive);
    } else {
      outcomes.killed.add(id);
      note(plan.journal, { kind: 'killed', id, test: reach.test, by });
    }
  }
  for (const [test, { usable }] of known) {
    const fault = usable ? (await repeat(runner, test, EVERYTHING, FIRST_LIMIT_MS)).failed : undefined;
    if (fault !== undefined) note(plan.journal, { kind: 'unusable', test, because: `fails after mutants: ${fault}` });
  }
  note(plan.journal, { kind: 'over' });
}

/** Runs a file without a mutant; twice when its body reaches some, because modules that it loads reach theirs once only. */
async function reachOf(runner: MutationRunner, test: string): Promise<Reach> {
  note(plan.journal, { kind: 'started', test });
  active.atCollection = false;
  for (const isAgain of [false, true]) {
    reached.clear();
    const started = performance.now();
    const { failed, durations } = await repeat(runner, test, EVERYTHING, FIRST_LIMIT_MS);
    const ms = Math.round(performance.now() - started);
    if (failed !== undefined) note(plan.journal, { kind: 'unusable', test, because: `fails: ${failed}` });
    if (failed === undefined && active.atCollection && !isAgain) continue;
    const tests = [...reached].map(([id, by]) => [id, [...by]] as const);
    const reach = { kind: 'reached', test, ms, usable: failed === undefined, tests, durations } as const;
    note(plan.journal, reach);
    return reach;
  }
  throw new Error('unreachable');
}

/** The fastest tests of a file come first, by themselves: most mutants that live past them live past all. */
function trialsOf(reach: Reach): Trial[] {
  if (!reach.usable) return [];
  const costOf = (tests: readonly string[]) => tests.reduce((sum, test) => sum + (reach.durations[test] ?? 0), 0);
  return reach.tests.flatMap(([id, by]) => {
    const share = shareOf(reach.test, id);
    if (by.includes(BETWEEN)) return [{ id, reach, chosen: EVERYTHING, costMs: share * reach.ms }];
    const sorted = by.toSorted((one, other) => costOf([one]) - costOf([other]));
    const samples = sorted.length > FAST_TESTS ? [sorted.slice(0, FAST_TESTS), sorted] : [sorted];
    return samples.map((tests) => ({ id, reach, chosen: new Set(tests), costMs: share * costOf(tests) }));
  });
}

/** Tests beside the code come earlier than others that take as long: its own, and those of its folder. */
function shareOf(test: string, id: number): number {
  const path = paths.get(id) ?? '';
  if (test === path.replace(/\.ts$/, '.test.ts')) return 0.02;
  return dirname(test) === dirname(path) ? 0.3 : 1;
}

/** The finding for each mutant, by this process and by the processes before it, which hung. */
function knownOutcomes() {
  const found = findings(plan.journal);
  const killed = killedIds(found);
  const alive = new Map<number, { readonly spentMs: number; readonly trials: ReadonlySet<string> }>();
  const outlived = ({ id, test, among, ms }: Alive): void => {
    const { spentMs, trials } = alive.get(id) ?? { spentMs: 0, trials: [] };
    alive.set(id, { spentMs: spentMs + ms, trials: new Set([...trials, `${test} ${among}`]) });
  };
  for (const each of found) if (each.kind === 'alive') outlived(each);
  /** Mutants that are dead, had their time or were tried on this file are not tried. */
  const isOpen = ({ id, reach, chosen }: Trial): boolean =>
    !killed.has(id) &&
    (alive.get(id)?.spentMs ?? 0) < plan.mutantMsMax &&
    alive.get(id)?.trials.has(`${reach.test} ${chosen.size}`) !== true;
  return { killed, outlived, isOpen };
}

/** Name of the test that fails with the mutant and holds without it. A test that needs another before it says nothing alone. */
async function killerOf(runner: MutationRunner, { id, reach, chosen }: Trial, holds: Map<string, boolean>) {
  const { test } = reach;
  const run = async (mutant: number, which: ReadonlySet<string>): Promise<string | undefined> => {
    active.id = mutant;
    const { failed } = await repeat(runner, test, which, limitOf(reach));
    active.id = 0;
    return failed;
  };
  const killer = await run(id, chosen);
  if (killer === undefined || chosen === EVERYTHING) return killer;
  const key = [test, ...chosen].join();
  if (!holds.has(key)) holds.set(key, (await run(0, chosen)) === undefined);
  return holds.get(key) === true ? killer : run(id, EVERYTHING);
}

const limitOf = ({ ms }: Reach): number => LIMIT_MS + LIMIT_TIMES * ms;

/** Runs the tests. `failed` is the name of the first that failed, `durations` what each took, in ms. */
async function repeat(runner: MutationRunner, test: string, chosen: ReadonlySet<string>, limitMs: number) {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), RUN_LIMITS * limitMs);
  const files = await Promise.race([startTests([join(ROOT, test)], new Repetition(runner, chosen, limitMs)), late]);
  clearTimeout(timer);
  if (files === 'late') {
    note(plan.journal, { kind: 'stuck', test });
    return new Promise<never>(() => {});
  }
  vi.useRealTimers();
  vi.restoreAllMocks();
  const tests = testsOf(files);
  const failed = nameOfFailed(tests.find(({ result }) => result?.state === 'fail'));
  return {
    failed: failed ?? (files[0]?.result?.state === 'fail' ? BETWEEN : undefined),
    durations: Object.fromEntries(tests.map(({ id, result }) => [id, result?.duration ?? 0])),
  };
}

/** Name of a test that failed, and whether that was for its time alone. */
function nameOfFailed(test: Test | undefined): string | undefined {
  const isLate = test?.result?.errors?.some(({ message }) => /timed out in \d+ms/.test(message)) ?? false;
  return isLate ? `${LATE}${test?.name}` : test?.name;
}

function testsOf(tasks: readonly Task[]): Test[] {
  return tasks.flatMap((task) => (task.type === 'test' ? [task] : testsOf(task.tasks)));
}

export { MutationRunner as default };
