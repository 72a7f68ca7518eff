import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ALICE, BOB, type Desk, openDesk, toolOf } from '../../e2e/calls/desk.fixture.ts';

type Mint = Parameters<Desk['layer']['mintToken']>[0];

/** A person who may make tokens for agents and may decide on calls. */
const MALLORY: Mint = {
  agent_did: 'did:agent:console',
  user_did: 'did:user:mallory',
  roles: ['agent', 'operator', 'approver'],
  trust_level: 'trusted',
};
const ROOT: Mint = {
  ...MALLORY,
  agent_did: 'did:agent:keys',
  user_did: 'did:user:root',
  roles: ['agent', 'operator', 'approver', 'admin'],
};
const PUPPET: Mint = { agent_did: 'did:agent:puppet', user_did: 'did:user:nobody', roles: ['agent'] };
const SELF: Mint = { agent_did: 'did:agent:other-console', user_did: 'did:user:second-self', roles: ['approver'] };

let desk: Desk;
let mallory: string;
let root: string;
let alice: string;
beforeAll(async () => {
  desk = await openDesk({
    terms: [
      '[[rule]]\ntools = ["transfer"]\nquorum = 2',
      '[[rule]]\ntools = ["joint"]\nquorum = 2\napprovers = ["did:user:alice", "did:user:root"]',
      '[[rule]]\ntools = ["wire"]\napprovers = ["did:user:alice"]',
    ].join('\n\n'),
  });
  for (const id of ['transfer', 'joint', 'wire'])
    await desk.layer.registerFunction(toolOf(id, { execution_config: { requires_approval: true } }), ({ n }) => {
      desk.runs.push(`${id} ${String(n)}`);
      return { done: n };
    });
  [mallory, root, alice] = [await desk.token(MALLORY), await desk.token(ROOT), await desk.token(ALICE)];
});
afterAll(() => desk[Symbol.asyncDispose]());
beforeEach(() => {
  desk.runs.length = 0;
});

const mint = async (by: string, asked: Mint): Promise<string> => {
  const { status, body } = await desk.rest('POST', '/v1/tokens', by, asked);
  expect([status, body]).toMatchObject([201, { claims: {} }]);
  return String(body['capability_token']);
};
const createKey = async (by: string, asked: object): Promise<string> => {
  const { body } = await desk.rest('POST', '/v1/api-keys', by, { name: 'k', ...asked });
  return String(body['api_key']);
};
const approve = (id: string, token: string, body: object = {}) =>
  desk.rest('POST', `/v1/approvals/${id}/approval`, token, body);
const REFUSED = { status: 403, body: { e_code: 'E3213' } };

describe('four eyes', () => {
  test.each<[string, () => Promise<string>, () => Promise<string>]>([
    ['a token that the approver minted', () => mint(mallory, PUPPET), async () => mallory],
    ['a key that the approver created', () => createKey(mallory, PUPPET), async () => mallory],
    [
      'a token minted with a key, minted with a token of the approver',
      async () =>
        mint(
          await createKey(await mint(mallory, { ...PUPPET, roles: ['operator'] }), { ...PUPPET, roles: ['operator'] }),
          PUPPET,
        ),
      async () => mallory,
    ],
    ['the own token, decided on with a second self', async () => root, () => mint(root, SELF)],
    ['a first puppet, decided on with a second self', () => mint(root, PUPPET), () => createKey(root, SELF)],
  ])('PRM-10 ORC-03.9 a call asked for with %s is not decided on by the same person', async (_what, asker, decider) => {
    const { approvalId } = await desk.waits('pay', 1, {}, await asker());
    expect(await approve(approvalId, await decider())).toMatchObject(REFUSED);
    expect(desk.runs).toEqual([]);
    expect(await approve(approvalId, alice)).toMatchObject({ body: { state: 'approved' } });
    await expect.poll(() => desk.runs).toEqual(['pay 1']);
  });

  test('ORC-03 a delegation to or from a second self changes nothing', async () => {
    const puppet = await mint(root, PUPPET);
    const self = await mint(root, SELF);
    const { approvalId } = await desk.waits('pay', 2, {}, puppet);
    const lend = (by: string, to: string | undefined) =>
      desk.rest('POST', '/v1/approval-delegations', by, { to, for_seconds: 600 });
    expect(await lend(alice, SELF.user_did)).toMatchObject({ status: 201 });
    expect(await lend(self, BOB.user_did)).toMatchObject({ status: 201 });
    expect(await approve(approvalId, self)).toMatchObject(REFUSED);
    const wire = await desk.waits('wire', 2, {}, puppet);
    expect(await approve(wire.approvalId, self)).toMatchObject(REFUSED);
    expect(desk.runs).toEqual([]);
  });

  test('ORC-03 a standing rule holds for no call of the person who gave it', async () => {
    const honest = await desk.waits('pay', 3);
    const remember = { scope: 'tool', for_seconds: 600 };
    expect(await approve(honest.approvalId, mallory, { remember })).toMatchObject({ body: { state: 'approved' } });
    await expect.poll(() => desk.runs).toEqual(['pay 3']);
    expect((await desk.invoke('pay', 4)).body).toMatchObject({ status: 'success' });
    const sameNames = { agent_did: 'did:agent:a', user_did: 'did:user:u', session_id: 's' };
    await desk.waits('pay', 5, {}, await mint(mallory, sameNames));
    expect(desk.runs).toEqual(['pay 3', 'pay 4']);
  });
});

