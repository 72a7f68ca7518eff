import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { type Desk, openDesk } from '../desk.fixture.ts';

type Json = Readonly<Record<string, unknown>>;

const SERVER = fileURLToPath(
  new URL('../../../../packages/sallyport/src/mcp-servers/test-servers/asking-server.mjs', import.meta.url),
);
const VERSIONS = { older: '2025-11-25', newer: '2026-07-28' } as const;
const ELICIT = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
};
const SAMPLE = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }], maxTokens: 10 },
};
const ROOTS = { method: 'roots/list', params: {} };
const PARIS = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' };
const HOME = { roots: [{ uri: 'file:///home/ada' }] };

let desk: Desk;
const clients: Client[] = [];

async function add(name: string, version: string, more: object = {}): Promise<void> {
  const transport = { type: 'stdio' as const, command: 'node', args: [SERVER, version] };
  await desk.layer.ask('upstreams.add', { upstream: { name, transport, ...more } }, LOCAL_CALLER);
}

beforeAll(async () => {
  desk = await openDesk();
  for (const [name, version] of Object.entries(VERSIONS)) {
    await add(name, version);
    await add(`${name}-free`, version, { may_ask: ['elicitation', 'sampling', 'roots'] });
  }
}, 60_000);
afterAll(async () => {
  for (const client of clients) await client.close();
  await desk[Symbol.asyncDispose]();
});

const tokenOf = (name: string): Promise<string> =>
  desk.token({ agent_did: `did:agent:${name}`, user_did: `did:user:${name}` });

/** A client that answers every kind of question, and the methods that it was asked by. */
async function clientOf(name: string, era: '2025' | '2026', capabilities: object = ALL) {
  const asked: { method: string; params: unknown }[] = [];
  const negotiation = era === '2026' ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities, ...negotiation });
  const answers = {
    'elicitation/create': { action: 'accept', content: { name } },
    'sampling/createMessage': PARIS,
    'roots/list': HOME,
  };
  for (const [method, answer] of Object.entries(answers)) {
    const kind = method.split('/')[0] as string;
    if (!(kind in capabilities)) continue;
    client.setRequestHandler(method as 'roots/list', ({ params }) => {
      asked.push({ method, params });
      return answer as never;
    });
  }
  clients.push(client);
  const requestInit = { headers: { authorization: `Bearer ${await tokenOf(name)}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${desk.server.url}/mcp`), { requestInit }));
  return { client, asked };
}
const ALL = { elicitation: {}, sampling: {}, roots: {} };

/** What a tool says, as JSON. */
async function said(client: Client, name: string, given: Json): Promise<Json> {
  const { content, isError } = await client.callTool({ name, arguments: given });
  const [first] = content as { text: string }[];
  return isError === true ? { error: first?.text } : (JSON.parse(first?.text ?? 'null') as Json);
}

/** A request of 2026-07-28 without a library; `more` holds what a client adds when it repeats the request. */
async function raw(token: string, name: string, given: Json, more: Json = {}, can: Json = ALL): Promise<Json> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': can,
  };
  const response = await fetch(`${desk.server.url}/mcp`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: given, _meta, ...more },
    }),
  });
  return { http: response.status, ...((await response.json()) as Json) };
}
const resultOf = (answer: Json): Json => answer['result'] as Json;

