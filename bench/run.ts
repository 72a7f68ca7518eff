// npm run bench -- NAME [--json] [--seconds N] [--save] [--set FOLDER]
import { parseArgs } from 'node:util';
import { ensureSystemPackages } from '../scripts/machine/system-packages.ts';
import { readBaseline, saveBaseline } from './report/baseline.ts';
import type { Benchmark } from './report/benchmark.ts';
import type { Report } from './report/figure.ts';
import { machineLoad } from './report/machine-load.ts';
import { reportTable } from './report/table.ts';

/** Loaded when asked for: each stands on other parts of the project. */
const BENCHMARKS: readonly Benchmark[] = [
  {
    name: 'pipeline',
    summary: 'a pure function through all stages in process: CPU, p50, p99, each stage, with and without the commit',
    defaultSeconds: 5,
    run: async (options) => (await import('./pipeline/pipeline-benchmark.ts')).runPipeline(options),
  },
  {
    name: 'durable',
    summary: 'commits, calls that run later, status, cancel, and what a crash left: p50, p99, calls a second',
    defaultSeconds: 5,
    run: async (options) => (await import('./durable/durable-benchmark.ts')).runDurable(options),
  },
  {
    name: 'checkpoint',
    summary: 'micro checkpoints beside a plain row, a state of 10 MB, and the restore of twenty differences',
    defaultSeconds: 5,
    run: async (options) => (await import('./durable/checkpoint-benchmark.ts')).runCheckpoints(options),
  },
  {
    name: 'gateway',
    summary: 'calls through MCP and REST at 1 and 32 callers, beside node:http, the MCP SDK, mcp-proxy and mcp-hub',
    defaultSeconds: 4,
    sandboxed: true,
    run: async (options) => (await import('./gateway/gateway-benchmark.ts')).runGateway(options),
  },
  {
    name: 'registry',
    summary: 'registration of 10 000 tools, lists over 100 000 by every filter, memory, look-ups and comparisons',
    defaultSeconds: 2,
    run: async (options) => (await import('./registry/registry-benchmark.ts')).runRegistry(options),
  },
  {
    name: 'policy',
    summary:
      'decisions with 1, 100 and 1 000 policies, remembered and not, beside Cedar alone, and how long a reload takes',
    defaultSeconds: 2,
    run: async (options) => (await import('./trust/policy/policy-benchmark.ts')).runPolicy(options),
  },
  {
    name: 'startup',
    summary: 'first and later start to the first answer, and idle memory after the given time',
    defaultSeconds: 3,
    run: async (options) => (await import('./startup/startup-benchmark.ts')).runStartup(options),
  },
  {
    name: 'import',
    summary: 'public OpenAPI documents into manifests, and those into a registry: documents, operations, CPU, memory',
    defaultSeconds: 5,
    run: async (options) => (await import('./import/import-benchmark.ts')).runImport(options),
  },
  {
    name: 'search',
    summary: 'recall@5 on the shown sets or one of your own, latency at 1 000 to 100 000 tools, memory',
    defaultSeconds: 5,
    run: async (options) => (await import('./search/search-benchmark.ts')).runSearch(options),
  },
  {
    name: 'documents',
    summary: 'documents for calls, search over 10 000 beside PostgreSQL alone, ingesting, and which overlaps are found',
    defaultSeconds: 5,
    run: async (options) => (await import('./search/documents/documents-benchmark.ts')).runDocuments(options),
  },
  {
    name: 'detectors',
    summary:
      'what injection, redaction, command, address and instruction detectors catch and leave alone, and their CPU',
    defaultSeconds: 2,
    run: async (options) => (await import('./detectors/detectors-benchmark.ts')).runDetectors(options),
  },
  {
    name: 'token',
    summary: 'capability tokens verified, minted and revoked, API keys, beside jose alone; JWS vectors of Wycheproof',
    defaultSeconds: 2,
    run: async (options) => (await import('./trust/token/token-benchmark.ts')).runToken(options),
  },
  {
    name: 'validate',
    summary: 'checks and compiling beside Ajv, the JSON Schema Test Suite, patterns that hang others, conversions',
    defaultSeconds: 2,
    run: async (options) => (await import('./trust/validate/validate-benchmark.ts')).runValidate(options),
  },
  {
    name: 'egress',
    summary: 'connections out of a sandbox beside direct ones: new, kept, throughput, shaping, and what a start costs',
    defaultSeconds: 2,
    sandboxed: true,
    run: async (options) => (await import('./sandbox/egress/egress-benchmark.ts')).runEgress(options),
  },
  {
    name: 'upstream',
    summary: 'calls through a sandboxed stdio upstream at 1 and 32 callers, its start, its recovery, 20 that idle',
    defaultSeconds: 3,
    sandboxed: true,
    run: async (options) => (await import('./gateway/upstream/upstream-benchmark.ts')).runUpstream(options),
  },
  {
    name: 'sandbox',
    summary: 'cold starts beside bare spawns, kill, hand-off from the warm pool, fresh sandboxes a second, idle memory',
    defaultSeconds: 4,
    sandboxed: true,
    run: async (options) => (await import('./sandbox/sandbox-benchmark.ts')).runSandboxes(options),
  },
  {
    name: 'microvm',
    summary: 'emulated machines of QEMU: boot, copy of a snapshot, one exchange, kill; --set names the image folder',
    defaultSeconds: 5,
    run: async (options) => (await import('./sandbox/microvm.ts')).runMicrovms(options),
  },
  {
    name: 'wasm',
    summary: 'scripts in fresh interpreters: start to end, host calls, kill, scripts a second, memory of the process',
    defaultSeconds: 3,
    run: async (options) => (await import('./sandbox/wasm.ts')).runWasm(options),
  },
];

