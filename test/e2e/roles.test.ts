import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../packages/sallyport/api/schemas/capability-token.ts';
import {
  OPERATIONS,
  type OperationEntry,
  type OperationName,
} from '../../packages/sallyport/src/operations/catalogue.ts';
import { ATTACKS } from '../adversarial/tenancy/attacks.ts';
import { absentNames } from '../adversarial/tenancy/planted.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from './layer.fixture.ts';

const ROLES: readonly Role[] = ['agent', 'viewer', 'operator', 'approver', 'admin'];
/** Repeated here by hand, so that a change of what a role may do needs a change of this table too. */
const MAY_USE: Readonly<Record<string, readonly Role[]>> = {
  open: ROLES,
  token: ROLES,
  viewer: ['viewer', 'operator', 'approver', 'admin'],
  operator: ['operator', 'admin'],
  approver: ['approver', 'admin'],
  admin: ['admin'],
};
/**
 * Operations that change nothing though they are POST, or only help an agent that has the capability, or the call, they
 * need.
 */
const HARMLESS: readonly string[] = [
  'tools.dry-run',
  'tools.search',
  'policies.explain',
  'tools.invoke',
  'invocations.cancel',
  'invocations.extend',
  'invocations.verify',
  'audit.verify-anchors',
  'side-effects.compensate',
  'side-effects.compensate-all',
  'checkpoints.restore',
  'checkpoints.remove',
];

/** Any caller may use them for an upstream with connections per caller; this one is unknown, so only operators may. */
const OF_OPERATORS_FOR_ALL: readonly string[] = ['upstreams.login', 'upstreams.finish-login', 'upstreams.logout'];

let open: OpenLayer;
beforeAll(async () => {
  open = await openLayer();
  await open.layer.registerFunction(DOUBLE, double);
});
afterAll(() => open[Symbol.asyncDispose]());

const as = async (roles: readonly Role[], more: object = {}) => {
  const { capability_token } = await open.layer.mintToken({ roles: [...roles], ...more });
  return { door: 'rest', token: capability_token } as const;
};
const names = absentNames('a.b.c');
const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

describe('roles', () => {
  test.each(OPERATION_NAMES)('PRM-10.3 %s is refused to every role but those of its access', async (name) => {
    const access = OF_OPERATORS_FOR_ALL.includes(name) ? 'operator' : OPERATIONS[name].access;
    for (const role of ROLES) {
      const [input = {}] = ATTACKS[name](names);
      const code = await open.layer.ask(name, input as never, await as([role])).then(
        () => undefined,
        (thrown) => thrown,
      );
      const isRefused = code?.code === 'E3213' && code.failure.details?.['roles'] !== undefined;
      expect([role, isRefused]).toEqual([role, MAY_USE[access]?.includes(role) === false]);
    }
  });

  test('PRM-10 a refusal is on record in the tenant of who was refused, and nothing of it elsewhere', async () => {
    const refused = await as(['agent'], { agent_did: 'did:example:curious', tenant_id: 'acme' });
    for (let at = 0; at < 3; at += 1)
      await expect(open.layer.ask('upstreams.list', {}, refused)).rejects.toMatchObject({ code: 'E3213' });
    const query = { type: 'ai.agent.operation.refused', agent_did: 'did:example:curious' } as const;
    const { events } = await open.layer.ask('audit.query', query, await as(['viewer'], { tenant_id: 'acme' }));
    expect(events).toMatchObject([
      { tenantid: 'acme', subject: 'upstreams.list', data: { e_code: 'E3213', roles: ['agent'], door: 'rest' } },
    ]);
    const elsewhere = await open.layer.ask('audit.query', query, await as(['viewer']));
    expect(elsewhere.events).toEqual([]);
  });

  test('PRM-10 a viewer changes nothing, and calls nothing', async () => {
    for (const [name, entry] of Object.entries<OperationEntry>(OPERATIONS)) {
      if (entry.access === 'viewer' || entry.access === 'token')
        expect([name, entry.method === 'GET' || [...HARMLESS, ...OF_OPERATORS_FOR_ALL].includes(name)]).toEqual([
          name,
          true,
        ]);
    }
  });

  test('PRM-10 the token of a viewer calls no tool, unless it is an agent too', async () => {
    const call = { tool_id: 'double', parameters: { n: 1 } };
    const error = { e_code: 'E3209' };
    for (const role of ['viewer', 'approver'] as const)
      expect(await open.layer.invoke(call, await as([role]))).toMatchObject({ error });
    expect(await open.layer.invoke(call, await as(['viewer', 'agent']))).toMatchObject({ status: 'success' });
  });

  test('PRM-10 a viewer looks at the calls of others and does not end them', async () => {
    const { token } = await as(['agent']);
    const { invocation_id } = await open.layer.invoke({ tool_id: 'double', parameters: { n: 1 } }, { token });
    const other = { agent_did: 'did:example:other' };
    const viewer = await as(['viewer'], other);
    expect(await open.layer.ask('invocations.get', { invocation_id }, viewer)).toMatchObject({ state: 'COMPLETED' });
    const refused = { code: 'E3809' };
    await expect(open.layer.ask('invocations.cancel', { invocation_id }, viewer)).rejects.toMatchObject(refused);
    const agent = await as(['agent'], other);
    await expect(open.layer.ask('invocations.get', { invocation_id }, agent)).rejects.toMatchObject(refused);
  });
});

describe('nobody makes a credential that is more than their own', () => {
  const refused = { code: 'E3213' };
  const make = async (who: Parameters<typeof as>, asked: object) => {
    const caller = await as(...who);
    const minted = open.layer.ask('tokens.mint', asked, caller);
    const created = open.layer.ask('api-keys.create', { name: 'k', ...asked }, caller);
    return Promise.allSettled([minted.then(({ claims }) => claims), created.then(({ key }) => key)]);
  };

  test.each<[string, Parameters<typeof as>, object]>([
    ['a role', [['operator']], { roles: ['admin'] }],
    ['a role among others', [['operator']], { roles: ['agent', 'approver'] }],
    ['another tenant', [['operator']], { tenant_id: 'globex' }],
    ['another tenant, as an admin', [['admin']], { tenant_id: 'globex' }],
    ['more trust', [['operator'], { trust_level: 'provisional' }], { trust_level: 'trusted' }],
    ['any, as a viewer', [['viewer']], {}],
    ['any, as an approver', [['approver']], {}],
    ['any, as an agent', [['agent']], {}],
  ])('PRM-10 %s is refused', async (_what, who, asked) => {
    for (const end of await make(who, asked)) expect(end).toMatchObject({ status: 'rejected', reason: refused });
  });

  test('PRM-06 PRM-10 trust that nobody asked for is at most the own', async () => {
    const little: Parameters<typeof as> = [['operator'], { trust_level: 'untrusted' }];
    for (const end of await make(little, {})) expect(end).toMatchObject({ value: { trust_level: 'untrusted' } });
    for (const end of await make([['operator']], { trust_level: 'provisional' }))
      expect(end).toMatchObject({ value: { trust_level: 'provisional' } });
    const admin: Parameters<typeof as> = [['admin'], { trust_level: 'provisional' }];
    for (const end of await make(admin, { trust_level: 'trusted', roles: ['admin'] }))
      expect(end).toMatchObject({ value: { trust_level: 'trusted' } });
  });
});