describe.each(['older', 'newer'])('a server of the %s protocol', (server) => {
  test.each(['2025', '2026'] as const)(
    'EXE-07.13 gets completions and folders of the calling client of the %s era, where its operator allows it',
    async (era) => {
      const ada = await clientOf('ada', era);
      const bob = await clientOf('bob', era);
      const answers = await said(ada.client, `${server}-free__request`, { what: SAMPLE, where: ROOTS, who: ELICIT });
      expect(answers).toEqual({ what: PARIS, where: HOME, who: { action: 'accept', content: { name: 'ada' } } });
      expect(ada.asked.map(({ method }) => method).toSorted()).toEqual(
        ['elicitation/create', 'roots/list', 'sampling/createMessage'].toSorted(),
      );
      const sampled = ada.asked.find(({ method }) => method === SAMPLE.method)?.params;
      // The library of 2026-07-28 keeps `_meta` from its handlers.
      const author = era === '2025' ? { _meta: { 'sallyport/asked_by': `${server}-free` } } : {};
      expect(sampled).toMatchObject({ ...SAMPLE.params, ...author });
      expect(bob.asked).toEqual([]);
    },
  );

  test('EXE-07.13 is refused completions and folders when its operator says nothing', async () => {
    const ada = await clientOf('ada', '2025');
    for (const what of [SAMPLE, ROOTS]) {
      const answer = JSON.stringify(await said(ada.client, `${server}__request`, { what }));
      expect(answer).toContain(server === 'older' ? 'Method not found' : 'which its operator does not allow');
    }
    expect(ada.asked).toEqual([]);
  });

  test('EXE-07.13 gets no completion by a client that makes none, and none with tools by one without tools', async () => {
    const plain = await clientOf('ada', '2025', { elicitation: {} });
    const refused = JSON.stringify(await said(plain.client, `${server}-free__request`, { what: SAMPLE }));
    expect(refused).toContain('the client makes no completions for servers');
    const toolless = await clientOf('ada', '2025');
    const withTools = { ...SAMPLE, params: { ...SAMPLE.params, tools: [] } };
    const odd = JSON.stringify(await said(toolless.client, `${server}-free__request`, { what: withTools }));
    expect(odd).toContain('the client makes no completions with tools');
    expect([...plain.asked, ...toolless.asked]).toEqual([]);
  });

  test('EXE-07.13 never gets what other servers said into its completion, and no answer that is none', async () => {
    const ada = await clientOf('ada', '2025');
    const greedy = { ...SAMPLE, params: { ...SAMPLE.params, includeContext: 'allServers', temperature: 0.5 } };
    await said(ada.client, `${server}-free__request`, { what: greedy });
    expect(ada.asked[0]?.params).not.toHaveProperty('includeContext');
    expect(ada.asked[0]?.params).toHaveProperty('temperature', 0.5);
    const token = await tokenOf('liar');
    const first = await raw(token, `${server}-free__request`, { where: ROOTS });
    const [key] = Object.keys(resultOf(first)['inputRequests'] as Json);
    const inputResponses = { [String(key)]: { roots: [{ uri: 'https://evil.example/' }] } };
    const last = await raw(
      token,
      `${server}-free__request`,
      { where: ROOTS },
      { inputResponses, requestState: resultOf(first)['requestState'] },
    );
    expect(JSON.stringify(last)).toContain('is not what was asked for');
  });
});

