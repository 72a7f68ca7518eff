import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createToolLayer, LOCAL_CALLER, silentLog } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { MAIN } from './sallyport-program.fixture.ts';

/** Desktop clients start one process for each window. */
const WINDOWS = 4;
const ECHO: ToolManifest = {
  tool_id: 'echo',
  tool_name: 'Echo',
  version: '1.0.0',
  description: 'Says a word.',
  side_effect_policy: 'pure',
  parameters_schema: {
    type: 'object',
    properties: { word: { type: 'string', description: 'The word.' } },
    required: ['word'],
    additionalProperties: false,
  },
  executor: { kind: 'shell', config: { command: ['echo', '{word}'] } },
};

let folder: string;
const windows: Window[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-windows-'));
});
afterEach(async () => {
  for (const { client } of windows.splice(0)) await client.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Window {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  readonly ended: Promise<void>;
  said(): string;
}

/** Opens a client that starts a process of its own. */
async function openWindow(): Promise<Window> {
  const { PATH = '' } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp'],
    cwd: folder,
    env: { PATH, HOME: folder, XDG_STATE_HOME: join(folder, 'state') },
    stderr: 'pipe',
  });
  let err = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const client = new Client({ name: 'window', version: '1.0.0' });
  const ended = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  await client.connect(transport);
  const window = { client, transport, ended, said: () => err };
  windows.push(window);
  return window;
}

const openAll = () => Promise.all(Array.from({ length: WINDOWS }, openWindow));
/** The window whose process opened the layer; every other process soon logs that it found that layer. */
async function openerOf(all: readonly Window[]): Promise<Window | undefined> {
  const openers = () => all.filter(({ said }) => !said().includes('answers here'));
  await expect.poll(() => openers().length).toBe(1);
  return openers()[0];
}

async function expectAnswers({ client }: Window, word: string): Promise<void> {
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
  expect(JSON.stringify(await client.callTool({ name: 'echo', arguments: { word } }))).toContain(word);
}

test('API-05 of several sallyport mcp that start at once in an empty folder one opens the layer, and the others go through it', async () => {
  const all = await openAll();
  await openerOf(all);
  await Promise.all(all.map(({ client }) => client.listTools()));
  expect((await readdir(join(folder, '.sallyport'))).filter((name) => name.startsWith('instance-id'))).toEqual([
    'instance-id',
  ]);
}, 120_000);

test('API-05 when the process that opened the layer is killed, the others say so and end, and what is started anew answers', async () => {
  {
    const settings = { data_folder: join(folder, '.sallyport') };
    await using layer = await createToolLayer({ settings, log: silentLog, environment: {} });
    await layer.ask('tools.register', { manifest: ECHO }, LOCAL_CALLER);
  }
  const all = await openAll();
  await Promise.all(all.map((window, at) => expectAnswers(window, `word-${at}`)));
  const first = await openerOf(all);
  if (first?.transport.pid == null) throw new Error('no process opened the layer');
  process.kill(first.transport.pid, 'SIGKILL');
  await Promise.all(all.map(({ ended }) => ended));
  for (const each of all) if (each !== first) expect(each.said()).toContain('Start this server anew');
  // Starts the processes again, as clients do after theirs ended.
  const again = await openAll();
  await Promise.all(again.map((window, at) => expectAnswers(window, `again-${at}`)));
}, 120_000);

test('API-05 when the client that opened the layer leaves, the others learn it too', async () => {
  const all = await openAll();
  const first = await openerOf(all);
  await first?.client.close();
  await Promise.all(all.map(({ ended }) => ended));
  for (const each of all) if (each !== first) expect(each.said()).toContain('Start this server anew');
}, 120_000);
