// npm run check: what can be said of the code without running it. Each check is one line; a failed one shows its output.
import { runCommand } from './run-command.ts';

/** One check of the code. */
interface Check {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Takes seconds, so that it runs beside the tests of a change too. */
  readonly isQuick?: true;
  /** A fault that the program itself does not see, from its output. */
  readonly faultIn?: (output: string) => string | undefined;
}

/** Fewer modules than this mean that the parser read nothing: then every import rule would hold. */
const MODULES_MIN = 40;
const CHECK_TIMEOUT_MS = 300_000;
/** Most of the programs use several threads themselves. */
const AT_ONCE = 2;
const LINES_MAX = 150;

const CHECKS: readonly Check[] = [
  { name: 'types', command: ['tsc', '--noEmit', '-p', '.'], isQuick: true },
  { name: 'lint', command: ['biome', 'check', '--error-on-warnings', '.'], isQuick: true },
  { name: 'imports', command: ['depcruise', 'packages'], faultIn: tooFewModules },
  { name: 'dead code', command: ['knip', '--no-progress'] },
  { name: 'tidy', command: ['vitest', 'run', 'test/tidy.test.ts', 'test/requirements.test.ts'] },
];

/** How many checks held. */
export interface CheckCounts {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Runs the checks and prints a line for each.
 * @param which `all` checks; `no tests`: without the checks that a test run repeats; `quick`: only the checks that take seconds
 */
export async function runChecks(which: 'all' | 'no tests' | 'quick' = 'all'): Promise<CheckCounts> {
  const open = CHECKS.filter(
    ({ command, isQuick }) => which === 'all' || (which === 'quick' ? isQuick === true : command[0] !== 'vitest'),
  );
  const all = open.length;
  let passed = 0;
  const worker = async () => {
    for (let check = open.shift(); check !== undefined; check = open.shift()) if (await holds(check)) passed += 1;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { passed, failed: all - passed };
}

async function holds({ name, command, faultIn }: Check): Promise<boolean> {
  const begin = performance.now();
  const { code, output } = await runCommand(command, { timeoutMs: CHECK_TIMEOUT_MS });
  const fault = code === 0 ? faultIn?.(output) : shortened(output, command) || `${command[0]} ended with ${code}`;
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(`${fault === undefined ? 'ok    ' : 'failed'}  ${name.padEnd(10)} ${seconds.padStart(5)} s`);
  if (fault !== undefined) console.log(`${fault}\n`);
  return fault === undefined;
}

function shortened(output: string, command: readonly string[]): string {
  const lines = output.trim().split('\n');
  if (lines.length <= LINES_MAX) return lines.join('\n');
  return [
    ...lines.slice(0, LINES_MAX),
    `… and ${lines.length - LINES_MAX} more lines; see npx ${command.join(' ')}`,
  ].join('\n');
}

function tooFewModules(output: string): string | undefined {
  const count = Number(/\((\d+) modules/.exec(output)?.[1] ?? 0);
  return count > MODULES_MIN
    ? undefined
    : `dependency-cruiser read ${count} modules, more than ${MODULES_MIN} expected`;
}

if (import.meta.main) {
  const { failed } = await runChecks();
  if (failed > 0) process.exitCode = 1;
}
