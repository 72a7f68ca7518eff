import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { type Desk, type Elicited, openDesk } from '../desk.fixture.ts';

const SERVER = fileURLToPath(
  new URL('../../../../packages/sallyport/src/mcp-servers/test-servers/asking-server.mjs', import.meta.url),
);
const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  const add = (name: string, args: string[]) => {
    const transport = { type: 'stdio' as const, command: 'node', args };
    return desk.layer.ask('upstreams.add', { upstream: { name, transport } }, LOCAL_CALLER);
  };
  await add('older', [SERVER, '2025-11-25']);
  await add('newer', [SERVER, '2026-07-28']);
}, 60_000);
afterAll(() => desk[Symbol.asyncDispose]());

/** A user of the tenant at an MCP client; without `onElicit` the user cannot be asked. */
async function user(name: string, onElicit?: (params: Elicited) => object, era?: '2025' | '2026'): Promise<Client> {
  return desk.mcp(await desk.token({ agent_did: `did:agent:${name}`, user_did: `did:user:${name}` }), onElicit, era);
}

/** Answers each question with a name, and records the questions. */
function answering(name: string) {
  const asked: Elicited[] = [];
  const onElicit = (params: Elicited): object => {
    asked.push(params);
    return { action: 'accept', content: { name } };
  };
  return { asked, onElicit };
}

/** The answers that the upstream received to its questions. */
async function saidTo(client: Client, tool: string, args: Record<string, unknown> = FORM): Promise<unknown> {
  const { content, isError } = await client.callTool({ name: tool, arguments: args });
  const [first] = content as { text: string }[];
  if (isError === true) throw new Error(first?.text);
  return JSON.parse(first?.text ?? 'null');
}

describe.each(['older', 'newer'])('a question of a server of the %s protocol', (server) => {
  test.each(['2025', '2026'] as const)(
    'EXE-07 reaches the user at a client of the %s era, under the name of who asks, and the answer comes back',
    async (era) => {
      const { asked, onElicit } = answering('Ada');
      const ada = await user('ada', onElicit, era);
      expect(await saidTo(ada, `${server}__ask`)).toEqual({ action: 'accept', content: { name: 'Ada' } });
      expect(asked).toMatchObject([{ message: `The server ${server} asks; never give it a password.\nWho?` }]);
    },
  );

  test('EXE-07 is cancelled, never declined, for a client that cannot be asked, and for a call that came another way', async () => {
    expect(await saidTo(await user('mute'), `${server}__ask`)).toEqual({ action: 'cancel' });
    const token = await desk.token();
    const { body } = await desk.rest('POST', '/v1/invocations', token, { tool_id: `${server}__ask`, parameters: FORM });
    expect(JSON.stringify(body['result'])).toContain('cancel');
  });

  test('EXE-07 that wants an address opened goes to clients that open addresses, web addresses alone', async () => {
    const { asked, onElicit } = answering('x');
    const ada = await user('ada', onElicit);
    const url = { mode: 'url', message: 'Sign in there.', url: 'https://login.example.com/', elicitationId: 'e1' };
    expect(await saidTo(ada, `${server}__ask`, url)).toEqual({ action: 'accept' });
    expect(asked).toMatchObject([{ mode: 'url', message: expect.stringContaining(`The server ${server} asks`) }]);
    const odd = await saidTo(ada, `${server}__ask`, { ...url, url: 'javascript:alert(1)' });
    expect(odd).toEqual({ action: 'cancel' });
    expect(asked).toHaveLength(1);
  });

  test('a form that is none, and an answer that does not fit, are cancelled', async () => {
    const { asked, onElicit } = answering('Ada');
    const ada = await user('ada', onElicit);
    const nested = { type: 'object', properties: { a: { type: 'object', properties: {} } } };
    expect(await saidTo(ada, `${server}__ask`, { ...FORM, requestedSchema: nested })).toEqual({ action: 'cancel' });
    expect(asked).toEqual([]);
    const rude = await user('rude', () => ({ action: 'accept', content: { name: 'R', also: 'this' } }));
    expect(await saidTo(rude, `${server}__ask`)).toEqual({ action: 'cancel' });
  });
});

