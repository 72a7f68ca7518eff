import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { openLayer } from '../../e2e/layer.fixture.ts';
import { KNOWN_FAILURES } from './known-failures.ts';
import { failuresIn, type Revision, runSuite } from './run-suite.fixture.ts';
import { withToken } from './with-token.fixture.ts';

const SERVER = join(import.meta.dirname, 'reference/reference-server.ts');

/** The revisions, the arguments of a reference server that speaks them, and the number of scenarios. */
const REVISIONS: readonly (readonly [Revision, readonly string[], number])[] = [
  ['2025-11-25', ['older'], 33],
  ['2026-07-28', [], 50],
];

test.each(REVISIONS)(
  'API-03 the public suite for %s passes through the layer, except for what is known to be missing',
  async (revision, args, scenarios) => {
    await using open = await openLayer();
    const transport = { type: 'stdio' as const, command: process.execPath, args: [SERVER, ...args] };
    await open.layer.ask('upstreams.add', { upstream: { name: 'reference', transport } }, LOCAL_CALLER);
    await using proxy = await withToken(open.server.url, open.token);
    const checks = await runSuite(`${proxy.url}/mcp/servers/reference`, revision);
    expect(checks.size).toBe(scenarios);
    const failed = failuresIn(checks);
    const known = KNOWN_FAILURES[revision];
    const unexpected = [...failed].filter(([scenario]) => known[scenario] === undefined);
    expect(unexpected).toEqual([]);
    expect(Object.keys(known).filter((scenario) => !failed.has(scenario))).toEqual([]);
  },
  180_000,
);
