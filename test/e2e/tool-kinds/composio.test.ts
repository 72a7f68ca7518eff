import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ImportReport } from '../../../packages/sallyport/api/schemas/imports.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';
import { type ComposioService, startComposioService } from './composio-stand-in.fixture.ts';

const KEY = 'key-of-the-project-4711';
const AGENT = 'did:example:caller';
let service: ComposioService;
let open: OpenLayer;
let operator: string;

beforeAll(async () => {
  service = await startComposioService(KEY);
  open = await openLayer(
    { 'agent.allowed_hosts': ['127.0.0.1'] },
    { SALLYPORT_SECRET_COMPOSIO_API_KEY: KEY, SALLYPORT_SECRET_OLD_KEY: 'key-that-was-taken-back' },
  );
  operator = (await open.layer.mintToken({ roles: ['operator'] })).capability_token;
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await service.close();
});
beforeEach(() => {
  service.seen.length = 0;
  service.instead.length = 0;
  service.tools = [
    tool('GITHUB_CREATE_AN_ISSUE'),
    tool('GITHUB_LIST'),
    tool('MAIL_SEND', 'mail'),
    tool('MAIL_FAIL', 'mail'),
  ];
});

const tool = (slug: string, toolkit = 'github', more: object = {}) => ({
  slug,
  name: slug,
  description: `Does ${slug}.`,
  toolkit: { slug: toolkit },
  input_parameters: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
  output_parameters: {
    type: 'object',
    properties: {
      data: { type: 'object', properties: { id: { $ref: '#/$defs/Id' } }, required: ['id'] },
      successful: { type: 'boolean' },
    },
    $defs: { Id: { type: 'integer' } },
  },
  version: '20250905_01',
  tags: ['readOnlyHint'],
  no_auth: false,
  is_deprecated: false,
  ...more,
});
const take = async (body: object = {}, token = operator) => {
  const given = { base_url: service.baseUrl, ...body };
  const answer = await post({ ...open, token }, '/v1/imports/composio', JSON.stringify(given));
  return { ...answer, report: answer.body as unknown as ImportReport };
};
const ids = ({ registrations }: ImportReport): string[] =>
  registrations.map(({ tool_id, outcome }) => `${outcome} ${tool_id}`);
const call = async (tool_id: string, more: object = {}) => {
  const hosts = { hosts: ['127.0.0.1'], ports: [service.port], secrets: ['composio_api_key'] };
  const { capability_token } = await open.layer.mintToken({ agent_did: AGENT, ...hosts });
  return open.layer.invoke({ tool_id, parameters: { title: 'x' }, capability_token, ...more });
};

test('REG-02 EXE-08.3 tools of Composio are imported over REST, page by page, and called with the key of the store', async () => {
  const { status, report } = await take();
  expect([status, ids(report)]).toEqual([
    200,
    ['GITHUB_CREATE_AN_ISSUE', 'GITHUB_LIST', 'MAIL_SEND', 'MAIL_FAIL'].map((slug) => `created composio__${slug}`),
  ]);
  expect(service.seen.map(({ query }) => query['cursor'])).toEqual([undefined, '2']);
  expect(ids((await take()).report).every((line) => line.startsWith('unchanged'))).toBe(true);
  const { manifest } = await open.layer.ask('tools.get', { tool_id: 'composio__GITHUB_LIST' }, LOCAL_CALLER);
  expect(manifest).toMatchObject({
    version: '20250905.1.0',
    side_effect_policy: 'irreversible',
    permissions: { network: [{ host: '127.0.0.1', port: service.port }], credentials: ['composio_api_key'] },
    result_schema: { $defs: { Id: { type: 'integer' } }, properties: { id: { $ref: '#/$defs/Id' } }, required: ['id'] },
  });
  service.seen.length = 0;
  const answer = await call('composio__GITHUB_LIST');
  expect(answer).toMatchObject({ status: 'success', result: { id: 7, given: { title: 'x' }, user: AGENT } });
  expect(service.seen).toEqual([
    {
      path: '/api/v3/tools/execute/GITHUB_LIST',
      query: {},
      body: { arguments: { title: 'x' }, user_id: AGENT, version: '20250905_01' },
    },
  ]);
});

test('EXE-08 what a tool says of its own failure reaches the agent, and a result is judged by its schema', async () => {
  await take();
  expect(await call('composio__MAIL_FAIL')).toMatchObject({
    status: 'error',
    error: { e_code: 'E3109', details: { result: { error: 'The mailbox is full.' } } },
  });
  service.instead.push({ status: 200, body: { data: { id: 'seven' }, error: null, successful: true } });
  expect(await call('composio__MAIL_SEND')).toMatchObject({ status: 'error', error: { e_code: 'E3507' } });
});

