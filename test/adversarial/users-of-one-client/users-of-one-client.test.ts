import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestOf } from '../../../packages/sallyport/src/doors/remote/request-of.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { OPERATIONS, type OperationName } from '../../../packages/sallyport/src/operations/catalogue.ts';
import { type OpenLayer, openLayer } from '../../e2e/layer.fixture.ts';
import { leaked } from '../tenancy/compared.ts';
import { ATTACKS, OWN } from './attacks.ts';
import { absentNames, openShop, type PlantedCalls, plantCalls, type Shop, stateOf } from './planted.ts';

const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];
const ISSUER = 'https://id.example';
const AUDIENCE = 'https://tools.example';
const CLIENT = 'desk';
/** Calls that one session may make; only the user who tests this limit makes more. */
const QUOTA = 60;
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** A user of a client, as an access token names both; the client's own credential has no other subject (RFC 9068 §2.2). */
const holderOf = async (sub: string, client_id = CLIENT) => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: ISSUER, aud: AUDIENCE, sub, client_id, iat: now, exp: now + 600, scope: 'tools:call' };
  const header = { alg: 'RS256', kid: 'as', typ: 'at+jwt' };
  const token = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
  return { agent: `oauth:${client_id}`, user: sub === client_id ? undefined : `oauth:${sub}`, token };
};
type Holder = Awaited<ReturnType<typeof holderOf>>;

const keys = createServer((_request, response) => {
  void exportJWK(publicKey).then((key) => {
    response.end(JSON.stringify({ keys: [{ ...key, kid: 'as', use: 'sig', alg: 'RS256' }] }));
  });
});
let open: OpenLayer;
let shop: Shop;
let victims: Readonly<Record<'alice' | 'client', PlantedCalls>>;
let intruders: Readonly<Record<string, Holder>>;

beforeAll(async () => {
  await new Promise<void>((done) => keys.listen(0, '127.0.0.1', done));
  open = await openLayer({
    'oauth.issuer': ISSUER,
    'oauth.jwks_url': `http://127.0.0.1:${(keys.address() as AddressInfo).port}/jwks`,
    'oauth.audiences': [AUDIENCE],
    'quota.calls_per_session': QUOTA,
  });
  shop = await openShop(open.layer);
  const [alice, client] = [await holderOf('alice'), await holderOf(CLIENT)];
  victims = { alice: await plantCalls(open.layer, alice), client: await plantCalls(open.layer, client) };
  intruders = {
    alice,
    client,
    bob: await holderOf('bob'),
    'alice of another client': await holderOf('alice', 'other'),
  };
});
afterAll(async () => {
  shop[Symbol.dispose]();
  await open[Symbol.asyncDispose]();
  await new Promise((done) => keys.close(done));
});

async function ask(name: OperationName, input: object, { token }: Holder) {
  const { path, request } = requestOf(name, input, token, { door: 'rest' });
  const response = await fetch(open.server.url + path, request);
  return { status: response.status, text: await response.text() };
}
const asked = async (name: OperationName, input: object, holder: Holder) =>
  JSON.parse((await ask(name, input, holder)).text) as Record<string, unknown>;

/** Operations whose input names a call or something that belongs to a call. */
const ATTACKED = OPERATION_NAMES.filter(
  (name) => ATTACKS[name](absentNames({ agent: '', user: '', token: '' })).length > 0,
);

/**
 * Operations that make a new call and may answer with its result; any other operation must answer as if the name did
 * not exist.
 */
const RUNS: ReadonlySet<OperationName> = new Set(['tools.invoke', 'tools.dry-run']);

test('PRM-10 every operation that an agent may ask has its attacks', () => {
  const unattacked = OPERATION_NAMES.filter((name) => OPERATIONS[name].access === 'token' && OWN[name] === undefined);
  expect(unattacked).toEqual([]);
});

