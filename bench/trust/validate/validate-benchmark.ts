import type { BenchmarkRun } from '../../report/benchmark.ts';
import type { Figure } from '../../report/figure.ts';
import { measureChecks } from './measure-checks.ts';
import { measureCoercion } from './measure-coercion.ts';
import { measurePatterns } from './measure-patterns.ts';
import { measureSuite } from './measure-suite.ts';

/** Checks and compiling beside Ajv, the JSON Schema Test Suite, patterns that hang others, and conversions. */
export async function runValidate({ seconds, tell }: BenchmarkRun): Promise<readonly Figure[]> {
  tell('checks, ours and Ajv in turns');
  const checks = measureChecks(seconds);
  tell('the JSON Schema Test Suite');
  const suite = measureSuite(tell);
  tell('patterns');
  return [...checks, ...suite, ...measurePatterns(tell), ...measureCoercion(tell)];
}