const SECONDS_MAX = 600;
const WRONG_USE = 2;

interface Asked {
  readonly benchmark: Benchmark;
  readonly seconds: number;
  readonly json: boolean;
  readonly save: boolean;
  readonly set: string | undefined;
}

const asked = readArguments();
if (asked === undefined) {
  console.error(usage());
  process.exitCode = WRONG_USE;
} else {
  await runBenchmark(asked).catch((thrown: unknown) => {
    // What a machine lacks is said in the message; a stack adds nothing.
    console.error(`${asked.benchmark.name} could not be measured: ${reasonOf(thrown)}`);
    process.exitCode = 1;
  });
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
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
        set: { type: 'string' },
      },
    });
    const benchmark = BENCHMARKS.find(({ name }) => name === positionals[0]);
    const seconds = values.seconds === undefined ? benchmark?.defaultSeconds : Number(values.seconds);
    if (benchmark === undefined || positionals.length !== 1) return undefined;
    if (seconds === undefined || !(seconds > 0 && seconds <= SECONDS_MAX)) return undefined;
    return { benchmark, seconds, json: values.json, save: values.save, set: values.set };
  } catch {
    return undefined;
  }
}

async function runBenchmark({ benchmark, seconds, json, save, set }: Asked): Promise<void> {
  const { name, run } = benchmark;
  if (benchmark.sandboxed === true) await ensureSandbox();
  const load = machineLoad();
  const figures = await run({ seconds, ...(set === undefined ? {} : { set }), report: (line) => console.error(line) });
  const report: Report = { bench: name, node: process.version, load, figures };
  console.log(json ? JSON.stringify(report) : reportTable(report, readBaseline(name)));
  const whole = figures.every(({ value }) => value !== null);
  if (!whole) process.exitCode = 1;
  if (save) console.error(whole ? `kept as ${saveBaseline(report)}` : 'not kept: a figure is missing');
}

/** As the test run does; on a machine where nothing may be installed it says what to type. */
async function ensureSandbox(): Promise<void> {
  const { installed, advice } = await ensureSystemPackages({ install: true });
  for (const { package: name, purpose } of installed) console.error(`installed ${name}: ${purpose}`);
  if (advice !== undefined) throw new Error(advice);
}

function usage(): string {
  return [
    'npm run bench -- NAME [--json] [--seconds N] [--save] [--set FOLDER]',
    '',
    ...BENCHMARKS.map(
      ({ name, summary, defaultSeconds }) => `  ${name.padEnd(9)} ${summary} (${defaultSeconds} s each)`,
    ),
    '',
    `  --json       one JSON object instead of a table`,
    `  --seconds N  measured time of each subject at each setting, more than 0, ${SECONDS_MAX} at most`,
    '  --set FOLDER tools.jsonl and queries.jsonl that search is measured with instead of the shown sets',
    '  --save       keeps the report in bench/baselines, where later runs find what to compare with',
  ].join('\n');
}