describe('a quorum', () => {
  test('ORC-05.8 counts two selves of one person once, and two people twice', async () => {
    const { approvalId } = await desk.waits('transfer', 1);
    const selves = [await mint(root, SELF), await createKey(root, { ...SELF, user_did: 'did:user:third-self' })];
    for (const self of [root, ...selves])
      expect(await approve(approvalId, self)).toMatchObject({ body: { state: 'pending', votes: 1, quorum: 2 } });
    expect(desk.runs).toEqual([]);
    expect(await approve(approvalId, alice)).toMatchObject({ body: { state: 'approved', votes: 2 } });
  });

  test('ORC-05 counts once who votes in the own name and, by a second self, in that of another', async () => {
    const { approvalId } = await desk.waits('joint', 2);
    const self = await mint(root, { ...SELF, user_did: 'did:user:lent' });
    const lent = { to: 'did:user:lent', for_seconds: 600 };
    expect(await desk.rest('POST', '/v1/approval-delegations', alice, lent)).toMatchObject({ status: 201 });
    expect(await approve(approvalId, root)).toMatchObject({ body: { votes: 1 } });
    expect(await approve(approvalId, self)).toMatchObject({ body: { state: 'pending', votes: 1 } });
    expect(await approve(approvalId, alice)).toMatchObject({ body: { state: 'approved', votes: 2 } });
  });
});

describe('the role approver', () => {
  test.each(['/v1/tokens', '/v1/api-keys'])('PRM-10 is given by nobody but an admin: %s', async (path) => {
    const name = path.endsWith('keys') ? { name: 'k' } : {};
    for (const roles of [['approver'], ['agent', 'approver'], ['admin']])
      expect(await desk.rest('POST', path, mallory, { ...name, roles })).toMatchObject(REFUSED);
    expect(await desk.rest('POST', path, root, { ...name, roles: ['approver'] })).toMatchObject({ status: 201 });
  });
});

describe('who sits at the machine', () => {
  test('PRM-02 ORC-03 makes credentials that stand for the people they name, also through a layer that serves', async () => {
    const minted = await desk.cli(['token', 'mint', '--json', '--agent', 'did:agent:x', '--role', 'agent']);
    const { capability_token: agent } = JSON.parse(minted.out) as { capability_token: string };
    const { approvalId, invocationId } = await desk.waits('pay', 6, {}, agent);
    const { code, err } = await desk.cli(['approvals', 'approve', approvalId]);
    expect([code, err]).toEqual([0, '']);
    await desk.reaches(invocationId, 'COMPLETED');
  });

  test('PRM-01 a minted token says to whom it goes back, and no request chooses that', async () => {
    const twice = await mint(await mint(root, { ...PUPPET, roles: ['operator'] }), PUPPET);
    const { body } = await desk.rest('POST', '/v1/tokens/explanation', root, { token: twice });
    const claims = body['claims'] as { name: string; value: unknown }[];
    const holder = claims.find(({ name }) => name === 'root_holder');
    expect(holder?.value).toEqual({ tenant_id: 'default', agent_did: ROOT.agent_did, user_did: ROOT.user_did });
    const chosen = { ...PUPPET, root_holder: { tenant_id: 'default', agent_did: 'did:agent:else' } };
    expect(await desk.rest('POST', '/v1/tokens', root, chosen)).toMatchObject({ status: 400 });
  });
});
