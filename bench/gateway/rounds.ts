import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadGenerator, startLoadGenerator } from '../load/load-generator.ts';
import type { Load, LoadSpan, Target } from '../load/target.ts';
import { cpuTime, processTree } from '../processes/process-tree.ts';
import { ROUNDS } from '../report/benchmark.ts';
import { median } from '../report/statistics.ts';
import type { RunOwn } from './subject.ts';

/** Callers at once: one that waits for each answer, and many. */
export const CALLERS = [1, 32] as const;
export type Callers = (typeof CALLERS)[number];

/** What one target showed: medians over the rounds. */
export interface Measured {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly callsPerSecond: number;
  /** CPU of the server process per call, in µs. */
  readonly cpuUs: number;
  /** The same with its children: upstream, database. */
  readonly treeCpuUs: number;
}

/** A started target, or calls that the server makes itself. */
export interface Subject {
  readonly name: string;
  readonly calls: Target | RunOwn;
  readonly pid: number;
}

/** What a target showed at each number of callers, or why it did not. */
export type Outcome = { readonly by: Readonly<Record<Callers, Measured>> } | { readonly failure: string };

interface Opened extends Subject {
  readonly run: (callers: Callers, span: LoadSpan, onBegin: () => void) => Promise<Load>;
  readonly rounds: Record<Callers, Measured[]>;
  failure?: string;
}

/** Unmeasured calls before the first round: code gets compiled, pools fill. On a busy machine a time would be too few. */
const WARM_UP: Readonly<Record<Callers, LoadSpan>> = {
  1: { calls: 1_000, ms: 4_000 },
  32: { calls: 6_000, ms: 10_000 },
};
/** For what the one before still has to do: writing, collecting garbage. */
const PAUSE_MS = 100;

/**
 * Lets all subjects take turns, round after round, in another order each time.
 * @param seconds measured time of each subject at each number of callers, all rounds together
 */
export async function runRounds(
  subjects: readonly Subject[],
  seconds: number,
  report: (line: string) => void,
): Promise<ReadonlyMap<string, Outcome>> {
  using generator = startLoadGenerator();
  const opened: Opened[] = [];
  const outcomes = new Map<string, Outcome>();
  for (const subject of subjects) {
    try {
      const ready: Opened = { ...subject, run: await openCalls(generator, subject), rounds: { 1: [], 32: [] } };
      for (const callers of CALLERS) await measure(ready, callers, WARM_UP[callers]);
      opened.push(ready);
    } catch (error) {
      outcomes.set(subject.name, { failure: `did not answer: ${reasonOf(error)}` });
    }
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    report(`round ${round + 1} of ${ROUNDS}`);
    await oneRound(rotated(opened, round), (seconds * 1000) / ROUNDS);
  }
  for (const { name, rounds, failure } of opened) {
    outcomes.set(name, failure === undefined ? { by: { 1: middle(rounds[1]), 32: middle(rounds[32]) } } : { failure });
  }
  return outcomes;
}

async function openCalls(generator: LoadGenerator, { calls }: Subject): Promise<Opened['run']> {
  if (typeof calls === 'function') return (callers, span) => calls(callers, span);
  const id = await generator.open(calls, Math.max(...CALLERS));
  return (callers, span, onBegin) => generator.run(id, callers, span, onBegin);
}

async function oneRound(subjects: readonly Opened[], ms: number): Promise<void> {
  for (const subject of subjects) {
    for (const callers of CALLERS) {
      if (subject.failure !== undefined) continue;
      try {
        subject.rounds[callers].push(await measure(subject, callers, { ms }));
      } catch (error) {
        subject.failure = `failed: ${reasonOf(error)}`;
      }
      await sleep(PAUSE_MS);
    }
  }
}

/** @throws Error when a single call failed: the others would no longer say what they seem to */
async function measure({ pid, run }: Opened, callers: Callers, span: LoadSpan): Promise<Measured> {
  const tree = processTree(pid);
  let before = cpuTime(tree);
  const load = await run(callers, span, () => {
    before = cpuTime(tree);
  });
  const after = cpuTime(tree);
  if (load.failed > 0) throw new Error(`${load.failed} of ${load.calls + load.failed} calls: ${load.firstFailure}`);
  return {
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    callsPerSecond: load.calls / load.seconds,
    cpuUs: (after.own - before.own) / load.calls,
    treeCpuUs: (after.tree - before.tree) / load.calls,
  };
}

function middle(rounds: readonly Measured[]): Measured {
  const of = (member: keyof Measured) => median(rounds.map((round) => round[member])) ?? Number.NaN;
  return {
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    callsPerSecond: of('callsPerSecond'),
    cpuUs: of('cpuUs'),
    treeCpuUs: of('treeCpuUs'),
  };
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const start = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