describe('rounds of 2026-07-28', () => {
  test('API-03.3 the names of a server’s questions are kept, all of a round come at once, and each round has a state of its own', async () => {
    const token = await tokenOf('ada');
    const given = { rounds: [{ what: SAMPLE, who: ELICIT, where: ROOTS }, { again: ELICIT }] };
    const first = resultOf(await raw(token, 'newer-free__request', given));
    expect(Object.keys(first['inputRequests'] as Json).toSorted()).toEqual(['what', 'where', 'who']);
    const inputResponses = { what: PARIS, where: HOME, who: { action: 'decline' }, extra: { roots: [] } };
    const next = { inputResponses, requestState: first['requestState'] };
    const second = resultOf(await raw(token, 'newer-free__request', given, next));
    expect(Object.keys(second['inputRequests'] as Json)).toEqual(['again']);
    expect(second['requestState']).not.toBe(first['requestState']);
    const end = { inputResponses: { again: { action: 'cancel' } }, requestState: second['requestState'] };
    const last = resultOf(await raw(token, 'newer-free__request', given, end));
    const [content] = last['content'] as { text: string }[];
    expect(JSON.parse(content?.text ?? '')).toEqual({
      ...{ what: PARIS, where: HOME, who: { action: 'decline' }, again: { action: 'cancel' } },
    });
    expect((await raw(token, 'newer-free__request', given, next))['error']).toMatchObject({ code: -32602 });
  });

  test.each<[string, (state: string) => Promise<[string, string, Json, Json]>]>([
    [
      'somebody changed',
      async (state) => [await tokenOf('ada'), 'newer__request', { who: ELICIT }, { requestState: `${state}x` }],
    ],
    [
      'another user brings',
      async (state) => [await tokenOf('eve'), 'newer__request', { who: ELICIT }, { requestState: state }],
    ],
    [
      'comes with other arguments',
      async (state) => [await tokenOf('ada'), 'newer__request', { whom: ELICIT }, { requestState: state }],
    ],
    [
      'comes with another tool',
      async (state) => [await tokenOf('ada'), 'older__request', { who: ELICIT }, { requestState: state }],
    ],
  ])('API-03.3 a state that %s is refused, and stays good for its own client', async (_what, attack) => {
    const token = await tokenOf('ada');
    const first = resultOf(await raw(token, 'newer__request', { who: ELICIT }));
    const state = String(first['requestState']);
    const [as, tool, given, more] = await attack(state);
    const inputResponses = { who: { action: 'accept', content: { name: 'Eve' } } };
    expect(await raw(as, tool, given, { ...more, inputResponses })).toMatchObject({ error: { code: -32602 } });
    const answers = { inputResponses: { who: { action: 'decline' } }, requestState: state };
    expect(JSON.stringify(await raw(token, 'newer__request', { who: ELICIT }, answers))).toContain('decline');
  });

  test('API-03.3 an answer that is missing or no object is asked for again, answers that are no map are refused', async () => {
    const token = await tokenOf('ada');
    const call = (more: Json) => raw(token, 'newer__request', { who: ELICIT }, more);
    const first = resultOf(await call({}));
    const again = resultOf(await call({ requestState: first['requestState'], inputResponses: { who: 12 } }));
    expect(again).toMatchObject({ resultType: 'input_required', inputRequests: { who: {} } });
    const refused = await call({ requestState: again['requestState'], inputResponses: null });
    expect(refused).toMatchObject({ error: { code: -32602 } });
    const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } };
    expect(JSON.stringify(await call({ requestState: again['requestState'], inputResponses }))).toContain('Ada');
    // What a client knows beforehand needs no round.
    expect(JSON.stringify(resultOf(await call({ inputResponses })))).toContain('Ada');
  });

  test('API-03.3 sixteen questions come at once; with seventeen the call fails and nobody is asked', async () => {
    const token = await tokenOf('ada');
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`q${at}`, ELICIT]));
    const asked = resultOf(await raw(token, 'newer__request', many(16)))['inputRequests'] as Json;
    expect(Object.keys(asked)).toHaveLength(16);
    const refused = await raw(token, 'newer__request', many(17));
    expect(resultOf(refused)).toMatchObject({ isError: true });
    expect(JSON.stringify(refused)).toContain('asks for too much input at once');
  });

  test('EXE-07.3 a server learns with each call what its client can be asked, and no more than its operator allows', async () => {
    const token = await tokenOf('ada');
    const declared = async (server: string, can: Json) => {
      const [first] = resultOf(await raw(token, `${server}__seen`, {}, {}, can))['content'] as { text: string }[];
      return (JSON.parse(first?.text ?? '') as Json)['io.modelcontextprotocol/clientCapabilities'];
    };
    const can = { elicitation: { url: {}, voice: {} }, sampling: { tools: {} }, experimental: { x: {} } };
    expect(await declared('newer-free', can)).toEqual({ elicitation: { url: {} }, sampling: { tools: {} } });
    expect(await declared('newer', can)).toEqual({ elicitation: { url: {} } });
    expect(await declared('newer-free', {})).toEqual({});
  });
});