describe.each([
  ['alice', 'bob'],
  ['alice', 'client'],
  ['alice', 'alice of another client'],
  ['client', 'alice'],
] as const)('the calls of %s, and %s', (victim, intruder) => {
  test.each(ATTACKED)('PRM-10 %s tells nothing of them, and changes nothing', async (name) => {
    const { names, marks } = victims[victim];
    const holder = intruders[intruder] as Holder;
    const before = await stateOf(open.layer, names);
    const inputs = ATTACKS[name](names);
    const missing = ATTACKS[name](absentNames(names));
    for (const [at, input] of inputs.entries()) {
      const answer = await ask(name, input, holder);
      expect(leaked(answer.text, JSON.stringify(input), marks), answer.text).toEqual([]);
      if (RUNS.has(name)) continue;
      const nothing = await ask(name, missing[at] ?? {}, holder);
      expect([input, answer.status]).toEqual([input, nothing.status]);
    }
    expect(await stateOf(open.layer, names)).toEqual(before);
    expect(shop.takenBack.filter((order) => marks.includes(order))).toEqual([]);
  });
});

describe('one key of two users', () => {
  const paying = (q: string, execution_options: object) => ({ tool_id: 'pay', parameters: { q }, execution_options });

  test.each([
    ['idempotency key', 'PIPE-09', { idempotency_key: 'shared' }],
    ['turn group', 'VIS-04', { turn_group_id: 'shared' }],
  ])('PRM-10 the same %s runs once for each of them (%s)', async (_what, _id, options) => {
    const holders = await Promise.all([holderOf('carol'), holderOf('dave'), holderOf(CLIENT)]);
    const answers = [];
    for (const holder of holders) {
      const [first, again] = [
        await asked('tools.invoke', paying('x', options), holder),
        await asked('tools.invoke', paying('x', options), holder),
      ];
      expect(first).toMatchObject({ status: 'success', execution_metadata: { cached: false } });
      expect(again).toMatchObject({ result: first['result'], execution_metadata: { cached: true } });
      answers.push(first);
    }
    expect(new Set(answers.map(({ result }) => JSON.stringify(result))).size).toBe(holders.length);
  });

  test('PIPE-09 the key of one user does not stand in the way of another’s arguments', async () => {
    const options = { idempotency_key: victims.alice.names.key };
    const answer = await asked('tools.invoke', paying('something else', options), await holderOf('erin'));
    expect(answer).toMatchObject({ status: 'success' });
  });

  test.each(['2025-11-25', '2026-07-28'])('VIS-04 nor over MCP %s', async (era) => {
    const call = { name: 'pay', arguments: { q: 'x' }, _meta: { 'sallyport/turn_group_id': `over-mcp-${era}` } };
    const results = new Set<string>();
    for (const sub of ['alice', 'bob', CLIENT]) {
      const client = new Client(
        { name: 'test', version: '1.0.0' },
        era === '2026-07-28' ? { versionNegotiation: { mode: 'auto' } } : {},
      );
      const requestInit = { headers: { authorization: `Bearer ${(await holderOf(sub)).token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}/mcp`), { requestInit }));
      results.add(JSON.stringify((await client.callTool(call)).structuredContent));
      await client.close();
    }
    expect(results.size).toBe(3);
  });
});

test('VIS-03 a user lists and takes back what is theirs, in a turn group that others use too', async () => {
  const [carol, dave] = [await holderOf('carol'), await holderOf('dave')];
  const options = { turn_group_id: 'crowded' };
  const pay = async (holder: Holder, q: string) => {
    const answer = await asked(
      'tools.invoke',
      { tool_id: 'pay', parameters: { q }, execution_options: options },
      holder,
    );
    return String(answer['invocation_id']);
  };
  const theirs = [await pay(dave, '1'), await pay(dave, '2')];
  const own = await pay(carol, '1');
  theirs.push(await pay(dave, '3'));
  const listed = await asked('side-effects.list', { turn_group_id: 'crowded', limit: 1 }, carol);
  expect(listed).toMatchObject({ side_effects: [{ id: own }] });
  const done = await asked('side-effects.compensate-all', { turn_group_id: 'crowded' }, carol);
  expect(done).toMatchObject({ complete: true, outcomes: [{ invocation_id: own, outcome: 'compensated' }] });
  for (const invocation_id of theirs)
    expect(await asked('side-effects.get', { invocation_id }, dave)).toMatchObject({ status: 'executed' });
});

