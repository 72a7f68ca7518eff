// Runs each test file once as it is, and then again with each mutant that it reaches, in the same process and on the same modules.
import { relative } from 'node:path';
import { type File, type Suite, startTests, type Task, type Test } from '@vitest/runner';
import { TestRunner, vi } from 'vitest';
import { ROOT } from '../project-files.ts';
import { SWITCH } from './instrument.ts';
import { findings, killedIds, note, readPlan } from './plan.ts';

/** Who reached a mutant: a test by its id, or code between tests (hooks, the body of the file). */
const BETWEEN = 'between tests';
const LIMIT_MS = 4_000;
const LIMIT_TIMES = 4;
/** With the mutant, without it, and all tests of the file with it; each may take twice the limit of a test. */
const RUNS_MAX = 6;
/** Tests replace the timers; these are the real ones. */
const { setTimeout, clearTimeout } = globalThis;

const plan = readPlan();
const active = { id: 0, by: BETWEEN, reached: undefined as Map<number, Set<string>> | undefined };
Object.defineProperty(globalThis, SWITCH, {
  value: (id: number) => {
    if (active.reached !== undefined) {
      const by = active.reached.get(id) ?? new Set();
      active.reached.set(id, by.add(active.by));
    }
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

class MutationRunner extends TestRunner {
  override onBeforeRunTask(test: Test): Promise<void> {
    active.reached ??= new Map();
    return super.onBeforeRunTask(test);
  }

  override async onAfterRunFiles(files: File[] = []): Promise<void> {
    super.onAfterRunFiles();
    for (const file of files) await tryMutants(file, this);
    active.reached = undefined;
  }
}

/** Runs chosen tests of one file again, up to the first that fails. */
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

  override importFile(path: string): unknown {
    const { evaluatedModules } = this.#outer.workerState;
    for (const module of evaluatedModules.fileToModulesMap.get(path) ?? []) evaluatedModules.invalidateModule(module);
    return this.#outer.moduleRunner.import(path);
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

async function tryMutants(file: File, runner: MutationRunner): Promise<void> {
  const test = relative(ROOT, file.filepath);
  const everything = new Set([BETWEEN]);
  note(plan.journal, { kind: 'started', test });
  if (file.result?.state === 'fail') return note(plan.journal, { kind: 'finished', test, unusable: 'fails' });
  if (openMutants(active.reached ?? new Map(), test).length === 0)
    return note(plan.journal, { kind: 'finished', test });
  active.reached = new Map();
  const started = performance.now();
  const failed = await repeat(runner, file, everything, plan.mutantMsMax);
  const reached = active.reached;
  active.reached = undefined;
  if (failed !== undefined) return note(plan.journal, { kind: 'finished', test, unusable: `fails again: ${failed}` });

  const limitMs = LIMIT_MS + LIMIT_TIMES * (performance.now() - started);
  const holds = new Map<string, boolean>();
  for (const [id, by] of openMutants(reached, test)) {
    const chosen = by.has(BETWEEN) ? everything : by;
    note(plan.journal, { kind: 'tried', id, test, limitMs: RUNS_MAX * limitMs });
    const begun = performance.now();
    const killer = await killerOf(runner, file, { id, chosen, limitMs, holds });
    const ms = Math.round(performance.now() - begun);
    note(
      plan.journal,
      killer === undefined ? { kind: 'alive', id, test, ms } : { kind: 'killed', id, test, by: killer },
    );
  }
  const after = reached.size > 0 ? await repeat(runner, file, everything, limitMs) : undefined;
  note(plan.journal, {
    kind: 'finished',
    test,
    ...(after === undefined ? {} : { unusable: `fails after mutants: ${after}` }),
  });
}

/** Mutants that no test has killed, that this file has not tried, and that have not had their time. */
function openMutants(reached: ReadonlyMap<number, ReadonlySet<string>>, test: string) {
  const found = findings(plan.journal);
  const killed = killedIds(found);
  const spent = new Map<number, number>();
  for (const finding of found) {
    if (finding.kind !== 'alive') continue;
    spent.set(finding.id, (spent.get(finding.id) ?? 0) + (finding.test === test ? Infinity : finding.ms));
  }
  return [...reached].filter(([id]) => !killed.has(id) && (spent.get(id) ?? 0) < plan.mutantMsMax);
}

/** Name of the test that fails with the mutant and holds without it. A test that needs another before it says nothing alone. */
async function killerOf(
  runner: MutationRunner,
  file: File,
  {
    id,
    chosen,
    limitMs,
    holds,
  }: { id: number; chosen: ReadonlySet<string>; limitMs: number; holds: Map<string, boolean> },
): Promise<string | undefined> {
  const killer = await withMutant(id, () => repeat(runner, file, chosen, limitMs));
  if (killer === undefined || chosen.has(BETWEEN)) return killer;
  const key = [...chosen].join();
  if (!holds.has(key)) holds.set(key, (await repeat(runner, file, chosen, limitMs)) === undefined);
  return holds.get(key) === true ? killer : withMutant(id, () => repeat(runner, file, new Set([BETWEEN]), limitMs));
}

async function withMutant<T>(id: number, run: () => Promise<T>): Promise<T> {
  active.id = id;
  try {
    return await run();
  } finally {
    active.id = 0;
  }
}

/** Runs the tests again. Answers with the name of the first that failed; undefined when all passed. */
async function repeat(
  runner: MutationRunner,
  file: File,
  chosen: ReadonlySet<string>,
  limitMs: number,
): Promise<string | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), 2 * limitMs);
  const files = await Promise.race([startTests([file.filepath], new Repetition(runner, chosen, limitMs)), late]);
  clearTimeout(timer);
  if (files === 'late') {
    note(plan.journal, { kind: 'stuck', test: relative(ROOT, file.filepath) });
    await new Promise(() => {});
    return undefined;
  }
  vi.useRealTimers();
  vi.restoreAllMocks();
  const [failed] = testsOf(files).filter(({ result }) => result?.state === 'fail');
  return failed?.name ?? (files[0]?.result?.state === 'fail' ? BETWEEN : undefined);
}

function testsOf(tasks: readonly Task[]): Test[] {
  return tasks.flatMap((task) => (task.type === 'test' ? [task] : testsOf(task.tasks)));
}

export { MutationRunner as default };
