import { expect, test } from 'vitest';
import { type CallOwner, isOwner, ownerKey, ownerNames } from './call-owner.ts';

const OWNERS: readonly CallOwner[] = [
  { tenantId: 'acme', agentDid: 'client' },
  { tenantId: 'acme', agentDid: 'client', userDid: 'alice' },
  { tenantId: 'acme', agentDid: 'client', userDid: 'bob' },
  { tenantId: 'acme', agentDid: 'client', userDid: '' },
  { tenantId: 'acme', agentDid: 'other', userDid: 'alice' },
  { tenantId: 'globex', agentDid: 'client', userDid: 'alice' },
  { tenantId: 'acme', agentDid: 'client","alice' },
];

test('PRM-10 an owner owns its own calls and no other', () => {
  for (const asker of OWNERS) {
    expect(OWNERS.filter((owner) => isOwner(asker, { ...owner }))).toEqual([asker]);
    expect(isOwner(asker, undefined)).toBe(false);
  }
});

test('PRM-10 no two owners have one key, nor one form of their names', () => {
  expect(new Set(OWNERS.map(ownerKey)).size).toBe(OWNERS.length);
  const names = OWNERS.filter(({ tenantId }) => tenantId === 'acme').map((owner) => JSON.stringify(ownerNames(owner)));
  expect(new Set(names).size).toBe(names.length);
});
