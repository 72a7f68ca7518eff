import { expect, test } from 'vitest';
import { scenariosOf } from '../suite.fixture.ts';
import { playScenario } from './layer-as-client.ts';
import { runClientSuite } from './suite.fixture.ts';

/** Scenarios that a revision requires of a client. */
const SCORED = { '2025-11-25': 18, '2026-07-28': 32 } as const;

for (const revision of ['2025-11-25', '2026-07-28'] as const) {
  const clause = revision === '2025-11-25' ? 'API-03.4' : 'API-03.5';
  test(`EXE-07.12 ${clause} the layer as client passes every scenario of the public suite for ${revision}`, async () => {
    const { counted, others } = scenariosOf(revision, 'client');
    expect(counted).toHaveLength(SCORED[revision]);
    const { verdicts, exitCode, failures, output } = await runClientSuite(['--requirements', revision], playScenario);
    const failed = [...verdicts].filter(([, verdict]) => verdict.failed > 0).map(([name]) => name);
    expect(failed, JSON.stringify([...failures], null, 2) + output.slice(-4_000)).toEqual([]);
    expect([...verdicts.keys()].sort()).toEqual([...counted, ...others].sort());
    expect(exitCode).toBe(0);
    // A scenario without a check proves nothing.
    expect([...verdicts].filter(([, verdict]) => verdict.passed === 0)).toEqual([]);
  });
}
