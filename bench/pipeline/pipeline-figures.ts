import { type Bound, type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';
import type { CallsMeasured } from './measure-calls.ts';

/** What one round showed of the stages, in µs a call on average. */
export interface StageRound {
  readonly stageUs: ReadonlyMap<string, number>;
  readonly callUs: number;
}

/** All rounds: in memory, with PostgreSQL, of a pure and of an irreversible tool, of one caller and of many. */
export interface Rounds {
  readonly memory: CallsMeasured[];
  readonly pure: CallsMeasured[];
  readonly pureMany: CallsMeasured[];
  readonly irreversible: CallsMeasured[];
  readonly irreversibleMany: CallsMeasured[];
  readonly stages: StageRound[];
}

type Row = readonly [figure: string, unit: string, value: number | undefined, bound?: Bound];

/** Figures with the targets of the system design, §9. */
export function pipelineFigures(rounds: Rounds): Figure[] {
  const { memory, pure, pureMany, irreversible, irreversibleMany } = rounds;
  const added = pure.map((round, index) => round.p50Ms - (memory[index]?.p50Ms ?? Number.NaN));
  const rows: readonly Row[] = [
    ['CPU a call, storage in memory', 'µs', middle(memory, 'cpuUs'), { atMost: 60 }],
    ['p50, storage in memory', 'ms', middle(memory, 'p50Ms'), { atMost: 0.1 }],
    ['p99, storage in memory', 'ms', middle(memory, 'p99Ms')],
    ['CPU a call, committed to PostgreSQL', 'µs', middle(pure, 'cpuUs')],
    ['p50, committed to PostgreSQL', 'ms', middle(pure, 'p50Ms')],
    ['p99, committed to PostgreSQL', 'ms', middle(pure, 'p99Ms')],
    ['p50 that the commit adds', 'ms', median(added), { atMost: 0.2 }],
    ['CPU a call, committed, 32 callers', 'µs', middle(pureMany, 'cpuUs'), { atMost: 60 }],
    ['committed calls, 32 callers', 'calls/s', middle(pureMany, 'callsPerSecond')],
    ['irreversible call, p50', 'ms', middle(irreversible, 'p50Ms'), { atMost: 1.5 }],
    ['irreversible call, p99', 'ms', middle(irreversible, 'p99Ms')],
    ['irreversible calls, 32 callers', 'calls/s', middle(irreversibleMany, 'callsPerSecond'), { atLeast: 3_000 }],
  ];
  return [...rows.map(([figure, unit, value, bound]) => figureOf(figure, unit, value, bound)), ...stageFigures(rounds)];
}

/** Time and share of each stage in the order of the list; the rest is wrappers, record and events. */
function stageFigures({ stages }: Rounds): Figure[] {
  const names = [...(stages[0]?.stageUs.keys() ?? [])];
  const callUs = median(stages.map((round) => round.callUs)) ?? Number.NaN;
  const times = names.map((name) => [name, median(stages.map(({ stageUs }) => stageUs.get(name) ?? 0)) ?? 0] as const);
  const rest = callUs - times.reduce((sum, [, time]) => sum + time, 0);
  return [
    ...times.map(([name, time]) => [`stage ${name}`, time] as const),
    ['around the stages', rest] as const,
  ].flatMap(([name, time]) => [figureOf(name, 'µs', time), figureOf(`${name}, share`, '%', (time / callUs) * 100)]);
}

function middle(rounds: readonly CallsMeasured[], member: keyof CallsMeasured): number | undefined {
  return median(rounds.map((round) => round[member]));
}
