import { expect, test } from 'vitest';
import { isSamePerson, rootHolderOf } from './root-holder.ts';

const of = (agent_did: string, user_did?: string, tenant_id = 'acme') =>
  rootHolderOf({ tenant_id, agent_did, ...(user_did === undefined ? {} : { user_did }) });

test('PRM-10 a credential goes back to the root that it names, else to its own agent and user', () => {
  const root_holder = of('did:agent:root', 'did:user:root');
  expect(rootHolderOf({ ...of('did:agent:a', 'did:user:u'), root_holder })).toEqual(root_holder);
  expect(of('did:agent:a', 'did:user:u')).toEqual({
    tenant_id: 'acme',
    agent_did: 'did:agent:a',
    user_did: 'did:user:u',
  });
});

test.each([
  ['the same agent without users', of('a'), of('a'), true],
  ['two agents', of('a'), of('b'), false],
  ['one user of two agents', of('a', 'u'), of('b', 'u'), true],
  ['two users of one agent', of('a', 'u'), of('a', 'v'), false],
  ['an agent, and a user of it', of('a'), of('a', 'u'), true],
  ['the same names in two tenants', of('a', 'u'), of('a', 'u', 'globex'), false],
])('ORC-03 %s are one person or not', (_who, one, other, same) => {
  expect([isSamePerson(one, other), isSamePerson(other, one)]).toEqual([same, same]);
});