describe('two clients at once', () => {
  test.each(['2025', '2026'] as const)(
    'EXE-07 a server that says which call it asks for reaches each of them with its own question, in the %s era',
    async (era) => {
      const [ada, bob] = [answering('Ada'), answering('Bob')];
      const clients = [await user('ada', ada.onElicit, era), await user('bob', bob.onElicit, era)];
      const questions = ['For Ada?', 'For Bob?'];
      const answers = await Promise.all(
        clients.map((client, at) => saidTo(client, 'newer__ask', { ...FORM, message: questions[at] })),
      );
      expect(answers).toMatchObject([{ content: { name: 'Ada' } }, { content: { name: 'Bob' } }]);
      expect([ada, bob].map(({ asked }) => asked.map(({ message }) => message.split('\n')[1]))).toEqual([
        ['For Ada?'],
        ['For Bob?'],
      ]);
    },
  );

  test('EXE-07 a server that does not say it, and has asked before, reaches the one whose connection it asks on', async () => {
    const [ada, bob] = [answering('Ada'), answering('Bob')];
    const [one, two] = [await user('ada', ada.onElicit), await user('bob', bob.onElicit, '2026')];
    const stop = new AbortController();
    const held = one.callTool({ name: 'older__hold', arguments: {} }, { signal: stop.signal }).catch(() => undefined);
    await expect.poll(async () => executing('older__hold')).toBe(true);
    expect(await saidTo(two, 'older__ask')).toEqual({ action: 'accept', content: { name: 'Bob' } });
    stop.abort();
    await held;
    expect([ada.asked.length, bob.asked.length]).toEqual([0, 1]);
  });

  test('EXE-07 what a server asks for a call that was cancelled reaches nobody else', async () => {
    // A new upstream, which has not asked any user a question yet.
    const transport = { type: 'stdio' as const, command: 'node', args: [SERVER, '2025-11-25'] };
    await desk.layer.ask('upstreams.add', { upstream: { name: 'late', transport } }, LOCAL_CALLER);
    const [ada, bob] = [answering('Ada'), answering('Bob')];
    const [one, two] = [await user('ada', ada.onElicit), await user('bob', bob.onElicit)];
    const stop = new AbortController();
    const lingering = one.callTool({ name: 'late__linger', arguments: {} }, { signal: stop.signal });
    lingering.catch(() => undefined);
    await expect.poll(async () => executing('late__linger')).toBe(true);
    const held = two.callTool({ name: 'late__hold', arguments: {} }, { timeout: 20_000 }).catch(() => undefined);
    await expect.poll(async () => executing('late__hold')).toBe(true);
    stop.abort();
    // A client that cannot show questions uses the connection that all clients share.
    const mute = await user('mute');
    await expect.poll(() => saidTo(mute, 'late__said', {})).toEqual([{ action: 'cancel' }]);
    expect([...ada.asked, ...bob.asked]).toEqual([]);
    await desk.layer.ask('upstreams.remove', { name: 'late' }, LOCAL_CALLER);
    await held;
  });
});

/** Whether a call of this tool is executing. */
async function executing(toolId: string): Promise<boolean> {
  const query = { tool_id: toolId, newest: true, limit: 1 };
  const { events } = await desk.layer.ask('audit.query', query, LOCAL_CALLER);
  return events.at(-1)?.data['state'] === 'EXECUTING';
}

test('EXE-07 the real server-everything asks the user at a real client', async () => {
  const args = ['node_modules/@modelcontextprotocol/server-everything/dist/index.js', 'stdio'];
  const transport = { type: 'stdio' as const, command: 'node', args, cwd: REPOSITORY };
  await desk.layer.ask('upstreams.add', { upstream: { name: 'everything', transport } }, LOCAL_CALLER);
  const asked: Elicited[] = [];
  const ada = await user('ada', (params) => {
    asked.push(params);
    return { action: 'accept', content: { name: 'Ada', check: true } };
  });
  const name = 'everything__trigger-elicitation-request';
  const listed = async () => (await ada.listTools()).tools.some((tool) => tool.name === name);
  await expect.poll(listed).toBe(true);
  const told = await ada.callTool({ name, arguments: {} });
  expect(asked).toHaveLength(1);
  expect(JSON.stringify(told.content)).toContain('Ada');
});
