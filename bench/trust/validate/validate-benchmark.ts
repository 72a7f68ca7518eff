import type { BenchmarkRun } from '../../report/benchmark.ts';
import type { Figure } from '../../report/figure.ts';
import { measureChecks } from './measure-checks.ts';
import { measureCoercion } from './measure-coercion.ts';
import { measurePatterns } from './measure-patterns.ts';
import { measureSuite } from './measure-suite.ts';

/** Checks and compiling beside Ajv, the JSON Schema Test Suite, patterns that hang others, and conversions. */
export async function runValidate({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  report('checks, ours and Ajv in turns');
  const checks = measureChecks(seconds);
  report('the JSON Schema Test Suite');
  const suite = measureSuite(report);
  report('patterns');
  return [...checks, ...suite, ...measurePatterns(report), ...measureCoercion(report)];
}
