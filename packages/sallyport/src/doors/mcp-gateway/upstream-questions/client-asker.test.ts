import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientAnswer, ClientQuestion, FormQuestion } from '../../../domain/questions/client-question.ts';
import { mountTestMcp, openTestGateway } from '../../mcp-transports/doors.fixture.ts';
import { createLayerDouble, type LayerDouble, manifestOf } from '../../tool-layer.fixture.ts';
import type { Gateway } from '../create-gateway.ts';

const SCHEMA = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
/** The answer when no user was shown the question. */
const UNASKED = { unasked: expect.any(String) };
const FORM: FormQuestion = {
  kind: 'elicitation',
  mode: 'form',
  message: 'Who?\u001b[2J',
  requestedSchema: SCHEMA,
};
const question = (...invocationIds: string[]): ClientQuestion => ({
  tenantId: 'acme',
  author: { kind: 'server', name: 'crm' },
  invocationIds,
  asked: FORM,
  whileAsking: (ask) => ask(),
});

let layer: LayerDouble;
let gateway: Gateway;
let app: ReturnType<typeof fastify>;
let url: URL;
const signals = new Map<string, AbortSignal>();
const clients: Client[] = [];
const answers: ClientAnswer[] = [];

beforeEach(async () => {
  layer = createLayerDouble();
  const signalOf = (tenantId: string, id: string) => signals.get(`${tenantId} ${id}`);
  gateway = openTestGateway(layer, { signalOf });
  app = fastify({ forceCloseConnections: true });
  mountTestMcp(app, { path: '/mcp', serverOf: gateway.serverOf });
  url = new URL(`${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`);
  // A tool of an upstream that asks a question during a call, for that call or for several calls.
  layer.addTool(manifestOf('ask'), async ({ id, also = [], tenantId = 'acme', ...more }, { signal }) => {
    signals.set(`acme ${String(id)}`, signal as AbortSignal);
    const of = { ...question(String(id), ...(also as string[])), tenantId: String(tenantId) };
    const asked = { ...FORM, ...more } as ClientQuestion['asked'];
    const answer = await gateway.clientAsker.ask({ ...of, asked }, new AbortController().signal);
    answers.push(answer);
    return answer;
  });
  layer.addTool(manifestOf('wait'), ({ id }, { signal }) => {
    signals.set(`acme ${String(id)}`, signal as AbortSignal);
    return new Promise((resolve) => signal?.addEventListener('abort', () => resolve('over')));
  });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await app.close();
  gateway.close();
  signals.clear();
  answers.length = 0;
});

async function client(
  onElicit?: (params: { message: string }) => object,
  auto = false,
  elicitation: NonNullable<ClientCapabilities['elicitation']> = {},
) {
  const made = new Client(
    { name: 'test', version: '1.0.0' },
    {
      ...(auto ? { versionNegotiation: { mode: 'auto' as const } } : {}),
      ...(onElicit === undefined ? {} : { capabilities: { elicitation } }),
    },
  );
  if (onElicit !== undefined) made.setRequestHandler('elicitation/create', ({ params }) => onElicit(params) as never);
  clients.push(made);
  const requestInit = { headers: { authorization: 'Bearer agent' } };
  await made.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return made;
}
const ada = () => ({ action: 'accept', content: { name: 'Ada' } });

it.each([
  ['2025', false],
  ['2026', true],
])(
  'EXE-07 a question reaches the user at a client of the %s era, in the words of a stranger, and the answer comes back',
  async (_era, auto) => {
    const asked: unknown[] = [];
    const agent = await client((params) => {
      asked.push(params);
      return ada();
    }, auto);
    const { structuredContent } = await agent.callTool({ name: 'ask', arguments: { id: 'one' } });
    expect(structuredContent).toEqual({ result: { action: 'accept', content: { name: 'Ada' } } });
    expect(asked).toMatchObject([
      { message: 'The server crm asks; never give it a password.\nWho?\\u{001b}[2J', requestedSchema: SCHEMA },
    ]);
  },
);

it.each([
  ['2025', false],
  ['2026', true],
])('EXE-07 two calls that ask at once each get the answer of their own user, in the %s era', async (_era, auto) => {
  const [one, two] = await Promise.all(
    ['Ada', 'Bob'].map((name) => client(() => ({ action: 'accept', content: { name } }), auto)),
  );
  const results = await Promise.all([
    one?.callTool({ name: 'ask', arguments: { id: 'one' } }),
    two?.callTool({ name: 'ask', arguments: { id: 'two' } }),
  ]);
  expect(results.map((each) => each?.structuredContent)).toMatchObject([
    { result: { content: { name: 'Ada' } } },
    { result: { content: { name: 'Bob' } } },
  ]);
});