test('EXE-08 a key that is refused, missing or of no use ends the import, and stands in no answer', async () => {
  const refused = await take({ name: 'refused', secret: 'old_key' });
  expect(refused.body).toMatchObject({ e_code: 'E3307', detail: expect.stringContaining('secret') });
  expect(JSON.stringify(refused.body)).not.toContain('taken-back');
  expect(service.seen).toHaveLength(1);
  expect((await take({ name: 'refused', secret: 'nowhere' })).body).toMatchObject({ e_code: 'E3302' });
  expect(service.seen).toHaveLength(1);
  await expect(open.layer.ask('tools.get', { tool_id: 'refused__MAIL_SEND' }, LOCAL_CALLER)).rejects.toMatchObject({
    code: 'E3001',
  });
  await take();
  service.instead.push({ status: 401, body: { error: { message: `Invalid API key ${KEY}` } } });
  const called = await call('composio__MAIL_SEND');
  expect(called).toMatchObject({ status: 'error', error: { e_code: 'E3307' } });
  expect(JSON.stringify(called)).not.toContain(KEY);
});

test('EXE-08 too many requests are told with the wait, on the list and in a call, which is not made again', async () => {
  const tooMany = { status: 429, headers: { 'retry-after': '7' }, body: {} };
  service.instead.push(tooMany);
  expect(await take()).toMatchObject({ status: 429, body: { e_code: 'E3303', retry_after_ms: 7000 } });
  await take();
  service.seen.length = 0;
  service.instead.push(tooMany);
  const limited = { ...(await call('composio__MAIL_SEND')) };
  expect(limited).toMatchObject({ status: 'error', error: { e_code: 'E3303', retry_after_ms: 7000 } });
  expect(service.seen).toHaveLength(1);
});

test('EXE-08 a key that the service says again reaches no manifest', async () => {
  service.tools = [tool('ECHO', 'echo', { description: `Call me with ${KEY}.`, tags: [KEY] })];
  expect(ids((await take({ name: 'echo' })).report)).toEqual(['created echo__ECHO']);
  const { manifest } = await open.layer.ask('tools.get', { tool_id: 'echo__ECHO' }, LOCAL_CALLER);
  expect(manifest.description).toBe('Call me with [hidden].');
  expect(JSON.stringify(manifest)).not.toContain(KEY);
});

test('REG-02 a part of the tools is asked for by toolkit, slug or words, and only a whole source can lack some', async () => {
  const mail = { name: 'mail', toolkit: 'mail', user_from: 'tenant' };
  expect(ids((await take(mail)).report)).toEqual(['created mail__MAIL_SEND', 'created mail__MAIL_FAIL']);
  service.tools = service.tools.filter(({ slug }) => slug !== 'MAIL_FAIL');
  expect((await take(mail)).report.missing).toEqual(['mail__MAIL_FAIL']);
  const some = await take({ ...mail, tools: ['GITHUB_LIST'], search: 'lists', dry_run: true });
  expect([ids(some.report), some.report.missing]).toEqual([['created mail__GITHUB_LIST'], []]);
  expect(service.seen.at(-1)?.query).toMatchObject({ tool_slugs: 'GITHUB_LIST', search: 'lists' });
  const { manifest } = await open.layer.ask('tools.get', { tool_id: 'mail__MAIL_SEND' }, LOCAL_CALLER);
  expect(manifest.executor.config).toMatchObject({ user_from: 'tenant' });
});

test('EXE-08 a key goes nowhere where it could be read, and nothing comes in for whoever is no operator', async () => {
  for (const base_url of [
    'http://composio.example/api/v3',
    'https://user:pass@composio.example/api/v3',
    'https://composio.example/api/v3?to=elsewhere',
    'https://10.1.2.3.example/{x}',
  ])
    expect((await take({ base_url })).body).toMatchObject({ e_code: 'E3801' });
  expect((await take({ user_id: 'u', user_from: 'agent' })).body).toMatchObject({ e_code: 'E3801' });
  expect((await take({}, open.token)).body).toMatchObject({ e_code: 'E3213' });
  expect(service.seen).toEqual([]);
  service.instead.push({ status: 302, headers: { location: 'https://elsewhere.example/' }, body: {} });
  expect((await take()).body).toMatchObject({ e_code: 'E3310' });
  expect(service.seen).toHaveLength(1);
});
