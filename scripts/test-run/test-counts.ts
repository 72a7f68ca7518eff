import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** How many tests ended how. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Names of tests, without the groups that they stand in. */
export interface TestNames {
  readonly ran: readonly string[];
  /** Tests that skipped themselves, or that are switched off. */
  readonly skipped: readonly string[];
}

/** What a run leaves. */
export type TestRun = TestCounts & { readonly names: TestNames };

/** Variable with the path of the file that takes the counts of a run. */
export const COUNTS_FILE_VARIABLE = 'TEST_COUNTS_FILE';

/** A vitest reporter that leaves counts and names of the run (TestRun), as JSON, in the file that the environment names. */
export function testCountsReporter(file: string): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      writeFileSync(file, JSON.stringify({ ...countTests(modules, unhandledErrors), names: namesOf(modules) }));
    },
  };
}

/**
 * Counts tests. A file that cannot be loaded, a group whose hook fails and an error outside of any test count as one failed
 * test each: else they would be silent.
 */
function countTests(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): TestCounts {
  const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
  for (const module of modules) {
    const groups = [module, ...module.children.allSuites()];
    counts.failed += groups.filter((group) => group.errors().length > 0).length;
    for (const test of module.children.allTests()) counts[test.result().state] += 1;
  }
  const { passed, failed, skipped, pending } = counts;
  return { passed, failed: failed + pending, skipped };
}

function namesOf(modules: readonly TestModule[]): TestNames {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const names = (isSkipped: boolean) =>
    tests.filter((test) => (test.result().state === 'skipped') === isSkipped).map(({ name }) => name);
  return { ran: names(false), skipped: names(true) };
}

/** The last line of a test run. */
export function closingLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
