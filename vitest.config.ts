import { defineConfig } from 'vitest/config';
import { COUNTS_FILE_VARIABLE, testCountsReporter } from './scripts/test-counts.ts';

const countsFile = process.env[COUNTS_FILE_VARIABLE];

/** Tests that start databases, sandboxes, servers or the whole layer. Each file has a process of its own. */
const HEAVY = [
  'packages/sallyport/src/{compose,doors,executors,mcp-servers,storage}/**/*.test.ts',
  'packages/sandbox/**/*.test.ts',
  'test/{e2e,conformance,adversarial,published}/**/*.test.ts',
  '{examples,bench/gateway,bench/report}/**/*.test.ts',
];
const EVERYTHING = ['{packages,test,scripts,examples}/**/*.test.ts', 'bench/{load,gateway,report}/**/*.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: ['default', ...(countsFile === undefined ? [] : [testCountsReporter(countsFile)])],
    projects: [
      {
        extends: true,
        // Files share a thread and its modules: loading them once is most of the time. So no test may change global state.
        test: {
          name: 'fast',
          include: EVERYTHING,
          exclude: HEAVY,
          pool: 'threads',
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'heavy', include: HEAVY, pool: 'forks', isolate: true, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
