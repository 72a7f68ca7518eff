import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import {
  type PolicyServer,
  policyServer,
  sendJson,
} from '../../packages/sallyport/src/permission/policies/policy.fixture.ts';
import { DOUBLE, double, openLayer } from './layer.fixture.ts';

let server: PolicyServer;
beforeAll(async () => {
  server = await policyServer(() => undefined);
});
afterAll(() => server[Symbol.asyncDispose]());

/** A layer that asks one engine elsewhere, and calls of its one tool. */
async function asking(engine: 'abac' | 'opa', endpoint: string) {
  const endpoints = { abac: 'permission.abac_endpoint', opa: 'permission.opa_endpoint' } as const;
  const open = await openLayer({ 'permission.engines': [engine], [endpoints[engine]]: endpoint });
  await open.layer.registerFunction(DOUBLE, double);
  const call = (n: number) => open.layer.invoke({ tool_id: 'double', parameters: { n } }, { token: open.token });
  return { ...open, call };
}

test('PRM-04.4 PRM-04.5 PRM-04.8 the ABAC endpoint is asked for 500 ms, and a call is denied where it does not answer', async () => {
  await using open = await asking('abac', server.url);
  server.reply = () => undefined;
  const unanswered = await open.call(1);
  expect(unanswered).toMatchObject({ status: 'permission_denied', error: { e_code: 'E3206' } });
  expect(unanswered.error?.message).toContain('500 ms');
  server.reply = (response) => sendJson(response, { allowed: true, reason: 'p-1', cache_ttl_seconds: 0 });
  // A busy machine may take longer than that for an answer.
  await expect.poll(async () => (await open.call(1)).status).toBe('success');
  expect(server.requests.at(-1)).toMatchObject({
    method: 'POST',
    path: '/api/v1/abac/check-permission',
    body: { resource_type: 'tool', resource_id: 'double', action: 'execute' },
  });
});

test('PRM-04.3 PRM-05.3 what OPA decided is remembered until the policies are said to have changed', async () => {
  await using open = await asking('opa', `${server.url}/v1/data/allow`);
  server.reply = (response) => sendJson(response, { result: true });
  await expect.poll(async () => (await open.call(1)).status).toBe('success');
  server.reply = (response) => sendJson(response, { result: false });
  const asked = server.requests.length;
  expect(await open.call(2)).toMatchObject({ status: 'success' });
  expect(server.requests).toHaveLength(asked);
  await open.layer.ask('policies.reload', {}, LOCAL_CALLER);
  await expect.poll(async () => (await open.call(2)).error?.e_code).toBe('E3210');
});