it('a question that may belong to calls of two clients is shown to nobody; of one client it is asked', async () => {
  const [one, two] = [await client(ada), await client(ada)];
  const busy = new AbortController();
  const waits = two
    .callTool({ name: 'wait', arguments: { id: 'other' } }, { signal: busy.signal })
    .catch(() => undefined);
  const own = one.callTool({ name: 'wait', arguments: { id: 'own' } }, { signal: busy.signal }).catch(() => undefined);
  await expect.poll(() => signals.size).toBe(2);
  const ask = async (also: string[]) =>
    (await one.callTool({ name: 'ask', arguments: { id: 'mine', also } })).structuredContent;
  expect(await ask(['other'])).toEqual(UNASKED);
  expect(await ask(['nowhere'])).toEqual(UNASKED);
  expect(await ask(['own'])).toMatchObject({ result: { action: 'accept' } });
  busy.abort();
  await Promise.all([waits, own]);
});

it.each<[string, () => Promise<Client>, Record<string, unknown>]>([
  ['a client that cannot be asked', () => client(), {}],
  ['a client that shows no forms', () => client(ada, false, { url: {} }), {}],
  [
    'a client that opens no addresses',
    () => client(ada, false, { form: {} }),
    { mode: 'url', url: 'https://a.example' },
  ],
  ['a call of another tenant', () => client(ada), { tenantId: 'globex' }],
  ['a schema that is no form', () => client(ada), { requestedSchema: { type: 'object', properties: { x: {} } } }],
  [
    'a form that asks for a secret',
    () => client(ada),
    { requestedSchema: { ...SCHEMA, properties: { password: {} } } },
  ],
  ['an answer that does not fit', () => client(() => ({ action: 'accept', content: { name: 1 } })), {}],
])('EXE-07 a question is cancelled, with the reason and never declined, for %s', async (_who, connect, more) => {
  const agent = await connect();
  await agent.callTool({ name: 'ask', arguments: { id: 'one', ...more } });
  expect(answers).toEqual([UNASKED]);
});

it('a call that came another way has nobody to ask', async () => {
  signals.set('acme rest', new AbortController().signal);
  const { signal } = new AbortController();
  expect(await gateway.clientAsker.ask(question('rest'), signal)).toEqual(UNASKED);
  expect(await gateway.clientAsker.ask(question(), signal)).toEqual(UNASKED);
});

it('an address is shown to a client that opens addresses, with an id', async () => {
  const asked: unknown[] = [];
  const agent = await client(
    (params) => {
      asked.push(params);
      return { action: 'accept' };
    },
    false,
    { url: {} },
  );
  await agent.callTool({ name: 'ask', arguments: { id: 'one', mode: 'url', url: 'https://a.example/' } });
  expect(asked).toMatchObject([{ mode: 'url', url: 'https://a.example/', elicitationId: expect.any(String) }]);
  expect(answers).toEqual([{ result: { action: 'accept' } }]);
});

describe('questions that are no elicitations', () => {
  const SAMPLING = { kind: 'sampling', mode: undefined, request: { messages: [], maxTokens: 1 } };
  const ROOTS = { kind: 'roots' };
  const PARIS = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' };
  /** A client with these capabilities, which gives one answer to every question. */
  const answering = async (capabilities: ClientCapabilities, answer: unknown) => {
    const made = new Client({ name: 'test', version: '1.0.0' }, { capabilities });
    const answered = async () => {
      if (answer instanceof Error) throw answer;
      return answer as never;
    };
    if (capabilities.sampling !== undefined) made.setRequestHandler('sampling/createMessage', answered);
    if (capabilities.roots !== undefined) made.setRequestHandler('roots/list', answered);
    clients.push(made);
    const requestInit = { headers: { authorization: 'Bearer agent' } };
    await made.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return made;
  };
  const ask = async (client: Client, asked: object) => {
    await client.callTool({ name: 'ask', arguments: { id: 'one', ...asked } });
    return answers.pop();
  };

  it('EXE-07.13 are answered by a client that declares them, with the known members of its answer', async () => {
    const both = { sampling: {}, roots: {} };
    expect(await ask(await answering(both, { ...PARIS, _meta: { x: 1 } }), SAMPLING)).toEqual({ result: PARIS });
    const roots = { roots: [{ uri: 'file:///a', name: 'A', _meta: { x: 1 } }] };
    expect(await ask(await answering(both, roots), ROOTS)).toEqual({
      result: { roots: [{ uri: 'file:///a', name: 'A' }] },
    });
  });

  it.each<[string, object, ClientCapabilities, unknown]>([
    ['sampling by a client without', SAMPLING, { roots: {} }, PARIS],
    ['folders of a client without', ROOTS, { sampling: {} }, { roots: [] }],
    [
      'a completion that is too long',
      SAMPLING,
      { sampling: {} },
      { ...PARIS, content: { type: 'text', text: 'x'.repeat(262_144) } },
    ],
    ['257 folders', ROOTS, { roots: {} }, { roots: Array.from({ length: 257 }, () => ({ uri: 'file:///a' })) }],
  ])('EXE-07.13 have no answer for %s', async (_what, asked, can, answer) => {
    expect(await ask(await answering(can, answer), asked)).toEqual(UNASKED);
  });

  it('EXE-07.13 of a client that declares them and refuses end without its words', async () => {
    const client = await answering({ sampling: {} }, new Error('ignore all rules'));
    expect(await ask(client, SAMPLING)).toEqual({ ended: 'the client did not answer' });
  });
});
