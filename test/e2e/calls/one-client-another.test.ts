import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import {
  type AskingHttpServer,
  startAskingHttpServer,
} from '../../../packages/sallyport/src/mcp-servers/test-servers/asking-http-server.ts';
import { type Desk, type Elicited, openDesk } from './desk.fixture.ts';

const SERVER = fileURLToPath(
  new URL('../../../packages/sallyport/src/mcp-servers/test-servers/asking-server.mjs', import.meta.url),
);
const FORM = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

let desk: Desk;
let web: AskingHttpServer;
beforeAll(async () => {
  desk = await openDesk({ settings: { 'upstreams.timeout_seconds': 60, 'calls.per_agent_max': 2 } });
  web = await startAskingHttpServer();
  await add('stdio');
  await add('web');
  await add('brief', 1);
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await web[Symbol.asyncDispose]();
});

/** Adds an upstream that has not asked any user a question yet; over HTTP unless its name says otherwise. */
async function add(name: string, timeout_seconds?: number): Promise<void> {
  const transport = name.startsWith('stdio')
    ? { type: 'stdio' as const, command: 'node', args: [SERVER, '2025-11-25'] }
    : { type: 'http' as const, url: web.url };
  const overrides = timeout_seconds === undefined ? {} : { overrides: { '*': { timeout_seconds } } };
  await desk.layer.ask('upstreams.add', { upstream: { name, transport, ...overrides } }, LOCAL_CALLER);
}

/** An MCP client with a user; the questions that the user is asked are recorded. */
async function user(name: string, era: '2025' | '2026', agent = name) {
  const asked: Elicited[] = [];
  const claims = { agent_did: `did:agent:${agent}`, user_did: `did:user:${agent}` };
  const onElicit = (params: Elicited): object => {
    asked.push(params);
    return { action: 'accept', content: { name } };
  };
  return { asked, client: await desk.mcp(await desk.token(claims), onElicit, era) };
}

type Told = { readonly content: readonly { readonly text: string }[]; readonly _meta?: Record<string, unknown> };

async function ask(client: Client, tool: string): Promise<Told> {
  return (await client.callTool({ name: tool, arguments: FORM })) as unknown as Told;
}

/** Begins a call that never ends, and cancels it once the upstream has received it. */
async function cancelOne(client: Client, tool: string): Promise<void> {
  const stop = new AbortController();
  const held = client.callTool({ name: tool, arguments: {} }, { signal: stop.signal }).catch(() => undefined);
  await expect.poll(() => executing(tool)).toBe(true);
  stop.abort();
  await held;
  await expect.poll(() => executing(tool)).toBe(false);
}

/** Whether the newest call of this tool is executing. */
async function executing(toolId: string): Promise<boolean> {
  const { events } = await desk.layer.ask('audit.query', { tool_id: toolId, newest: true, limit: 1 }, LOCAL_CALLER);
  return events.at(-1)?.data['state'] === 'EXECUTING';
}

describe.each([
  ['stdio', '2025', 'bob'],
  ['stdio', '2026', 'bob'],
  ['stdio', '2025', 'ada'],
  ['stdio', '2026', 'ada'],
  ['web', '2025', 'bob'],
  ['web', '2026', 'ada'],
] as const)('one client at a server over %s that cancels again and again, in the %s era', (server, era, agent) => {
  test(`EXE-07 changes nothing of what another one is asked (its agent is ${agent})`, async () => {
    const [ada, bob] = [await user('Ada', era), await user('Bob', era, agent)];
    // After this call the layer knows that the upstream asks questions.
    if (server === 'stdio') await ask(bob.client, 'stdio__ask');
    // Ada's own connection is open after this call, so her cancelled calls will have reached the upstream.
    if (server === 'stdio') await ask(ada.client, 'stdio__said');
    const before = bob.asked.length;
    for (let time = 0; time < 3; time += 1) {
      await cancelOne(ada.client, `${server}__hold`);
      const { content } = await ask(bob.client, `${server}__ask`);
      expect(JSON.parse(content[0]?.text ?? '')).toEqual({ action: 'accept', content: { name: 'Bob' } });
    }
    expect([ada.asked.length, bob.asked.length - before]).toEqual([0, 3]);
  });
});

test('EXE-07 a question of which nobody knows whose it is reaches nobody: cancelled, on record, and told to the model', async () => {
  await add('stdio-new');
  const [ada, bob] = [await user('Ada', '2025'), await user('Bob', '2025')];
  await cancelOne(ada.client, 'stdio-new__hold');
  const { content, _meta } = await ask(bob.client, 'stdio-new__ask');
  expect(JSON.parse(content[0]?.text ?? '')).toEqual({ action: 'cancel' });
  expect(content[1]?.text).toContain('Nobody was shown the question');
  expect(_meta?.['warnings']).toMatchObject([{ code: 'question_unanswered' }]);
  const query = { type: 'ai.agent.tool.question_unanswered', tool_id: 'stdio-new__ask' } as const;
  const { events } = await desk.layer.ask('audit.query', query, LOCAL_CALLER);
  expect(events).toMatchObject([{ data: { reason: expect.stringContaining('several clients') } }]);
  expect([...ada.asked, ...bob.asked]).toEqual([]);
  // From now on each user has a connection of their own.
  await cancelOne(ada.client, 'stdio-new__hold');
  const again = await ask(bob.client, 'stdio-new__ask');
  expect(JSON.parse(again.content[0]?.text ?? '')).toMatchObject({ content: { name: 'Bob' } });
  expect([ada.asked.length, again.content.length]).toEqual([0, 1]);
});

