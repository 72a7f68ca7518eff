import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallListResponse } from '../../../packages/sallyport/api/schemas/calls/call-list.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type Desk, type Mint, openDesk, toolOf } from './desk.fixture.ts';

const ADA = { agent_did: 'did:agent:desk', user_did: 'did:user:ada' };
const BOB = { agent_did: 'did:agent:desk', user_did: 'did:user:bob' };

let databases: TestDatabases;
let one: Desk;
let two: Desk;
beforeAll(async () => {
  databases = await embeddedDatabases(true);
  const connection = await databases.fresh();
  const settings = { 'database.url': 'url' in connection ? connection.url : '' };
  one = await openDesk({ settings });
  two = await openDesk({ settings });
  for (const desk of [one, two]) {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false };
    for (const side_effect_policy of ['pure', 'irreversible'] as const) {
      const tool = toolOf(side_effect_policy, { parameters_schema: schema, side_effect_policy });
      await desk.layer.registerFunction(tool, ({ n }) => {
        if (n === 13) throw new Error('unlucky, says the secret of 13');
        return { n, said: 'a result' };
      });
    }
  }
}, 120_000);
afterAll(async () => {
  await two[Symbol.asyncDispose]();
  await one[Symbol.asyncDispose]();
  await databases.close();
});

/** A page of calls, listed by the second instance. */
async function list(who: Mint, query = ''): Promise<CallListResponse> {
  const { status, body } = await two.rest('GET', `/v1/invocations${query}`, await two.token(who));
  expect([status, body]).toEqual([200, body]);
  return body as unknown as CallListResponse;
}
const ids = ({ invocations }: CallListResponse): string[] => invocations.map(({ invocation_id }) => invocation_id);

async function call(desk: Desk, tool: string, n: number, who: Mint): Promise<string> {
  return String((await desk.invoke(tool, n, {}, await desk.token(who))).body['invocation_id']);
}

test('PRM-10 API-01 calls are listed to their owner, and to who reads the tenant, at each instance; without what they carried', async () => {
  const [ada, bob] = [ADA, BOB];
  const first = await call(one, 'pure', 1, ada);
  const second = await call(two, 'irreversible', 2, ada);
  const failed = await call(one, 'pure', 13, ada);
  const other = await call(one, 'pure', 4, bob);
  await expect.poll(async () => ids(await list(ada))).toEqual([failed, second, first]);
  expect(ids(await list(bob))).toEqual([other]);
  expect(ids(await list(bob, '?agent_did=did:agent:desk'))).toEqual([other]);
  expect(ids(await list({ agent_did: ADA.agent_did }))).toEqual([]);
  for (const role of ['viewer', 'approver', 'operator', 'admin'] as const) {
    expect(ids(await list({ agent_did: 'did:agent:reader', roles: [role] }))).toEqual([other, failed, second, first]);
  }
  expect(ids(await list({ agent_did: 'did:agent:reader', roles: ['agent'] }))).toEqual([]);
  const { invocations } = await list(ada);
  expect(invocations).toMatchObject([
    { state: 'FAILED', status: 'error', tool_id: 'pure', e_code: 'E3109', ...ADA },
    { state: 'COMPLETED', status: 'success', side_effect_policy: 'irreversible', ...ADA },
    { state: 'COMPLETED', status: 'success', tool_version: '1.0.0', duration_ms: expect.any(Number) },
  ]);
  expect(JSON.stringify(invocations)).not.toMatch(/a result|unlucky|"n"/);
});

test('PRM-10 a list is narrowed by state, tool and time, and says what is wrong with a question', async () => {
  const ada = { ...ADA, user_did: 'did:user:narrow' };
  const failed = await call(one, 'pure', 13, ada);
  const gone = await call(one, 'irreversible', 1, ada);
  const good = await call(one, 'pure', 2, ada);
  await expect.poll(async () => ids(await list(ada))).toEqual([good, gone, failed]);
  expect(ids(await list(ada, '?state=FAILED'))).toEqual([failed]);
  expect(ids(await list(ada, '?state=FAILED&state=COMPLETED&tool_id=pure'))).toEqual([good, failed]);
  expect(ids(await list(ada, '?tool_id=absent'))).toEqual([]);
  const at = (await list(ada)).invocations[1]?.accepted_at ?? '';
  expect(ids(await list(ada, `?since=${at}`))).toContain(gone);
  expect(ids(await list(ada, `?until=${at}`))).not.toContain(gone);
  for (const query of [
    'cursor=rubbish',
    'cursor=1_',
    'limit=0',
    'limit=201',
    'state=ASLEEP',
    'since=yesterday',
    'since=2026-12-31T23:59:60Z',
    'until=2026-12-31T23:59:60Z',
    'color=red',
  ]) {
    const { status, body } = await two.rest('GET', `/v1/invocations?${query}`, await two.token(ada));
    expect([query, status, JSON.stringify(body)]).toEqual([
      query,
      400,
      expect.stringContaining(query.split('=')[0] ?? ''),
    ]);
  }
});

test('PRM-10 pages hold each call once, also when calls come in between', async () => {
  const ada = { ...ADA, user_did: 'did:user:pages' };
  const made = await Promise.all(Array.from({ length: 7 }, (_, n) => call(one, 'pure', n + 20, ada)));
  await expect.poll(async () => ids(await list(ada))).toHaveLength(7);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await list(ada, `?limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`);
    seen.push(...ids(page));
    cursor = page.next;
    await call(one, 'pure', 40, ada);
  } while (cursor !== undefined);
  expect(seen).toHaveLength(7);
  expect(new Set(seen)).toEqual(new Set(made));
});

test('API-05 calls list shows them on the command line, page by page', async () => {
  const ada = { ...ADA, user_did: 'did:user:line' };
  const made = [await call(one, 'pure', 1, ada), await call(one, 'pure', 13, ada)];
  const asked = ['calls', 'list', '--agent', ADA.agent_did, '--since', '1h'];
  await expect.poll(async () => (await one.cli([...asked, '--limit', '1'])).out).toContain(made[1]);
  const { out, err, code } = await one.cli([...asked, '--limit', '1']);
  expect(code).toBe(0);
  expect(out).toContain('FAILED');
  const cursor = /--cursor (\S+)/.exec(`${out}${err}`)?.[1];
  expect((await one.cli([...asked, '--limit', '1', '--cursor', String(cursor)])).out).toContain(made[0]);
  expect((await one.cli([...asked, '--state', 'executing'])).code).toBe(0);
  expect(await one.cli([...asked, '--state', 'asleep'])).toMatchObject({ code: 2 });
  for (const since of ['99999999999d', '2026-13-01', 'yesterday']) {
    const err = expect.stringContaining('Write a time such as 2026-01-31T12:00:00Z, or 1h.');
    expect(await one.cli(['calls', 'list', '--since', since])).toMatchObject({ code: 2, err });
  }
  const { out: json } = await one.cli([...asked, '--state', 'failed', '--json']);
  expect(ids(JSON.parse(json) as CallListResponse)).toContain(made[1]);
});