test('PRM-07 a user who has spent the quota of their session has spent nobody else’s', async () => {
  const mail = async (sub: string) => {
    const request = { tool_id: 'mail', parameters: {} };
    return open.layer.invoke(request, { token: (await holderOf(sub)).token });
  };
  for (let call = 0; call < QUOTA; call += 1) expect(await mail('spender')).toMatchObject({ status: 'success' });
  expect(await mail('spender')).toMatchObject({ error: { e_code: 'E3211' } });
  for (const sub of ['dave', CLIENT]) expect(await mail(sub)).toMatchObject({ status: 'success' });
});

test('VIS-01 an activation for one user is no other’s', async () => {
  const [carol, dave, client] = [await holderOf('carol'), await holderOf('dave'), await holderOf(CLIENT)];
  const activation = { agent_did: carol.agent, tool_id: 'mail' };
  const mail = async (holder: Holder) =>
    (await asked('tools.invoke', { tool_id: 'mail', parameters: {} }, holder))['status'];
  const all = async () => [await mail(carol), await mail(dave), await mail(client)];
  const forCarol = { ...activation, user_did: carol.user ?? '' };
  await open.layer.ask('activations.set', { ...forCarol, policy_overrides: { requires_approval: true } }, LOCAL_CALLER);
  expect(await all()).toEqual(['pending_approval', 'success', 'success']);
  await open.layer.ask('activations.set', { ...activation, enabled: false }, LOCAL_CALLER);
  expect(await all()).toEqual(['pending_approval', 'error', 'error']);
  expect(await open.layer.ask('activations.list', { agent_did: carol.agent }, LOCAL_CALLER)).toMatchObject({
    activations: [{ enabled: false }, { user_did: carol.user, enabled: true }],
  });
  await open.layer.ask('activations.remove', forCarol, LOCAL_CALLER);
  expect(await all()).toEqual(['error', 'error', 'error']);
  await open.layer.ask('activations.remove', activation, LOCAL_CALLER);
  expect(await all()).toEqual(['success', 'success', 'success']);
});

describe('what is one’s own', () => {
  test('PRM-10 stays the user’s, with another token of theirs too, and an operator’s of the tenant', async () => {
    const { names } = victims.alice;
    const operator = {
      agent: '',
      user: undefined,
      token: (await open.layer.mintToken({ roles: ['operator'] })).capability_token,
    };
    for (const holder of [await holderOf('alice'), operator]) {
      for (const name of ['paid', 'running', 'waiting'] as const)
        expect(await ask('invocations.get', { invocation_id: names[name] }, holder)).toMatchObject({ status: 200 });
      expect(
        await asked('invocations.extend', { invocation_id: names.running, extend_seconds: 1 }, holder),
      ).toMatchObject({
        extended: true,
      });
      expect(await ask('side-effects.get', { invocation_id: names.paid }, holder)).toMatchObject({ status: 200 });
    }
    const alice = await holderOf('alice');
    expect(await asked('invocations.verify', { invocation_id: names.looked }, alice)).toMatchObject({ same: false });
    expect(await asked('side-effects.compensate', { invocation_id: names.paid }, alice)).toMatchObject({
      outcome: 'compensated',
    });
    for (const call of [names.waiting, names.running])
      expect(await asked('invocations.cancel', { invocation_id: call }, alice)).toMatchObject({ cancelled: true });
  });
});
