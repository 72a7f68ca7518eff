import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../../../packages/sallyport/api/schemas/upstream.ts';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { type Desk, openDesk } from '../desk.fixture.ts';
import { ORDINARY_VALUES } from './values/ordinary-values.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** A real MCP server, and one of its tools with the arguments into which a test value is put. */
interface Carrier {
  readonly server: string;
  /** Path of the server's program below node_modules. */
  readonly program: string;
  readonly args?: (folder: string) => readonly string[];
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
  readonly tool: string;
  readonly argumentsOf: (value: string, n: number, folder: string) => Arguments;
}

const CARRIERS: readonly Carrier[] = [
  {
    server: 'files',
    program: '@modelcontextprotocol/server-filesystem/dist/index.js',
    args: (folder) => [folder],
    tool: 'write_file',
    argumentsOf: (content, n, folder) => ({ path: join(folder, `${n}.txt`), content }),
  },
  {
    server: 'everything',
    program: '@modelcontextprotocol/server-everything/dist/index.js',
    args: () => ['stdio'],
    tool: 'echo',
    argumentsOf: (message) => ({ message }),
  },
  {
    server: 'memory',
    program: '@modelcontextprotocol/server-memory/dist/index.js',
    env: (folder) => ({ MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }),
    tool: 'create_entities',
    argumentsOf: (value, n) => ({ entities: [{ name: `value ${n}`, entityType: 'value', observations: [value] }] }),
  },
  {
    server: 'thinking',
    program: '@modelcontextprotocol/server-sequential-thinking/dist/index.js',
    env: () => ({ DISABLE_THOUGHT_LOGGING: 'true' }),
    tool: 'sequentialthinking',
    argumentsOf: (thought) => ({ thought, nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
  },
  {
    server: 'bank',
    program: '@allpepper/memory-bank-mcp/dist/main/index.js',
    env: (folder) => ({ MEMORY_BANK_ROOT: folder }),
    tool: 'memory_bank_write',
    argumentsOf: (content, n) => ({ projectName: 'work', fileName: `${n}.md`, content }),
  },
];

let desk: Desk;
let client: Client;
beforeAll(async () => {
  desk = await openDesk({ settings: { 'calls.per_agent_max': 64 } });
  for (const carrier of CARRIERS) await add(carrier);
  client = await desk.mcp(await desk.token());
});
afterAll(async () => {
  await desk?.[Symbol.asyncDispose]();
  for (const carrier of CARRIERS) await rm(folderOf(carrier), { recursive: true, force: true });
});

const folderOf = ({ server }: Carrier): string => join(tmpdir(), `${desk.folder.split('/').at(-1)}-${server}`);
const logOf = (carrier: Carrier): string => join(folderOf(carrier), 'input.log');

async function add(carrier: Carrier): Promise<void> {
  const { server, program, args, env } = carrier;
  const folder = folderOf(carrier);
  await mkdir(folder, { recursive: true });
  const command = ['node', resolve('node_modules', program), ...(args?.(folder) ?? [])];
  const upstream: UpstreamDefinition = {
    name: server,
    transport: {
      type: 'stdio',
      command: 'node',
      args: [resolve(import.meta.dirname, 'keep-input.mjs'), logOf(carrier), ...command],
      env: { ...env?.(folder) },
      mounts: [
        { path: folder, mode: 'rw' },
        { path: process.cwd(), mode: 'ro' },
      ],
    },
  };
  await desk.layer.ask('upstreams.add', { upstream }, LOCAL_CALLER);
}

/** The arguments of all calls that the server read, byte by byte as the server received them. */
async function argumentsRead(carrier: Carrier): Promise<Arguments[]> {
  const lines = (await readFile(logOf(carrier), 'utf8')).split('\n').filter((line) => line !== '');
  return lines
    .map((line) => JSON.parse(line) as { method?: string; params?: { arguments?: Arguments } })
    .filter(({ method }) => method === 'tools/call')
    .map(({ params }) => params?.arguments ?? {});
}

describe('VAL-04 ordinary work reaches real servers as it was given, and none of it is refused', () => {
  test('there are more than 200 different values', () => {
    expect(new Set(ORDINARY_VALUES).size).toBeGreaterThan(200);
  });

  test.concurrent.each(CARRIERS)('VAL-04.6 $tool of $server', { timeout: 400_000 }, async (carrier) => {
    const folder = folderOf(carrier);
    const given = ORDINARY_VALUES.map((value, n) => carrier.argumentsOf(value, n, folder));
    const failed: unknown[] = [];
    for (const each of given) {
      const answer = await client.callTool({ name: `${carrier.server}__${carrier.tool}`, arguments: each });
      if (answer.isError === true) failed.push([each, answer.content]);
    }
    expect(failed).toEqual([]);
    expect(await argumentsRead(carrier)).toEqual(given);
  });

  test('what was written is on the disk, byte by byte', () => {
    for (const [server, place] of [
      ['files', (n: number) => `${n}.txt`],
      ['bank', (n: number) => join('work', `${n}.md`)],
    ] as const) {
      const folder = folderOf(CARRIERS.find((each) => each.server === server) as Carrier);
      for (const [n, value] of ORDINARY_VALUES.entries()) {
        expect(readFileSync(join(folder, place(n))).equals(Buffer.from(value)), value).toBe(true);
      }
    }
  });
});