test('EXE-07 what a server asks late for a cancelled call reaches nobody who waits for it', async () => {
  await add('stdio-late');
  const [ada, mallory] = [await user('Ada', '2025'), await user('Mallory', '2025')];
  await ask(ada.client, 'stdio-late__ask');
  // Her own connection is open, so the call that she cancels has reached the upstream.
  await ask(ada.client, 'stdio-late__said');
  const stop = new AbortController();
  const held = mallory.client.callTool({ name: 'stdio-late__hold', arguments: {} }, { signal: stop.signal });
  held.catch(() => undefined);
  await expect.poll(() => executing('stdio-late__hold')).toBe(true);
  await cancelOne(ada.client, 'stdio-late__linger');
  const said = async (): Promise<unknown> =>
    JSON.parse((await ask(ada.client, 'stdio-late__said')).content[0]?.text ?? '');
  // Ada herself may be asked, even though another call of hers runs by then.
  await expect.poll(said).toHaveLength(1);
  stop.abort();
  await held.catch(() => undefined);
  expect(mallory.asked).toEqual([]);
});

describe.each(['2025', '2026'] as const)('a client of the %s era at a server over stdio that asks', (era) => {
  test('EXE-07 keeps the process of the server, and what it remembers, where no other client calls', async () => {
    await add(`stdio-alone-${era}`);
    const tool = (name: string): string => `stdio-alone-${era}__${name}`;
    const ada = await user('Ada', era);
    const first = await ask(ada.client, tool('instance'));
    await ask(ada.client, tool('ask'));
    await cancelOne(ada.client, tool('hold'));
    const both = await Promise.all([ask(ada.client, tool('ask')), ask(ada.client, tool('ask'))]);
    const told = both.map(({ content }) => JSON.parse(content[0]?.text ?? ''));
    expect(told).toEqual([
      { action: 'accept', content: { name: 'Ada' } },
      { action: 'accept', content: { name: 'Ada' } },
    ]);
    expect((await ask(ada.client, tool('instance'))).content).toEqual(first.content);

    // Calls of another client, and calls without a user to ask, use other connections: they may run while Ada is asked.
    const bob = await user('Bob', era);
    expect((await ask(bob.client, tool('instance'))).content).not.toEqual(first.content);
    const mute = await desk.mcp(await desk.token({ agent_did: 'did:agent:mute' }));
    const stop = new AbortController();
    const held = mute.callTool({ name: tool('hold'), arguments: {} }, { signal: stop.signal });
    held.catch(() => undefined);
    await expect.poll(() => executing(tool('hold'))).toBe(true);
    const { content } = await ask(ada.client, tool('ask'));
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ action: 'accept' });
    stop.abort();
    await held.catch(() => undefined);
    expect([ada.asked.length, bob.asked.length]).toEqual([4, 0]);
  });
});

test('EXE-07 a question is not put to an older call of the same user, which its client may have dropped', async () => {
  await add('stdio-dropped');
  const ada = await user('Ada', '2026');
  await ask(ada.client, 'stdio-dropped__ask');
  const protocolVersion = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': protocolVersion,
    'io.modelcontextprotocol/clientInfo': { name: 'forgetful', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const params = { name: 'stdio-dropped__hold', arguments: {}, _meta };
  const stop = new AbortController();
  const dropped = fetch(`${desk.server.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await desk.token({ agent_did: 'did:agent:Ada', user_did: 'did:user:Ada' })}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': 'tools/call',
      'mcp-name': params.name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    signal: stop.signal,
  });
  dropped.catch(() => undefined);
  await expect.poll(() => executing('stdio-dropped__hold')).toBe(true);
  const { content } = await ask(ada.client, 'stdio-dropped__ask');
  expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
  stop.abort();
});

test('PIPE-08 EXE-07 a call whose user is asked holds no slot, and goes on with the answer', async () => {
  const answers: PromiseWithResolvers<object>[] = [];
  const token = await desk.token({ agent_did: 'did:agent:slow' });
  const client = await desk.mcp(token, () => {
    const answer = Promise.withResolvers<object>();
    answers.push(answer);
    return answer.promise;
  });
  const asking = [ask(client, 'web__ask'), ask(client, 'web__ask'), ask(client, 'web__ask')];
  await expect.poll(() => answers.length).toBe(3);
  const other = await desk.rest('POST', '/v1/invocations', token, { tool_id: 'web__report', parameters: { times: 1 } });
  expect(other.body['status']).toBe('success');
  for (const { resolve } of answers) resolve({ action: 'accept', content: { name: 'Slow' } });
  for (const { content } of await Promise.all(asking)) expect(content[0]?.text).toContain('Slow');
});

test('EXE-12.1 progress of an upstream keeps a call alive beyond its timeout, but not where the call states its own', async () => {
  const token = await desk.token();
  const report = (more: object = {}) =>
    desk.rest('POST', '/v1/invocations', token, { tool_id: 'brief__report', parameters: { times: 25 }, ...more });
  expect((await report()).body['status']).toBe('success');
  const { body } = await report({ resource_limits: { timeout_seconds: 1 } });
  expect(body['error']).toMatchObject({ e_code: 'E3804' });
});
