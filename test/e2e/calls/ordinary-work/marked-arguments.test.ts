import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CloudEvent } from '../../../../packages/sallyport/api/schemas/cloud-event.ts';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { type Desk, openDesk, toolOf } from '../desk.fixture.ts';

const PAGE = '<p onclick="alert(1)">Hello</p><script>alert(1)</script>';
const SQL = "x' OR '1'='1' --";
const NO_SQL =
  '@id("no-sql")\nforbid (principal, action, resource)\nwhen { context.argumentFindings.contains("sql_injection") };';
const TEXT = { type: 'object', properties: { body: { type: 'string' }, id: { type: 'string' } } };

let desk: Desk;
let token: string;
beforeAll(async () => {
  desk = await openDesk({ policy: NO_SQL });
  token = await desk.token();
  await desk.layer.registerFunction(toolOf('keep', { parameters_schema: TEXT }), (given) => given);
});
afterAll(() => desk?.[Symbol.asyncDispose]());

const keep = (parameters: object) => desk.rest('POST', '/v1/invocations', token, { tool_id: 'keep', parameters });

async function eventsOf(invocationId: unknown): Promise<readonly CloudEvent[]> {
  const { events } = await desk.layer.ask('audit.query', { invocation_id: String(invocationId) }, LOCAL_CALLER);
  return events;
}

describe('VAL-04 what content looks like', () => {
  test('is told in the answer and in every event, and nothing is changed', async () => {
    const { body } = await keep({ body: PAGE });
    expect(body).toMatchObject({
      status: 'success',
      result: { body: PAGE },
      warnings: [
        { code: 'arguments_marked', details: { findings: [{ threat: 'xss', path: '/body' }] } },
        { code: 'result_suspicious', details: { findings: { 0: { threat: 'xss', path: '/body' } } } },
      ],
    });
    const found = (await eventsOf(body['invocation_id'])).map(({ data }) => data['argument_findings']);
    expect(found.length).toBeGreaterThan(2);
    expect(new Set(found.map((each) => JSON.stringify(each)))).toEqual(new Set(['["xss"]']));
  });

  test('is what policies judge by, also when they are asked why', async () => {
    const { body } = await keep({ body: SQL });
    expect(body).toMatchObject({ error: { e_code: 'E3210', details: { policies: ['own.cedar:no-sql'] } } });
    const why = await desk.cli(['policy', 'why', String(body['invocation_id'])]);
    expect(why.out).toContain('no-sql');
    expect((await keep({ body: 'SELECT name FROM people' })).body).toMatchObject({ status: 'success' });
  });

  test('VAL-04.2 refuses a call where it may become a part of something that is run, before any policy is asked', async () => {
    const { body } = await keep({ id: PAGE });
    expect(body).toMatchObject({ error: { e_code: 'E3504', details: { findings: { 0: { path: '/id' } } } } });
  });
});
