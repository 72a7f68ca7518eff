// npm run bench -- NAME [--json] [--seconds N] [--save]
import { parseArgs } from 'node:util';
import { GATEWAY } from './gateway/gateway-benchmark.ts';
import { readBaseline, saveBaseline } from './report/baseline.ts';
import type { Benchmark } from './report/benchmark.ts';
import type { Report } from './report/figure.ts';
import { machineLoad } from './report/machine-load.ts';
import { reportTable } from './report/table.ts';

const BENCHMARKS: readonly Benchmark[] = [GATEWAY];

const SECONDS_MAX = 600;
const WRONG_USE = 2;

interface Asked {
  readonly benchmark: Benchmark;
  readonly seconds: number;
  readonly json: boolean;
  readonly save: boolean;
}

const asked = readArguments();
if (asked === undefined) {
  console.error(usage());
  process.exitCode = WRONG_USE;
} else {
  await runBenchmark(asked);
}

/** Undefined when they make no sense. */
function readArguments(): Asked | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        save: { type: 'boolean', default: false },
        seconds: { type: 'string' },
      },
    });
    const benchmark = BENCHMARKS.find(({ name }) => name === positionals[0]);
    const seconds = values.seconds === undefined ? benchmark?.defaultSeconds : Number(values.seconds);
    if (benchmark === undefined || positionals.length !== 1) return undefined;
    if (seconds === undefined || !(seconds > 0 && seconds <= SECONDS_MAX)) return undefined;
    return { benchmark, seconds, json: values.json, save: values.save };
  } catch {
    return undefined;
  }
}

async function runBenchmark({ benchmark: { name, run }, seconds, json, save }: Asked): Promise<void> {
  const load = machineLoad();
  const figures = await run({ seconds, tell: (line) => console.error(line) });
  const report: Report = { bench: name, node: process.version, load, figures };
  console.log(json ? JSON.stringify(report) : reportTable(report, readBaseline(name)));
  if (save) console.error(`kept as ${saveBaseline(report)}`);
}

function usage(): string {
  return [
    'npm run bench -- NAME [--json] [--seconds N] [--save]',
    '',
    ...BENCHMARKS.map(
      ({ name, summary, defaultSeconds }) => `  ${name.padEnd(9)} ${summary} (${defaultSeconds} s each)`,
    ),
    '',
    `  --json       one JSON object instead of a table`,
    `  --seconds N  measured time of each subject at each setting, more than 0, ${SECONDS_MAX} at most`,
    '  --save       keeps the report in bench/baselines, where later runs find what to compare with',
  ].join('\n');
}
