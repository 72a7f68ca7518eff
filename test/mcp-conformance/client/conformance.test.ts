import { expect, test } from 'vitest';
import { runSuite } from './suite.fixture.ts';

for (const revision of ['2025-11-25', '2026-07-28']) {
  test(`the layer as client meets what ${revision} requires`, async () => {
    const { verdicts, output, failures, exitCode } = await runSuite(revision);
    if (process.env['SHOW']) console.log(output.slice(-6000), failures);
    const failed = [...verdicts].filter(([, verdict]) => verdict.failed > 0).map(([name]) => name);
    expect(failed).toEqual([]);
    expect(exitCode).toBe(0);
  });
}
