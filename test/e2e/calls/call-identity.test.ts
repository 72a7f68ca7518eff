import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type Answer, type Desk, openDesk, toolOf } from './desk.fixture.ts';

let databases: TestDatabases;
let one: Desk;
let two: Desk;
/** How often the irreversible tool ran, by the number in its argument. */
const runs = new Map<number, number>();
/** Functions that end a running call, by the number in its argument. */
const ends = new Map<number, () => void>();
let last = 0;

beforeAll(async () => {
  databases = await embeddedDatabases(true);
  const connection = await databases.fresh();
  const settings = { 'database.url': 'url' in connection ? connection.url : '', 'calls.per_agent_max': 64 };
  one = await openDesk({ settings });
  two = await openDesk({ settings });
  for (const desk of [one, two]) {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false };
    await desk.layer.registerFunction(toolOf('once', { parameters_schema: schema }), ({ n }) => {
      runs.set(Number(n), (runs.get(Number(n)) ?? 0) + 1);
      return { n };
    });
    await desk.layer.registerFunction(toolOf('long', { parameters_schema: schema }), async ({ n }, { signal }) => {
      runs.set(Number(n), (runs.get(Number(n)) ?? 0) + 1);
      await new Promise<void>((resolve, reject) => {
        ends.set(Number(n), resolve);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      return { n };
    });
  }
}, 120_000);
afterAll(async () => {
  for (const end of ends.values()) end();
  await two[Symbol.asyncDispose]();
  await one[Symbol.asyncDispose]();
  await databases.close();
});

const next = (): number => {
  last += 1;
  return last;
};
const codeOf = ({ body }: Answer): unknown =>
  (body['error'] as { e_code?: string } | undefined)?.e_code ?? body['e_code'];
const begun = (n: number): Promise<void> => expect.poll(() => ends.has(n)).toBe(true);

/**
 * Makes requests that are refused and that name the id of a call, be it the requester's own or that of another agent.
 */
async function refusedUnder(desk: Desk, invocation_id: string): Promise<void> {
  const stranger = await desk.token({ agent_did: 'did:agent:stranger', session_id: 's' });
  const viewer = await desk.token({ agent_did: 'did:agent:viewer', roles: ['viewer'] });
  const narrow = await desk.token({ agent_did: 'did:agent:narrow', tool_id: 'another' });
  const unknown = { invocation_id, tool_id: 'absent' };
  const asked = { invocation_id, execution_options: { idempotency_key: 'k', require_approval: true } };
  for (const token of [undefined, stranger, viewer, narrow, 'rubbish']) {
    for (const more of [{ invocation_id }, unknown, { invocation_id, parameters: { n: 'x' } }, asked]) {
      const answer = await desk.invoke('once', 0, more, token);
      expect(answer.body['status']).not.toBe('success');
      expect(answer.body['invocation_id']).not.toBe(invocation_id);
    }
  }
}

describe.each(['here', 'elsewhere'])('PIPE-09 a request that names the id of a call, %s', (where) => {
  const other = (): Desk => (where === 'here' ? one : two);

  test('is answered with that call when it is the same, and runs nothing', async () => {
    const n = next();
    const given = { invocation_id: `call-${where}`, execution_options: { idempotency_key: `key-${where}` } };
    const first = await one.invoke('once', n, given);
    expect(first.body).toMatchObject({ status: 'success', invocation_id: given.invocation_id });
    const { invocation_id: _id, ...withoutId } = given;
    for (const again of [given, given, withoutId, given]) {
      expect((await other().invoke('once', n, again)).body).toMatchObject({
        invocation_id: given.invocation_id,
        status: 'success',
        result: { n },
        execution_metadata: { cached: true },
      });
    }
    expect(codeOf(await other().invoke('once', n + 1_000, given))).toBe('E3802');
    expect(runs.get(n)).toBe(1);
  });

  test('ORC-06 and is refused, leaves an accepted call alone, which runs', async () => {
    const n = next();
    const later = { invocation_id: `later-${where}`, execution_options: { async_mode: true } };
    expect((await one.invoke('long', n, later)).body).toMatchObject({ status: 'pending' });
    await refusedUnder(other(), later.invocation_id);
    await begun(n);
    await refusedUnder(other(), later.invocation_id);
    ends.get(n)?.();
    expect(await one.reaches(later.invocation_id, 'COMPLETED')).toMatchObject({ status: 'success' });
    expect(runs.get(n)).toBe(1);
  });

  test('ORC-03 and is refused, leaves a call alone that waits for a person', async () => {
    const n = next();
    const { approvalId, invocationId } = await one.waits('pay', n, { invocation_id: `waits-${where}` });
    await refusedUnder(other(), invocationId);
    expect(await one.status(invocationId)).toMatchObject({ status: 'pending_approval' });
    await one.layer.ask('approvals.approve', { approval_id: approvalId }, LOCAL_CALLER);
    expect(await one.reaches(invocationId, 'COMPLETED')).toMatchObject({ status: 'success' });
  });

  test('PIPE-13 and is refused, leaves an irreversible call alone that runs', async () => {
    const n = next();
    const running = one.invoke('long', n, { invocation_id: `running-${where}` });
    await begun(n);
    await refusedUnder(other(), `running-${where}`);
    expect(await two.status(`running-${where}`)).toMatchObject({ state: 'EXECUTING' });
    ends.get(n)?.();
    expect((await running).body).toMatchObject({ status: 'success', invocation_id: `running-${where}` });
  });
});

test('PIPE-09.1 of the same request to two instances at once, one runs and both have its answer', async () => {
  for (let pair = 0; pair < 40; pair += 1) {
    const n = next();
    const key = pair % 2 === 0 ? {} : { execution_options: { idempotency_key: `pair-${pair}` } };
    const given = { invocation_id: `pair-${pair}`, ...key };
    const answers = await Promise.all([one.invoke('once', n, given), two.invoke('once', n, given)]);
    expect(answers.map(({ body }) => [body['status'], body['invocation_id']])).toEqual([
      ['success', given.invocation_id],
      ['success', given.invocation_id],
    ]);
    expect(runs.get(n)).toBe(1);
  }
});

describe('PIPE-09 a connection that breaks while the tool runs', () => {
  const broken = async (n: number, more: object): Promise<void> => {
    const controller = new AbortController();
    const headers = { authorization: `Bearer ${await one.token()}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ tool_id: 'long', parameters: { n }, ...more });
    const url = `${one.server.url}/v1/invocations`;
    const asked = fetch(url, { method: 'POST', headers, body, signal: controller.signal });
    await begun(n);
    controller.abort();
    await expect(asked).rejects.toThrow();
  };

  test('does not cancel a call under a key: the retry waits for its end and gets it', async () => {
    const n = next();
    const given = { execution_options: { idempotency_key: 'broken' } };
    await broken(n, given);
    const retry = two.invoke('long', n, given, await two.token());
    ends.get(n)?.();
    expect((await retry).body).toMatchObject({
      status: 'success',
      result: { n },
      execution_metadata: { cached: true },
    });
    expect(runs.get(n)).toBe(1);
  });

  test('cancels a call that nobody can ask for again', async () => {
    const n = next();
    await broken(n, { invocation_id: 'without-key' });
    expect(await one.reaches('without-key', 'ABORTED')).toMatchObject({ error: { e_code: 'E3804' } });
  });
});

test('AUD-07 the audit of all that is whole', async () => {
  const verified = await one.layer.ask('audit.verify', {}, LOCAL_CALLER);
  expect(JSON.stringify(verified)).toContain('"whole":true');
});
