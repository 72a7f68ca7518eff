import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createToolLayer, LOCAL_CALLER, silentLog } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { MAIN } from './sallyport-program.fixture.ts';

let bank: Server;
/** Payments that the bank has received and not yet answered, by path. */
const asked = new Map<string, ServerResponse>();
let folder: string;
let token: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  asked.clear();
  bank = createServer((request, response) => void asked.set(request.url ?? '', response));
  await new Promise<void>((done) => bank.listen(0, '127.0.0.1', done));
  folder = await temporaryDataFolder('sallyport-shutdown-');
  await using layer = await openAgain();
  const { port } = bank.address() as AddressInfo;
  for (const policy of ['irreversible', 'pure'] as const)
    await layer.ask('tools.register', { manifest: payTool(port, policy) }, LOCAL_CALLER);
  const mint = { agent_did: 'did:agent:a', roles: ['agent', 'operator'] as const, hosts: ['127.0.0.1'], ports: [port] };
  token = (await layer.mintToken({ ...mint, roles: [...mint.roles] })).capability_token;
});
afterEach(async () => {
  for (const response of asked.values()) response.destroy();
  if (child !== undefined && child.exitCode === null && child.signalCode === null) await ended(child, 'SIGKILL');
  child = undefined;
  bank.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

const openAgain = () => createToolLayer({ settings: { data_folder: folder }, log: silentLog, environment: {} });

const payTool = (port: number, policy: 'irreversible' | 'pure'): ToolManifest => ({
  tool_id: `pay_${policy}`,
  tool_name: 'Pay',
  version: '1.0.0',
  description: 'Pays.',
  side_effect_policy: policy,
  parameters_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  permissions: { network: [{ host: '127.0.0.1', port }] },
  executor: {
    kind: 'http',
    config: {
      base_url: `http://127.0.0.1:${port}`,
      method: 'POST',
      path: '/payments',
      parameters: [{ property: 'n', name: 'n', in: 'query', style: 'form', explode: true }],
    },
  },
});

/** Starts `sallyport serve` as its own process; resolves once the process is ready. */
async function serve(graceSeconds: number): Promise<{ url: string; process: ChildProcess }> {
  const started = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--data-folder', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      SALLYPORT_LOG_LEVEL: 'silent',
      SALLYPORT_SHUTDOWN_GRACE_SECONDS: String(graceSeconds),
      XDG_STATE_HOME: folder,
    },
  });
  child = started;
  for await (const chunk of started.stdout.setEncoding('utf8')) {
    const [, url] = /ready at (\S+)/.exec(String(chunk)) ?? [];
    if (url !== undefined) return { url, process: started };
  }
  throw new Error('the layer ended before it was ready');
}

