import { readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createToolLayer, LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const MAIL = 'ann.lee@example.org';
const CARD = '4539 1488 0343 6467';
const TOKEN = `gh${'p_'}${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
const PASSWORD = 'h0rse!battery';

let opened: OpenLayer;
beforeAll(async () => {
  opened = await openLayer({ 'redact.fields': ['badge'] });
});
afterAll(() => opened[Symbol.asyncDispose]());

/** Text of the audit file, once it holds the newest event of the ledger: the file is written later than the ledger. */
async function auditFile(): Promise<string> {
  const { events } = await opened.layer.ask('audit.query', { newest: true, limit: 1 }, LOCAL_CALLER);
  return vi.waitFor(async () => {
    const text = await readFile(join(opened.folder, 'audit.jsonl'), 'utf8');
    expect(text).toContain(events[0]?.id);
    return text;
  }, 50_000);
}

test('AUD-04.4 AUD-02.3 what callers, tools and operators say in passing stays out of rows, events and files, and the audit is whole', async () => {
  const { layer } = opened;
  const { capability_token } = await layer.mintToken({ user_did: `did:user:${MAIL}`, session_id: `card ${CARD}` });
  const fails = { name: 'fails', description: 'Fails.', input: { type: 'object' }, sideEffect: 'pure' } as const;
  await layer.registerFunction(fails, () => {
    throw new Error(`login with password = "${PASSWORD}" for ${MAIL} failed`);
  });
  const call = (tool_id: string) => layer.invoke({ tool_id, parameters: {}, capability_token });
  const unknown = await call(TOKEN);
  const failed = await call('fails');
  expect([unknown.status, failed.status]).toEqual(['error', 'error']);
  const retire = { tool_id: 'fails', version: '1.0.0', reason: `asked for by ${MAIL}` };
  await layer.ask('tools.deprecate', retire, LOCAL_CALLER);
  const rows = await Promise.all(
    [unknown, failed].map(({ invocation_id }) => layer.ask('invocations.get', { invocation_id }, LOCAL_CALLER)),
  );
  const { events } = await layer.ask('audit.query', { limit: 1000 }, LOCAL_CALLER);
  const verified = await layer.ask('audit.verify', {}, LOCAL_CALLER);
  const file = await auditFile();
  const written = { rows: JSON.stringify(rows), events: JSON.stringify(events), file };
  for (const [where, text] of Object.entries(written)) {
    for (const planted of [MAIL, CARD, TOKEN, PASSWORD])
      expect(text.includes(planted), `${planted} in ${where}`).toBe(false);
    expect(text).toContain('[REDACTED:');
  }
  expect(verified.whole).toBe(true);
});

/** An MCP server whose one tool fails with these words. */
async function failingServer(words: string) {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'far', version: '1' },
    },
    'tools/list': { tools: [{ name: 'fails', description: 'Fails.', inputSchema: { type: 'object' } }] },
    'tools/call': {
      isError: true,
      content: [{ type: 'text', text: words }],
      structuredContent: { because: words, badge: 'Badge 7' },
    },
  };
  const http = createServer((request, response) => {
    void textOf(request).then((body) => {
      const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string };
      if (id === undefined) response.writeHead(request.method === 'GET' ? 405 : 202).end();
      else {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method ?? ''] ?? {} }));
      }
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: () => new Promise<void>((done) => void http.close(() => done()).closeAllConnections()),
  };
}

test('AUD-04.3 what a tool says of its failure reaches its caller without secrets and people, at every door as on record', async () => {
  const { layer, server, token } = opened;
  const about = { input: { type: 'object' }, sideEffect: 'pure' } as const;
  const words = `login as ${MAIL} with password = "${PASSWORD}" and ${TOKEN} failed`;
  await layer.registerFunction({ name: 'throws', description: 'Throws.', ...about }, () => {
    throw new Error(words);
  });
  await using far = await failingServer(words);
  const transport = { type: 'http' as const, url: far.url };
  await layer.ask('upstreams.add', { upstream: { name: 'far', transport } }, LOCAL_CALLER);
  const client = new Client({ name: 'redaction', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
  for (const tool_id of ['throws', 'far__fails']) {
    const call = { tool_id, parameters: {} };
    const { body } = await post(opened, '/v1/invocations', JSON.stringify(call));
    const own = await layer.invoke({ ...call, capability_token: token });
    const mcp = await client.callTool({ name: tool_id, arguments: {} });
    const record = await layer.ask('invocations.get', { invocation_id: String(body['invocation_id']) }, LOCAL_CALLER);
    for (const [door, answer] of Object.entries({ body, own, mcp, record })) {
      const text = JSON.stringify(answer);
      for (const planted of [MAIL, TOKEN, PASSWORD, 'Badge 7'])
        expect([door, text.includes(planted)]).toEqual([door, false]);
      expect([door, text]).toEqual([door, expect.stringContaining('failed')]);
      // An error that a function throws is not shown at all; only the upstream's error appears, redacted.
      if (tool_id === 'far__fails') expect([door, text]).toEqual([door, expect.stringContaining('[REDACTED:email]')]);
    }
    expect(record.error).toEqual(body['error']);
  }
  await client.close();
});

test('OPS-02.7 the log of the program around a layer is told of nobody and no secret', async () => {
  const folder = await temporaryDataFolder('sallyport-logged-');
  const lines: string[] = [];
  const note = (event: string, fields?: object): void => void lines.push(JSON.stringify({ event, ...fields }));
  const log = { debug: note, info: note, warn: note, error: note };
  try {
    await using layer = await createToolLayer({ settings: { data_folder: folder }, log, environment: {} });
    await layer.registerFunction({ ...DOUBLE, execution_config: { requires_approval: true } }, double);
    const { capability_token } = await layer.mintToken({ agent_did: MAIL });
    await layer.invoke({ tool_id: 'double', parameters: { n: 1 }, capability_token });
    await expect.poll(() => lines.find((line) => line.includes('approval-asked'))).toContain('[REDACTED:email]');
    expect(lines.filter((line) => line.includes(MAIL))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('an agent and a user who are called by their address keep their calls, and are found by it', async () => {
  const { layer } = opened;
  const names = { agent_did: 'alice@example.com', user_did: 'bob@example.com' };
  const { capability_token } = await layer.mintToken(names);
  const { capability_token: carol } = await layer.mintToken({ agent_did: 'carol@example.com' });
  const waits = { name: 'waits', description: 'Waits.', input: { type: 'object' }, sideEffect: 'pure' } as const;
  await layer.registerFunction(waits, () => 1);
  const alice = { door: 'rest', token: capability_token } as const;
  const call = { tool_id: 'waits', parameters: {} };
  const { invocation_id } = await layer.invoke({ ...call, execution_options: { async_mode: true } }, alice);
  await vi.waitFor(
    async () =>
      expect(await layer.ask('invocations.get', { invocation_id }, alice)).toMatchObject({ state: 'COMPLETED' }),
    50_000,
  );
  // Two agents whose addresses are both redacted to the same text are still different callers.
  const other = { door: 'rest', token: carol } as const;
  await expect(layer.ask('invocations.get', { invocation_id }, other)).rejects.toMatchObject({ code: 'E3809' });
  const { events } = await layer.ask('audit.query', { agent_did: 'alice@example.com' }, LOCAL_CALLER);
  const calls = events.flatMap(({ data }) => data['invocation_id'] ?? []);
  expect(calls.length).toBeGreaterThan(3);
  expect(new Set(calls)).toEqual(new Set([invocation_id]));
  const why = await layer.ask('policies.explain', { invocation_id }, LOCAL_CALLER);
  expect(why.still_so).toBe(true);
  const file = await auditFile();
  for (const text of [JSON.stringify(events), file]) {
    expect(text).not.toContain('@example.com');
    expect(text).toContain('"agent_did":"[REDACTED:email]"');
  }
});
