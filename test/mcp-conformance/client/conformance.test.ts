import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runSuite } from './suite.fixture.ts';

/** The client scenarios of a revision, as the suite has them written down: those that it counts, and the others. */
function requirementsOf(revision: string) {
  const file = `../../../node_modules/@modelcontextprotocol/conformance/requirements/${revision}.yaml`;
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  const counted = /^client:\n((?: {2}- .+\n)+)/m.exec(text)?.[1] ?? '';
  return {
    client: [...counted.matchAll(/- (\S+)/g)].map(([, name]) => name as string),
    optional: [...text.matchAll(/- scenario: (\S+)\n +leg: client/g)].map(([, name]) => name as string),
  };
}

/** Scenarios that a revision requires of a client. */
const SCORED = { '2025-11-25': 18, '2026-07-28': 32 } as const;

for (const revision of ['2025-11-25', '2026-07-28'] as const) {
  const clause = revision === '2025-11-25' ? 'API-03.4' : 'API-03.5';
  test(`EXE-07.12 ${clause} the layer as client passes every scenario of the public suite for ${revision}`, async () => {
    const { client, optional } = requirementsOf(revision);
    expect(client).toHaveLength(SCORED[revision]);
    const { verdicts, exitCode, failures, output } = await runSuite(revision);
    const failed = [...verdicts].filter(([, verdict]) => verdict.failed > 0).map(([name]) => name);
    expect(failed, JSON.stringify([...failures], null, 2) + output.slice(-4_000)).toEqual([]);
    expect([...verdicts.keys()].sort()).toEqual([...client, ...optional].sort());
    expect(exitCode).toBe(0);
    // A scenario without a check proves nothing.
    expect([...verdicts].filter(([, verdict]) => verdict.passed === 0)).toEqual([]);
  });
}
