import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../packages/sallyport/api/schemas/capability-token.ts';
import { requestOf } from '../../packages/sallyport/src/doors/remote/request-of.ts';
import { OPERATIONS, type OperationName } from '../../packages/sallyport/src/operations/catalogue.ts';
import { type OpenLayer, openLayer } from '../e2e/layer.fixture.ts';
import { ATTACKS } from './tenancy/attacks.ts';
import { changes, leaked, plain, restingRowsOf, rowsOf } from './tenancy/compared.ts';
import { absentNames, type Names, type Planted, plant, SESSION } from './tenancy/planted.ts';

const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];
const ROLES: readonly Role[] = ['agent', 'viewer', 'operator', 'approver', 'admin'];
/** Texts that no answer may contain unless its request contains them. */
let marks: readonly string[];
let open: OpenLayer;
let planted: Planted;
let absent: Names;
let before: Awaited<ReturnType<typeof rowsOf>>;
let attackers = 0;

beforeAll(async () => {
  open = await openLayer({ 'tenant.default': 'acme-of-the-victim' });
  planted = await plant(open.layer);
  absent = await elsewhere();
  marks = [...planted.marks, ...Object.values(planted.names).filter((name) => name !== planted.names.apiKey)];
  before = await restingRowsOf(open.layer, planted.names.tenant);
});
afterAll(async () => {
  planted.finish();
  await planted.finished;
  await open[Symbol.asyncDispose]();
  await planted[Symbol.asyncDispose]();
});

/** Names of a tenant that has credentials and nothing else. */
async function elsewhere(): Promise<Names> {
  const nobody = absentNames('');
  const bounds = { agent_did: nobody.agent };
  const { capability_token: token } = await open.layer.mintToken({
    ...bounds,
    session_id: SESSION,
    tenant_id: nobody.tenant,
  });
  const caller = { door: 'library', local: true, tenantId: nobody.tenant } as const;
  const { api_key: apiKey } = await open.layer.ask('api-keys.create', { name: 'nobody', ...bounds }, caller);
  return { ...nobody, token, apiKey };
}

/** A caller in a new tenant, whose agent has the same name as an agent of another tenant. */
async function attacker(roles: readonly Role[], { agent: agent_did } = planted.names) {
  attackers += 1;
  const tenant = `intruder-${attackers}-of-many`;
  const { capability_token: token } = await open.layer.mintToken({ tenant_id: tenant, agent_did, roles: [...roles] });
  return { tenant, token };
}

async function ask(name: OperationName, input: object, token: string | undefined, more: Record<string, string> = {}) {
  const { path, request } = requestOf(name, input, token, { door: 'rest' });
  const response = await fetch(open.server.url + path, { ...request, headers: { ...request.headers, ...more } });
  const body = await response.text();
  return { status: response.status, text: `${response.status} ${JSON.stringify([...response.headers])} ${body}`, body };
}

/** The texts that a request contains; the content of its token counts too. */
const said = (name: OperationName, input: object, names: Names): string => {
  const text = JSON.stringify([name, input, names.agent]);
  return text.includes(names.token)
    ? `${text} ${atob(names.token.split('.')[1] ?? '')} ${JSON.stringify(names)}`
    : text;
};

test('PRM-10 every operation of the catalogue has its attacks', () => {
  expect(Object.keys(ATTACKS).sort()).toEqual([...OPERATION_NAMES].sort());
  for (const name of OPERATION_NAMES) expect(ATTACKS[name](absent).length, name).toBeGreaterThan(0);
});

