import { defineConfig } from 'vitest/config';
import { COUNTS_FILE_VARIABLE, testCountsReporter } from './scripts/test-counts.ts';

const countsFile = process.env[COUNTS_FILE_VARIABLE];

/** Tests that take a process of their own: they measure it, race in it, use it up or change what all of it shares. */
const ALONE = [
  'packages/sallyport/src/executors/{file/confinement,shell/transaction}/**/*.test.ts',
  'packages/sallyport/src/mcp-servers/{incoming,connection/listing}/**/*.test.ts',
  'packages/sallyport/src/storage/{memory/*,postgres/postgres-*,postgres/{embedded,rights,schema}/**/*}.test.ts',
  'packages/sandbox/src/{egress-gate,warm-pool,linux/{crash,limits}/**/*}.test.ts',
  'packages/sandbox/src/drivers/{bubblewrap,gvisor,kubernetes,microvm,wasm}/**/*.test.ts',
  'test/{conformance,mcp-conformance,adversarial,published}/**/*.test.ts',
  'test/e2e/{readme,running}/**/*.test.ts',
  '{examples/**/*,bench/gateway/**/*,bench/report/run}.test.ts',
];
/** Tests that start servers, sandboxes or the whole layer, and leave their process as it was. */
const TOGETHER = ['packages/sallyport/src/{compose,doors,executors,mcp-servers,reference-servers}/**/*.test.ts', 'test/e2e/**/*.test.ts'];
const EVERYTHING = ['{packages,test,scripts,examples}/**/*.test.ts', 'bench/{load,gateway,report}/**/*.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A machine under load takes its time; what comes at once is seen at once.
    expect: { poll: { timeout: 50_000 } },
    maxWorkers: 2,
    reporters: ['default', ...(countsFile === undefined ? [] : [testCountsReporter(countsFile)])],
    projects: [
      {
        extends: true,
        // Files share a thread and its modules: loading them once is most of the time. So no test may change global state.
        test: {
          name: 'fast',
          include: EVERYTHING,
          exclude: [...TOGETHER, ...ALONE],
          pool: 'threads',
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        // The same in processes: a layer takes three seconds to load, and half a second to open.
        test: {
          name: 'shared',
          include: TOGETHER,
          exclude: ALONE,
          pool: 'forks',
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'heavy', include: ALONE, pool: 'forks', isolate: true, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
