import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createToolLayer, LOCAL_CALLER, serve, silentLog } from '../../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../../packages/sallyport/src/manifest.ts';
import { temporaryDataFolder } from '../../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { MAIN } from '../../running/sallyport-program.fixture.ts';
import { clientOf, type Elicited, toolOf } from '../desk.fixture.ts';

/** Paths of the requests that the stand-in for a post office received. */
const posted: (string | undefined)[] = [];
let post: Server;
let folder: string;
let token: string;
const opened: AsyncDisposable[] = [];
const clients: Client[] = [];

beforeAll(async () => {
  post = createServer((request, response) => {
    posted.push(request.url);
    response.setHeader('content-type', 'application/json').end('{"sent":true}');
  });
  await new Promise<void>((done) => post.listen(0, '127.0.0.1', done));
  const { port } = post.address() as AddressInfo;
  folder = await temporaryDataFolder('sallyport-stdio-');
  await using layer = await createToolLayer({ settings: { data_folder: folder }, log: silentLog, environment: {} });
  await layer.ask('tools.register', { manifest: sendTool(port) }, LOCAL_CALLER);
  const mint = { agent_did: 'did:agent:a', user_did: 'did:user:u', hosts: ['127.0.0.1'], ports: [port] };
  token = (await layer.mintToken(mint)).capability_token;
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
  posted.length = 0;
});
afterAll(async () => {
  post.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** A tool that sends something, after the user confirmed the call. */
const sendTool = (port: number): ToolManifest => ({
  tool_id: 'send',
  tool_name: 'Send',
  version: '1.0.0',
  description: 'Sends something.',
  side_effect_policy: 'irreversible',
  requires_confirmation: true,
  parameters_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  permissions: { network: [{ host: '127.0.0.1', port }] },
  executor: {
    kind: 'http',
    config: {
      base_url: `http://127.0.0.1:${port}`,
      method: 'POST',
      path: '/letters',
      parameters: [{ property: 'n', name: 'n', in: 'query', style: 'form', explode: true }],
    },
  },
});

/** The tool under test alone. */
const ALONE = { SALLYPORT_DOCUMENTS_EMBEDDED: 'off', SALLYPORT_CONTEXT_EMBEDDED: 'off' };

/** A client that starts `sallyport mcp` as desktop clients do. */
async function desktop(
  onElicit?: (params: Elicited) => object,
  more: readonly string[] = [],
  settings: Readonly<Record<string, string>> = ALONE,
): Promise<Client> {
  const client = clientOf(onElicit);
  clients.push(client);
  const args = [MAIN, 'mcp', '--data-folder', folder, ...more];
  const env = { SALLYPORT_TOKEN: token, SALLYPORT_LOG_LEVEL: 'silent', ...settings };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args,
      env: { ...process.env, ...env } as Record<string, string>,
    }),
  );
  return client;
}

const yes = { action: 'accept', content: { confirm: true } };

describe.each(['in its own process', 'beside a layer that serves already'])(
  'sallyport mcp %s',
  (where) => {
    const begin = async (): Promise<void> => {
      if (where === 'in its own process') return;
      const layer = await createToolLayer({ settings: { data_folder: folder }, log: silentLog, environment: {} });
      opened.push(layer, await serve(layer, { port: 0 }));
    };

    test('VIS-06 API-03.8 the user confirms at a client on standard input and output', async () => {
      await begin();
      const asked: string[] = [];
      const client = await desktop(({ message }) => {
        asked.push(message);
        return yes;
      });
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['send']);
      const sent = await client.callTool({ name: 'send', arguments: { n: 1 } });
      expect(JSON.stringify(sent)).toContain('"sent":true');
      expect(asked).toHaveLength(1);
      expect(posted).toEqual(['/letters?n=1']);
    });

    test('VIS-06 a no ends the call, and a client that cannot be asked leaves it waiting', async () => {
      await begin();
      const client = await desktop(() => ({ action: 'decline' }));
      const declined = await client.callTool({ name: 'send', arguments: { n: 2 } });
      expect(declined).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3807' } } });
      await client.close();
      const mute = await desktop();
      const waiting = await mute.callTool({ name: 'send', arguments: { n: 3 } });
      expect(waiting).toMatchObject({ isError: true, _meta: { status: 'pending_approval' } });
      expect(posted).toEqual([]);
    });
  },
  120_000,
);

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

test('API-03.8 API-03.10 a task of 2026-07-28 is followed over standard input and output of a layer that serves already', async () => {
  const layer = await createToolLayer({ settings: { data_folder: folder }, log: silentLog, environment: {} });
  opened.push(layer, await serve(layer, { port: 0 }));
  const required = { side_effect_policy: 'pure' as const, execution_config: { task_support: 'required' as const } };
  await layer.registerFunction(toolOf('report', required), ({ n }) => ({ pages: n }));
  const args = [MAIN, 'mcp', '--data-folder', folder];
  const env = { ...process.env, SALLYPORT_TOKEN: token, SALLYPORT_LOG_LEVEL: 'silent' };
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope } })}\n`);
    return JSON.parse((await lines.next()).value as string) as { result: Record<string, unknown> };
  };
  const { result } = await ask(1, 'tools/call', { name: 'report', arguments: { n: 7 } });
  expect(result).toMatchObject({ resultType: 'task' });
  const taskId = String(result['taskId']);
  await expect.poll(async () => (await ask(2, 'tasks/get', { taskId })).result?.['status']).toBe('completed');
  expect(await ask(3, 'tasks/cancel', { taskId })).toMatchObject({ result: { resultType: 'complete' } });
  child.stdin.end();
  await once(child, 'exit');
});

// The last one: the folder has the upstream from here on.
test('DOC-01.4 the document server alone is at the other end of standard input and output', async () => {
  const client = await desktop(undefined, ['--server', 'documents'], { SALLYPORT_SEARCH_EMBEDDER: 'none' });
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain('ingest_document');
  expect(names).not.toContain('send');
  const document = { document_id: 'guide', content: 'Penguins swim.' };
  const ingested = await client.callTool({ name: 'ingest_document', arguments: document });
  expect(ingested).toMatchObject({ structuredContent: { outcome: 'created', document: { version: '1' } } });
  const { contents } = await client.readResource({ uri: 'document://guide' });
  expect(contents).toMatchObject([{ uri: 'document://guide', text: 'Penguins swim.' }]);
});