describe.each(OPERATION_NAMES)('%s', (name) => {
  test.each(ROLES)('PRM-10.5 a foreign %s learns nothing, not even whether it is there', async (role) => {
    const [intruder, control] = [await attacker([role]), await attacker([role], absent)];
    const real = ATTACKS[name](planted.names);
    const missing = ATTACKS[name](absent);
    for (const [at, input] of real.entries()) {
      const answer = await ask(name, input, intruder.token);
      expect(leaked(answer.text, said(name, input, planted.names), marks), answer.text).toEqual([]);
      const nothing = await ask(name, missing[at] ?? {}, control.token);
      expect([answer.status, plain(answer.body, planted.names, { me: intruder.tenant })]).toEqual([
        nothing.status,
        plain(nothing.body, absent, { me: control.tenant }),
      ]);
    }
  });

  test('PRM-10.5 nobody names another tenant beside the token', async () => {
    const { tenant } = planted.names;
    const headers = { 'x-tenant': tenant, 'x-tenant-id': tenant, 'tenant-id': tenant, 'x-forwarded-tenant': tenant };
    for (const role of ['operator', 'admin'] as const) {
      for (const input of ATTACKS[name](planted.names)) {
        const { token } = await attacker([role]);
        for (const more of [{}, { tenant_id: tenant }, { agent_context: { tenant_id: tenant, agent_did: 'x' } }]) {
          const answer = await ask(name, { ...input, ...more }, token, headers);
          const question = said(name, { input, more, headers }, planted.names);
          expect(leaked(answer.text, question, marks), answer.text).toEqual([]);
        }
      }
    }
  });

  test('PRM-10 without a credential nobody asks, unless it is for everybody', async () => {
    for (const input of ATTACKS[name](planted.names)) {
      if ('capability_token' in input) continue;
      const answer = await ask(name, input, undefined);
      expect(leaked(answer.text, said(name, input, planted.names), marks)).toEqual([]);
      if (OPERATIONS[name].access !== 'open') expect(answer.status).toBe(401);
    }
  });
});

test('PRM-10 no spelling of an address leads out of the tenant', async () => {
  const { tenant, tool, invocation, view, upstream } = planted.names;
  const { token } = await attacker(['operator', 'admin']);
  const encoded = encodeURIComponent;
  for (const path of [
    `/v1/tools/${encoded(`../${tenant}/${tool}`)}`,
    `/v1/tools/..%2f${tool}`,
    `/v1/tools/%2e%2e/tools/${tool}`,
    `/v1/tools/${tool}%00`,
    `/v1/tools/${tool}?tenant_id=${tenant}`,
    `/v1/tools?tenant_id=${tenant}`,
    `/v1/tools?tenant=${tenant}&page=1`,
    `/v1/${tenant}/tools`,
    `//v1/tools/${tool}`,
    `/v1/invocations/${encoded(`${tenant}\n${invocation}`)}`,
    `/v1/invocations/${invocation}?agent_context=${encoded(JSON.stringify({ tenant_id: tenant, agent_did: 'x' }))}`,
    `/v1/views/${view}/`,
    `/v1/upstreams/${upstream}%2f`,
    `/v1/audit?tenant_id=${tenant}`,
    `/v1/audit?tenant_id[]=${tenant}`,
    '/v1/audit?invocation_id=%25&tool_id=%25',
  ]) {
    const response = await fetch(open.server.url + path, { headers: { authorization: `Bearer ${token}` } });
    const answer = await response.text();
    expect(leaked(answer, `${path} ${decodeURIComponent(path)}`, marks), answer).toEqual([]);
    if (!path.includes('%25')) expect([path, response.status >= 400]).toEqual([path, true]);
  }
});

test('PRM-10 after all that the data of the tenant are what they were, and its credentials work', async () => {
  const { tenant, tool, token, apiKey, running } = planted.names;
  expect(changes(before, await rowsOf(open.layer, tenant))).toEqual([]);
  const call = { tool_id: tool, parameters: {} };
  expect(await open.layer.invoke(call, { token })).toMatchObject({ status: 'success' });
  expect(await open.layer.invoke(call, { token: apiKey })).toMatchObject({ status: 'success' });
  expect(JSON.parse((await ask('invocations.get', { invocation_id: running }, token)).body)).toMatchObject({
    state: 'EXECUTING',
  });
});
