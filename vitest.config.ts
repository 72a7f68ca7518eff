import { defineConfig } from 'vitest/config';
import { compiledCodeFolder } from './scripts/test-run/compiled-code.ts';
import { COUNTS_FILE_VARIABLE, testCountsReporter } from './scripts/test-run/test-counts.ts';
import { LongestFirst } from './scripts/test-run/test-order.ts';

const countsFile = process.env[COUNTS_FILE_VARIABLE];

// Processes of the tests, and programs that these start from sources, find what one of them has compiled before.
process.env['NODE_COMPILE_CACHE'] ??= compiledCodeFolder();

/** Tests that take a process of their own: they measure it, race in it, use it up or change what all of it shares. */
const ALONE = [
  'packages/sallyport/src/executors/{file/confinement,shell/transaction}/**/*.test.ts',
  'packages/sallyport/src/mcp-servers/{incoming,connection/listing}/**/*.test.ts',
  'packages/sallyport/src/storage/{memory/*,postgres/postgres-*,postgres/{embedded,notifications,schema}/**/*}.test.ts',
  'packages/sandbox/src/{egress-gate,warm-pool,linux/{crash,limits}/**/*}.test.ts',
  'packages/sandbox/src/drivers/{bubblewrap,gvisor,kubernetes,microvm,wasm}/**/*.test.ts',
  'test/{conformance,mcp-conformance,adversarial,published}/**/*.test.ts',
  'test/e2e/{readme,running}/**/*.test.ts',
  '{examples/**/*,bench/gateway/**/*,bench/report/run}.test.ts',
];
/** Tests that start servers, sandboxes or the whole layer, and leave their process as it was. */
const TOGETHER = [
  'packages/sallyport/src/{compose,doors,executors,mcp-servers,reference-servers}/**/*.test.ts',
  'test/e2e/**/*.test.ts',
];
const EVERYTHING = ['{packages,test,scripts,examples}/**/*.test.ts', 'bench/{load,gateway,report}/**/*.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A machine under load takes its time; what comes at once is seen at once.
    expect: { poll: { timeout: 50_000 } },
    // Tests wait a third of their time, for processes and for time limits: two cores have work for three workers.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Node itself loads the sources, as it does in production: it takes half of the time that Vite's runner takes.
    experimental: { viteModuleRunner: false },
    reporters: ['default', ...(countsFile === undefined ? [] : [testCountsReporter(countsFile)])],
    // In this order, without a pause between them: short tests at the end keep all workers busy until it is reached.
    projects: [
      {
        extends: true,
        test: { name: 'heavy', include: ALONE, pool: 'forks', isolate: true },
      },
      {
        extends: true,
        // Files share a process and its modules: a layer takes three seconds to load, and half a second to open.
        test: { name: 'shared', include: TOGETHER, exclude: ALONE, pool: 'forks', isolate: false },
      },
      {
        extends: true,
        // The same in threads. So no test may change global state.
        test: {
          name: 'fast',
          include: EVERYTHING,
          exclude: [...TOGETHER, ...ALONE],
          pool: 'threads',
          isolate: false,
        },
      },
    ],
  },
});
