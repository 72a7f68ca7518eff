import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const SAME = { ...DOUBLE, tool_id: 'same', deterministic: true };

let databases: TestDatabases;
let url: string;
/** Two layers on one database; a test that restarts one of them assigns the new layer here. */
let first: OpenLayer;
let second: OpenLayer;

/** A layer whose function adds `extra` to the right result. The tool is visible to every tenant. */
async function layerThatAdds(extra: number): Promise<OpenLayer> {
  const open = await openLayer({ 'database.url': url, 'tenant.catalog': 'default' });
  await open.layer.registerFunction(SAME, ({ n }) => Number(n) * 2 + extra);
  return open;
}

beforeAll(async () => {
  databases = await embeddedDatabases(true);
  const connection = await databases.fresh();
  url = 'url' in connection ? connection.url : '';
  first = await layerThatAdds(0);
  second = await layerThatAdds(1);
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await databases.close();
});

async function call(open: OpenLayer, n: number, tenant = 'default') {
  const { capability_token } = await open.layer.mintToken({ tenant_id: tenant });
  const {
    status,
    invocation_id,
    warnings = [],
  } = await open.layer.invoke({
    tool_id: 'same',
    parameters: { n },
    capability_token,
  });
  expect(status).toBe('success');
  return { invocation_id, warnings };
}

const reported = (earlier: string) => [
  expect.objectContaining({ code: 'not_deterministic', details: { earlier_invocation_id: earlier } }),
];

test('PIPE-10.1 a result is compared with what another instance got for the same input', async () => {
  const before = await call(first, 1);
  expect(before.warnings).toEqual([]);
  const { status, body } = await post(
    second,
    '/v1/invocations',
    JSON.stringify({ tool_id: 'same', parameters: { n: 1 } }),
  );
  expect({ status, warnings: body['warnings'] }).toEqual({ status: 200, warnings: reported(before.invocation_id) });
  const { events } = await first.layer.ask('audit.query', { type: 'ai.agent.tool.determinism_broken' }, LOCAL_CALLER);
  expect(events).toMatchObject([
    { subject: body['invocation_id'], data: { earlier_invocation_id: before.invocation_id } },
  ]);
  expect((await call(first, 1)).warnings).toEqual([]);
});

test('PIPE-10 two instances that run the same call at the same moment: one is the first, the other is reported', async () => {
  const inputs = Array.from({ length: 20 }, (_, at) => 100 + at);
  for (const n of inputs) {
    const [one, two] = await Promise.all([call(first, n), call(second, n)]);
    const [earlier, later] = one.warnings.length === 0 ? [one, two] : [two, one];
    expect([earlier.warnings, later.warnings]).toMatchObject([[], [{ code: 'not_deterministic' }]]);
    // The row of the earlier call may not be written yet, so the answer may lack its id; the audit event always has the
    // id.
    const broken = { type: 'ai.agent.tool.determinism_broken', invocation_id: later.invocation_id } as const;
    const { events } = await first.layer.ask('audit.query', broken, LOCAL_CALLER);
    expect(events).toMatchObject([{ data: { earlier_invocation_id: earlier.invocation_id } }]);
  }
});

test('PIPE-10 what one tenant was given is told to no other', async () => {
  for (const { layer } of [first, second]) {
    const said = { tool_id: 'same', available: true };
    await layer.ask('availability.set', said, { ...LOCAL_CALLER, tenantId: 'globex' });
  }
  await call(first, 2);
  const theirs = await call(second, 2, 'globex');
  expect(theirs.warnings).toEqual([]);
  expect((await call(first, 2, 'globex')).warnings).toEqual(reported(theirs.invocation_id));
});

test('PIPE-10.2 a call is made again with what is on record of it, by either instance', async () => {
  const { invocation_id } = await call(first, 4);
  const verify = async ({ layer }: OpenLayer) => {
    const { capability_token: token } = await layer.mintToken({});
    return (await layer.ask('invocations.verify', { invocation_id }, { door: 'rest', token })).same;
  };
  expect([await verify(first), await verify(second)]).toEqual([true, false]);
});

test('PIPE-10.1 a tool is held to what it gave before a restart', async () => {
  const before = await call(first, 3);
  await first[Symbol.asyncDispose]();
  first = await layerThatAdds(2);
  expect((await call(first, 3)).warnings).toEqual(reported(before.invocation_id));
});
