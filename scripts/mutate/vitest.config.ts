import { relative } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import type { TestSpecification } from 'vitest/node';
import tests from '../../vitest.config.ts';
import { ROOT } from '../project-files.ts';
import { instrument } from './instrument.ts';
import { readPlan } from './plan.ts';

const { files, testFiles, withHeavy } = readPlan();
const projects = (tests.test?.projects ?? []) as TestProjectInlineConfiguration[];
const places = new Map(testFiles.map((path, index) => [path, index]));

/** Nearest first: most mutants are killed by the tests beside them. */
class NearestFirst {
  sort(specifications: TestSpecification[]): TestSpecification[] {
    const place = ({ moduleId }: TestSpecification) => places.get(relative(ROOT, moduleId)) ?? testFiles.length;
    return specifications.sort((a, b) => place(a) - place(b));
  }

  shard(specifications: TestSpecification[]): TestSpecification[] {
    return specifications;
  }
}

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
    ...tests.test,
    reporters: ['dot'],
    maxWorkers: 1,
    runner: './scripts/mutate/runner.ts',
    sequence: { sequencer: NearestFirst },
    projects: projects
      .filter(({ test }) => withHeavy || test?.name !== 'heavy')
      .map((project) => ({ ...project, test: { ...project.test, pool: 'forks' } })),
  },
});