function ended(of: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<unknown> {
  const exited = new Promise((resolve) => of.once('exit', resolve));
  of.kill(signal);
  return exited;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function callOverRest(url: string, policy: string, n: number): Promise<Answer> {
  const response = await fetch(`${url}/v1/invocations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ tool_id: `pay_${policy}`, invocation_id: `rest-${n}`, parameters: { n } }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function mcpClient(transport: Parameters<Client['connect']>[0]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return client;
}

const overHttp = (url: string): Promise<Client> =>
  mcpClient(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );

const pay = (client: Client, policy: string, n: number): Promise<unknown> =>
  client.callTool({ name: `pay_${policy}`, arguments: { n } });

/** Opens one connection that stays open; `ask` sends a request on it and returns the answer. */
function keptConnection(url: string): { socket: Socket; ask: (head: string) => Promise<string> } {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
  return {
    socket,
    ask: (head) =>
      new Promise((resolve, reject) => {
        let said = '';
        const onData = (text: string): void => {
          said += text;
          if (!/\r\n\r\n.*\}$/s.test(said)) return;
          socket.off('data', onData);
          resolve(said);
        };
        socket.on('data', onData);
        socket.once('error', reject);
        socket.once('close', () => reject(new Error('the connection was closed without an answer')));
        socket.write(`${head}\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`);
      }),
  };
}

const arrived = (...payments: number[]): Promise<unknown> =>
  expect.poll(() => [...asked.keys()].sort()).toEqual(payments.map((n) => `/payments?n=${n}`));

test('OPS-03.2 OPS-03.3 a layer that is told to stop says so, refuses new calls on kept connections, and lets running ones end', async () => {
  const { url, process: layer } = await serve(60);
  const kept = keptConnection(url);
  expect(await kept.ask('GET /readyz HTTP/1.1')).toMatch(/^HTTP\/1\.1 200 .*"ready":true/s);
  const client = await overHttp(url);
  const running = [callOverRest(url, 'irreversible', 1), pay(client, 'irreversible', 2)];
  await arrived(1, 2);

  const exited = ended(layer, 'SIGTERM');
  const ready = async (): Promise<unknown> => (await fetch(`${url}/readyz`)).json();
  const stopping = { ready: false, status: 'draining', reason: 'the layer is stopping' };
  await expect.poll(ready).toEqual(stopping);
  expect(await kept.ask('GET /readyz HTTP/1.1')).toMatch(/^HTTP\/1\.1 503 .*"ready":false/s);
  const refused = await kept.ask('GET /v1/tools HTTP/1.1');
  expect(refused).toMatch(/^HTTP\/1\.1 503 /);
  expect(refused.toLowerCase()).toContain('connection: close');
  expect(refused).toMatch(/application\/problem\+json.*retry-after: \d+.*"e_code":"E3811"/is);

  for (const response of asked.values()) response.setHeader('content-type', 'application/json').end('{"paid":true}');
  const [rest, mcp] = await Promise.all(running);
  expect(rest).toMatchObject({ status: 200, body: { status: 'success', result: { body: { paid: true } } } });
  expect(mcp).toMatchObject({ structuredContent: { body: { paid: true } } });
  await exited;
  await client.close();
  await using again = await openAgain();
  const record = await again.ask('invocations.get', { invocation_id: 'rest-1' }, { ...LOCAL_CALLER, token });
  expect(record).toMatchObject({ state: 'COMPLETED' });
}, 120_000);

test('OPS-03 what outlives the grace of its layer is cut with E3811, recorded and answered, whatever door it came by', async () => {
  const { url, process: layer } = await serve(0.3);
  const client = await overHttp(url);
  const running = [
    callOverRest(url, 'irreversible', 1),
    callOverRest(url, 'pure', 2),
    pay(client, 'irreversible', 3),
    pay(client, 'pure', 4),
  ];
  await arrived(1, 2, 3, 4);
  await ended(layer, 'SIGTERM');
  const [unknown, cut, unknownOverMcp, cutOverMcp] = await Promise.all(running);
  const outcomeUnknown = { e_code: 'E3804', details: { cut_off_by: 'E3811' } };
  expect(unknown).toMatchObject({ status: 502, body: { error: outcomeUnknown } });
  expect(cut).toMatchObject({ status: 503, body: { error: { e_code: 'E3811', retryable: true } } });
  expect(JSON.stringify(unknownOverMcp)).toContain('E3804');
  expect(JSON.stringify(cutOverMcp)).toContain('E3811');
  await client.close();
  await using again = await openAgain();
  const statusOf = (n: number) =>
    again.ask('invocations.get', { invocation_id: `rest-${n}` }, { ...LOCAL_CALLER, token });
  expect(await statusOf(1)).toMatchObject({ error: outcomeUnknown });
  expect(await statusOf(2)).toMatchObject({ error: { e_code: 'E3811' } });
}, 120_000);

test('PIPE-09.3 OPS-03 a call under a key whose connection broke is cut with the grace, and its retry gets that end', async () => {
  const { url, process: layer } = await serve(0.3);
  const request = {
    tool_id: 'pay_irreversible',
    parameters: { n: 5 },
    execution_options: { idempotency_key: 'broken' },
  };
  const connection = new AbortController();
  const broken = fetch(`${url}/v1/invocations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(request),
    signal: connection.signal,
  });
  await arrived(5);
  connection.abort();
  await expect(broken).rejects.toThrow();
  await ended(layer, 'SIGTERM');
  asked.clear();
  await using again = await openAgain();
  const retried = await again.invoke(request, { token });
  expect(retried).toMatchObject({ error: { e_code: 'E3804', details: { cut_off_by: 'E3811' } } });
  expect(asked.size).toBe(0);
}, 120_000);

test('OPS-03 a stdio client is answered before its layer ends: what runs ends, or is cut with E3811', async () => {
  for (const [grace, ends] of [
    ['60', true],
    ['0.3', false],
  ] as const) {
    asked.clear();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', '--data-folder', folder, '--token', token],
      env: { PATH: process.env['PATH'] ?? '', SALLYPORT_LOG_LEVEL: 'silent', SALLYPORT_SHUTDOWN_GRACE_SECONDS: grace },
    });
    const client = await mcpClient(transport);
    const running = pay(client, 'pure', 7);
    await arrived(7);
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    process.kill(transport.pid ?? 0, 'SIGTERM');
    if (ends) asked.get('/payments?n=7')?.setHeader('content-type', 'application/json').end('{"paid":true}');
    const answer = JSON.stringify(await running);
    expect(answer).toContain(ends ? '"paid":true' : 'E3811');
    await closed;
  }
}, 120_000);
