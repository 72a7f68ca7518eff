// npm test [-- arguments of vitest]: checks, then tests. The last line is `N passed, N failed[, N skipped]`; a check counts as
// one. With --changed[=<commit>] the checks that take seconds, then the tests of what was changed since the commit.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from './check.ts';
import { ensureSystemPackages } from './machine/system-packages.ts';
import { keepLastRun } from './requirements/last-run.ts';
import { runCommand } from './run-command.ts';
import { COUNTS_FILE_VARIABLE, closingLine, type TestCounts, type TestRun } from './test-run/test-counts.ts';

const packages = await ensureSystemPackages({ install: true });
for (const entry of packages.installed) console.log(`installed ${entry.package}: ${entry.purpose}`);
if (packages.advice !== undefined) console.log(`${packages.advice}\n`);

const args = process.argv.slice(2);
const checks = await runChecks(args.some((arg) => /^--changed(?:=|$)/.test(arg)) ? 'quick' : 'no tests');
const tests = await runTests(args);
const failed = checks.failed + tests.failed;
console.log(closingLine({ passed: checks.passed + tests.passed, failed, skipped: tests.skipped }));
process.exitCode = failed === 0 ? 0 : 1;

async function runTests(args: readonly string[]): Promise<TestCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'test-counts-'));
  const file = join(folder, 'counts.json');
  try {
    const { code } = await runCommand(['vitest', 'run', ...args], {
      passOn: true,
      env: { [COUNTS_FILE_VARIABLE]: file },
    });
    const counts = countsIn(file);
    if (args.length === 0 && 'names' in counts) keepLastRun(counts.names);
    // An end that vitest calls bad without a failed test (nothing found, a crash) is a failure too.
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A run that left no counts did not come to its end. */
function countsIn(file: string): TestCounts | TestRun {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
