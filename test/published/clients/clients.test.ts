import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { ROOT } from '../../../scripts/project-files.ts';
import { type Desk, openDesk } from '../../e2e/calls/desk.fixture.ts';
import { installPublished } from '../installed.fixture.ts';
import { tableOfDocument } from '../written-table.ts';
import { cell, FEATURES, type Seen } from './features.ts';

const MAIN = join(ROOT, 'packages/sallyport/src/compose/main.ts');
const SERVER = join(import.meta.dirname, 'feature-server.mjs');
const UPSTREAM = 'features';
/** The program in this folder for each client, and the name of the client in the table. */
const CLIENTS = {
  'sdk-v1': '`@modelcontextprotocol/sdk` 1',
  'sdk-v2': '`@modelcontextprotocol/client` 2',
  'inspector-cli': '`inspector --cli`',
  langchain: '`@langchain/mcp-adapters`',
  'ai-sdk': '`@ai-sdk/mcp`',
  'openai-agents': '`@openai/agents`',
} as const;
type ClientName = keyof typeof CLIENTS;

const run = promisify(execFile);
const published = await installPublished();
const columns = new Map<ClientName, readonly string[]>();
let desk: Desk;
let token: string;

beforeEach((context) => {
  if ('reason' in published) context.skip(published.reason);
});
beforeAll(async () => {
  if ('reason' in published) return;
  desk = await openDesk();
  token = await desk.token();
});
afterAll(() => desk?.[Symbol.asyncDispose]());

/** Adds the server anew, so that the client is the first to use it. */
async function addServer(): Promise<void> {
  const transport = { type: 'stdio' as const, command: 'node', args: [SERVER] };
  await desk.layer.ask('upstreams.remove', { name: UPSTREAM }, LOCAL_CALLER).catch(() => undefined);
  await desk.layer.ask('upstreams.add', { upstream: { name: UPSTREAM, transport } }, LOCAL_CALLER);
}

/** Runs a client's program; returns what the client shows of the server at `target`. */
async function drive(client: ClientName, target: object): Promise<Seen> {
  const program = join(import.meta.dirname, `${client}.mjs`);
  const { stdout } = await run(process.execPath, [program, JSON.stringify(target)], { maxBuffer: 16 * MiB });
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n'))) as Seen;
}

test.each(Object.keys(CLIENTS) as ClientName[])(
  'API-03.9 the published client %s works over HTTP and stdio',
  async (client) => {
    const direct = await drive(client, { prefix: '', command: process.execPath, args: [SERVER] });
    const prefix = `${UPSTREAM}__`;
    await addServer();
    const http = await drive(client, { prefix, url: `${desk.server.url}/mcp`, token });
    const env = { SALLYPORT_TOKEN: token, SALLYPORT_LOG_LEVEL: 'silent' };
    const args = [MAIN, 'mcp', '--data-folder', desk.folder];
    await addServer();
    const stdio = await drive(client, { prefix, command: process.execPath, args, env });
    columns.set(
      client,
      FEATURES.map((feature) => cell(feature, direct, http, stdio)),
    );
    for (const seen of [http, stdio]) expect(seen['structured'], JSON.stringify(seen)).toBeDefined();
  },
  120_000,
);

test('API-03 what clients show of each feature is what docs/mcp.md says', () => {
  const names = Object.keys(CLIENTS) as ClientName[];
  // A column that a failed test left out must not reach the document.
  expect([...columns.keys()].sort()).toEqual(names.toSorted());
  const rows = FEATURES.map(({ name }, row) => [name, ...names.map((client) => columns.get(client)?.[row])]);
  const lines = [['Feature', ...names.map((client) => CLIENTS[client])], ['---', ...names.map(() => '---')], ...rows];
  const { said, found } = tableOfDocument(
    'docs/mcp.md',
    'clients',
    lines.map((line) => `| ${line.join(' | ')} |`),
  );
  expect(found).toBe(said);
});