describe('errors of the protocols', () => {
  const MISSING = {
    code: -32021,
    message: 'It needs sampling.',
    data: { requiredCapabilities: { sampling: {}, odd: {} } },
  };
  const OPEN = {
    code: -32042,
    message: 'Sign in first.',
    data: { elicitations: [{ mode: 'url', elicitationId: 'e', url: 'https://login.example/', message: 'Sign in.' }] },
  };

  test('API-03 a capability that the client lacks is the error of 2026-07-28, with what is required', async () => {
    const token = await tokenOf('ada');
    expect(await raw(token, 'newer__fail', MISSING)).toMatchObject({
      ...{ http: 400, error: { code: -32021, data: { requiredCapabilities: { sampling: {} }, e_code: 'E3821' } } },
    });
    expect(await raw(token, 'newer-free__request', { what: SAMPLE }, {}, { elicitation: {} })).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
  });

  test('API-03 an address that has to be opened first is the error of 2025-11-25, and of no other protocol', async () => {
    const ada = await clientOf('ada', '2025');
    const [{ elicitationId: _own, ...open } = {}] = OPEN.data.elicitations;
    await expect(ada.client.callTool({ name: 'older__fail', arguments: OPEN })).rejects.toMatchObject({
      ...{
        code: -32042,
        data: { elicitations: [{ ...open, elicitationId: expect.stringMatching(/^[0-9a-f]{32}$/) }] },
      },
    });
    const answer = resultOf(await raw(await tokenOf('ada'), 'older__fail', OPEN));
    expect(answer).toMatchObject({ isError: true, _meta: { error: { upstream: { code: -32042 } } } });
  });

  test('EXE-07.17 a server’s word that a user is done at an address reaches the session that was asked, once, and no other', async () => {
    const opening = async (name: string) => {
      const { client, asked } = await clientOf(name, '2025', { elicitation: { url: {} } });
      const done: string[] = [];
      client.setNotificationHandler(
        'notifications/elicitation/complete',
        ({ params }) => void done.push(params.elicitationId),
      );
      const open = async (elicitationId: string): Promise<unknown> => {
        const url = { mode: 'url', message: 'Sign in.', url: 'https://login.example/', elicitationId };
        await client.callTool({ name: 'older__ask', arguments: url });
        return (asked.at(-1) as { params: Json }).params['elicitationId'];
      };
      return { client, done, open };
    };
    const [ada, bob] = [await opening('ada'), await opening('bob')];
    const says = (given: Json, server = 'older') => ada.client.callTool({ name: `${server}__done`, arguments: given });
    const [ofAda, ofBob] = [await ada.open('a'), await bob.open('b')];
    await says({ elicitationId: 'a' }, 'older-free');
    for (const elicitationId of ['c', ofAda, '', 7, null, ['a']]) await says({ elicitationId });
    await says({});
    await says({ elicitationId: 'b' });
    await expect.poll(() => bob.done).toEqual([ofBob]);
    for (const _ of [1, 2]) await says({ elicitationId: 'a' });
    await expect.poll(() => ada.done).toEqual([ofAda]);
    const failed = await ada.client.callTool({ name: 'older__fail', arguments: OPEN }).catch((thrown) => thrown);
    const [{ elicitationId: ofError }] = failed.data.elicitations;
    await says({ elicitationId: 'e' });
    await expect.poll(() => ada.done).toEqual([ofAda, ofError]);
    expect(bob.done).toEqual([ofBob]);
  });

  test('API-03 any other error of a server is for the model, with its code and data for programs', async () => {
    const ada = await clientOf('ada', '2025');
    const error = { code: -32602, message: 'No such unit.', data: { unit: 'x' } };
    const { isError, _meta } = await ada.client.callTool({ name: 'older__fail', arguments: error });
    expect([isError, _meta?.['error']]).toMatchObject([
      true,
      { e_code: 'E3309', upstream: { code: -32602, data: { unit: 'x' } } },
    ]);
  });
});
