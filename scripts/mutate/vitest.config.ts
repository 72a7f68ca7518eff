import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import tests from '../../vitest.config.ts';
import { ROOT } from '../project-files.ts';
import { instrument } from './instrument.ts';
import { readPlan } from './plan.ts';

const { files, testFiles } = readPlan();
const { projects: _, ...common } = tests.test ?? {};

export default defineConfig({
  root: ROOT,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform(source, id) {
        const mutants = files[relative(ROOT, id)];
        return mutants === undefined ? undefined : { code: instrument(source, mutants), map: null };
      },
    },
  ],
  test: {
    ...common,
    // The plugin above changes what Vite's runner loads.
    experimental: { viteModuleRunner: true },
    reporters: ['dot'],
    include: testFiles.slice(0, 1),
    pool: 'forks',
    isolate: false,
    runner: './scripts/mutate/runner.ts',
  },
});
