import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Desk, openDesk } from '../../e2e/calls/desk.fixture.ts';
import { installPublished } from '../installed.fixture.ts';
import { tableOfDocument } from '../written-table.ts';
import { differencesOf, withoutTimes } from './compare.ts';
import { type AllowedDifference, differencesTable, OF_LISTS, OF_RESULTS } from './differences.ts';
import { connectDirectly } from './direct.fixture.ts';
import { publishedServers } from './servers.ts';

/** A file for servers to read, with markup, quotes and characters outside of ASCII. */
const PAGE = '<!doctype html>\n<script>alert("x" + \'y\')</script>&amp; ✓ SELECT * FROM t WHERE 1=1; --\n';
const published = await installPublished();
const folder = await mkdtemp(join(tmpdir(), 'sallyport-published-'));
const servers = Object.entries(publishedServers(folder));
const used = new Set<AllowedDifference>();
let desk: Desk;
let ours: Client;

beforeEach((context) => {
  if ('reason' in published) context.skip(published.reason);
});
beforeAll(async () => {
  await writeFile(join(folder, 'page.html'), PAGE);
  if ('reason' in published) return;
  desk = await openDesk();
  ours = await desk.mcp(await desk.token(), () => ({ action: 'decline' }));
});
afterAll(async () => {
  await desk?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The folder of the packages; empty when they are not installed, and then the tests are skipped. */
const modules = (): string => ('modules' in published ? published.modules : '');

/** A desktop client's configuration file with all servers. */
function desktopConfiguration(): string {
  const entries = servers.map(([name, { program, args = [], env }]) => {
    const entry = { command: 'node', args: [join(modules(), program), ...args] };
    return [name, env === undefined ? entry : { ...entry, env }] as const;
  });
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

/** The differences that are not in the list of allowed ones. */
function unexplained(direct: unknown, layer: unknown, allowed: readonly AllowedDifference[]): string[] {
  return differencesOf(direct, layer).flatMap((difference) => {
    const known = allowed.find(({ covers }) => covers(difference, { layer }));
    if (known !== undefined) used.add(known);
    const told = [difference.direct, difference.layer].map((value) => JSON.stringify(value)?.slice(0, 200));
    return known === undefined ? [`${difference.path}: ${told.join(' became ')}`] : [];
  });
}

test('REG-14.2 one desktop configuration brings all twenty servers, and none of their tools waits', async () => {
  expect(servers).toHaveLength(20);
  const file = join(folder, 'desktop.json');
  await writeFile(file, desktopConfiguration());
  const { code, out, err } = await desk.cli(['upstreams', 'import', file]);
  expect([code, err.includes('left out')], err).toEqual([0, false]);
  for (const [name] of servers) expect(out).toContain(`${name}: ready`);
  expect((await desk.cli(['upstreams', 'quarantine'])).out).toContain('Nothing waits');
}, 180_000);

describe.each(servers)('the published server %s', (name, server) => {
  let direct: Client;
  beforeAll(async () => {
    if ('modules' in published) direct = await connectDirectly(server, published.modules, folder);
  });
  afterAll(() => direct?.close());

  test('EXE-07 is listed through the layer as it lists itself', async () => {
    const { tools } = await direct.listTools();
    const listed = new Map((await ours.listTools()).tools.map((tool) => [tool.name, tool]));
    const faults = tools.flatMap((tool) => {
      const found = unexplained(tool, listed.get(`${name}__${tool.name}`) ?? {}, OF_LISTS);
      return found.map((fault) => `${tool.name} ${fault}`);
    });
    expect(faults).toEqual([]);
    expect(tools.length).toBeGreaterThan(0);
  });

  test('EXE-07 answers through the layer as it answers without it', async () => {
    const faults: string[] = [];
    for (const { tool, args } of server.calls) {
      const given = { ...args };
      const expected = await direct.callTool({ name: tool, arguments: given });
      const answer = await ours.callTool({ name: `${name}__${tool}`, arguments: given });
      const found = unexplained(withoutTimes(expected), withoutTimes(answer), OF_RESULTS);
      faults.push(...found.map((fault) => `${tool} ${fault}`));
    }
    expect(faults).toEqual([]);
  });
});

test('EXE-07 the differences are those that docs/upstreams.md lists, and each of them is met', () => {
  const { said, found } = tableOfDocument('docs/upstreams.md', 'differences', differencesTable());
  expect(said).toBe(found);
  expect([...OF_LISTS, ...OF_RESULTS].filter((difference) => !used.has(difference))).toEqual([]);
});
