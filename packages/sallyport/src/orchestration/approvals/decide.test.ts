import { setImmediate } from 'node:timers/promises';
import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { ApprovalBinding } from '../../domain/invocation/waiting-call.ts';
import { decisionsOf } from '../../permission/gates/gates.fixture.ts';
import type { PolicyDecisions } from '../../permission/policy-decisions.ts';
import { digestOf } from '../approvals.ts';
import { ADMIN, ALICE, approvalsOf, approver, BOB, factsOf, questionOf, rowOf } from './approvals.fixture.ts';

describe('a call that a person has to confirm', () => {
  test('VIS-06 ORC-03.1 ORC-03.13 AUD-01.5 is a question until somebody says yes, and runs then through every stage again', async () => {
    const made = await approvalsOf();
    const { approvals, ask, ran } = made;
    const waiting = await ask({ tool_id: 'send', parameters: { n: 1 } });
    expect(questionOf(waiting)).toMatchObject({ reason: 'requires_confirmation', prompt: 'Really?' });
    expect(ran).toEqual([]);
    const { approvalId } = questionOf(waiting);
    expect(await approvals.approve({ approvalId, approver: ALICE, reason: 'fine' })).toMatchObject({
      state: 'approved',
    });
    await approvals.idle();
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'COMPLETED', result: { done: 1 } });
    expect(ran).toEqual([{ tool: 'send', n: 1 }]);
    const facts = await factsOf(made, waiting);
    expect(facts.map(({ type }) => type)).toEqual(['requested', 'decided']);
    expect(facts.at(-1)).toMatchObject({ by: ALICE.id, reason: 'fine', decision: 'approved', approval_id: approvalId });
  });

  test('ORC-05.7 a no has ended the call when it is answered, also where a sweep of this instance was faster', async () => {
    const made = await approvalsOf();
    const { approvals, approvalStore } = made;
    const waiting = await made.ask({ tool_id: 'send', parameters: { n: 1 } });
    const { close, claim } = approvalStore;
    const swept = Promise.withResolvers<void>();
    Object.assign(approvalStore, {
      close: async (...given: Parameters<typeof close>) => {
        const isClosed = await close(...given);
        void approvals.sweep();
        await swept.promise;
        return isClosed;
      },
      claim: async (...given: Parameters<typeof claim>) => {
        swept.resolve();
        for (let turn = 0; turn < 10; turn += 1) await setImmediate();
        return claim(...given);
      },
    });
    await approvals.deny({ approvalId: questionOf(waiting).approvalId, approver: BOB });
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'DENIED', failure: { code: 'E3807' } });
    await approvals.idle();
  });

  test('VIS-06.3 a policy that forbids it meanwhile is not passed by the approval', async () => {
    let allowed = true;
    const decide = () => ({ allowed, policies: ['p'], engine: 'e', version: '1' });
    const policy: PolicyDecisions = { decide, clear() {} };
    const made = await approvalsOf({ pipeline: { policy } });
    const waiting = await made.ask({ tool_id: 'send', parameters: { n: 1 } });
    allowed = false;
    await made.approvals.approve({ approvalId: questionOf(waiting).approvalId, approver: ALICE });
    await made.approvals.idle();
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'DENIED', failure: { code: 'E3210' } });
    expect(made.ran).toEqual([]);
  });

  test('ORC-03.13 ends with the no of one person, who says why', async () => {
    const made = await approvalsOf();
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    const { approvalId } = questionOf(waiting);
    expect(await made.approvals.deny({ approvalId, approver: BOB, reason: 'too much' })).toMatchObject({
      state: 'denied',
    });
    const row = await rowOf(made, waiting);
    expect(row).toMatchObject({ state: 'DENIED', failure: { code: 'E3807', details: { reason: 'too much' } } });
    expect(row).not.toHaveProperty('waiting');
    expect(await factsOf(made, waiting)).toMatchObject([{}, { decision: 'denied', by: BOB.id, reason: 'too much' }]);
    expect(made.notices.map(({ kind }) => kind)).toEqual(['asked', 'decided']);
  });
});

describe('who may decide', () => {
  const codeOf = async (answer: Promise<unknown>) => {
    const given = await answer;
    return isFailure(given) ? given.code : given;
  };

  test('ORC-03.9 nobody decides on what they asked for, under whichever name', async () => {
    const made = await approvalsOf();
    const token = await made.token({ user_did: 'did:user:alice' });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 }, capability_token: token });
    const { approvalId } = questionOf(waiting);
    const agent = approver('did:agent:a');
    const agentOfAnother = approver('did:user:carol', { names: ['did:user:carol', 'did:agent:a'] });
    for (const who of [ALICE, agent, agentOfAnother]) {
      expect(await codeOf(made.approvals.approve({ approvalId, approver: who }))).toBe('E3213');
      expect(await codeOf(made.approvals.deny({ approvalId, approver: who }))).toBe('E3213');
    }
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ state: 'approved' });
  });

  test('ORC-03 a rule may let them', async () => {
    const made = await approvalsOf({ terms: '[[rule]]\nfour_eyes = false' });
    const token = await made.token({ user_did: 'did:user:alice' });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 }, capability_token: token });
    const { approvalId } = questionOf(waiting);
    expect(await made.approvals.approve({ approvalId, approver: ALICE })).toMatchObject({ state: 'approved' });
  });

  test('somebody without the role, or who is not on the list, cannot', async () => {
    const made = await approvalsOf({ terms: `[[rule]]\ntags = ["money"]\napprovers = ["${BOB.id}"]` });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    const { approvalId } = questionOf(waiting);
    for (const who of [ALICE, ADMIN, approver(BOB.id, { roles: ['operator'] })])
      expect(await codeOf(made.approvals.approve({ approvalId, approver: who }))).toBe('E3213');
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ state: 'approved' });
  });

  test('a tool whose only approver asks for it is refused at once', async () => {
    const made = await approvalsOf({ terms: `[[rule]]\napprovers = ["${ALICE.id}"]` });
    const token = await made.token({ user_did: ALICE.id });
    const record = await made.ask({ tool_id: 'pay', parameters: { n: 1 }, capability_token: token });
    expect(record).toMatchObject({ state: 'DENIED', failure: { code: 'E3807' } });
  });

  test('the user at the client confirms what needs no approver, of its own agent alone', async () => {
    const made = await approvalsOf();
    const client = approver('did:user:u', {
      roles: ['agent'],
      via: 'client',
      agentDid: 'did:agent:a',
      userDid: 'did:user:u',
    });
    const pay = questionOf(await made.ask({ tool_id: 'pay', parameters: { n: 1 } })).approvalId;
    const capability_token = await made.token({ user_did: 'did:user:u' });
    const send = questionOf(await made.ask({ tool_id: 'send', parameters: { n: 2 }, capability_token })).approvalId;
    expect(await codeOf(made.approvals.approve({ approvalId: pay, approver: client }))).toBe('E3213');
    const other = { ...client, agentDid: 'did:agent:b' };
    expect(await codeOf(made.approvals.approve({ approvalId: send, approver: other }))).toBe('E3213');
    const another = { ...client, id: 'did:user:v', userDid: 'did:user:v', names: ['did:user:v'] };
    expect(await codeOf(made.approvals.approve({ approvalId: send, approver: another }))).toBe('E3213');
    expect(await made.approvals.approve({ approvalId: send, approver: client })).toMatchObject({ state: 'approved' });
    await made.approvals.idle();
    expect(made.ran).toEqual([{ tool: 'send', n: 2 }]);
  });

  test('VIS-06 PRM-06 the user at the client confirms for the reasons that are set, and for no others', async () => {
    const client = approver('did:user:u', {
      roles: ['agent'],
      via: 'client',
      agentDid: 'did:agent:a',
      userDid: 'did:user:u',
    });
    for (const [clientReasons, outcome] of [
      [['requires_confirmation'], { code: 'E3213' }],
      [['trust'], { state: 'approved' }],
    ] as const) {
      const made = await approvalsOf({ approvals: { clientReasons } });
      const capability_token = await made.token({ user_did: 'did:user:u', trust_level: 'provisional' });
      const waiting = questionOf(await made.ask({ tool_id: 'send', parameters: { n: 1 }, capability_token }));
      expect(waiting.reason).toBe('trust');
      const { approvalId } = waiting;
      expect(await made.approvals.approve({ approvalId, approver: client })).toMatchObject(outcome);
      await made.approvals.idle();
    }
  });

  test('ORC-05.8 as many people as the quorum says have to approve the same', async () => {
    const made = await approvalsOf({ terms: '[[rule]]\nquorum = 2' });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    const { approvalId } = questionOf(waiting);
    expect(await made.approvals.approve({ approvalId, approver: ALICE })).toMatchObject({ state: 'pending', votes: 1 });
    expect(await made.approvals.approve({ approvalId, approver: ALICE })).toMatchObject({ state: 'pending', votes: 1 });
    const changed = await made.approvals.approve({ approvalId, approver: BOB, parameters: { n: 2 } });
    expect(changed).toMatchObject({ state: 'pending', votes: 1 });
    expect(made.ran).toEqual([]);
    const digest = 'digest' in changed ? changed.digest : '';
    expect(await made.approvals.approve({ approvalId, approver: ADMIN, digest })).toMatchObject({
      state: 'approved',
      votes: 2,
    });
    await made.approvals.idle();
    expect(made.ran).toEqual([{ tool: 'pay', n: 2 }]);
    expect((await factsOf(made, waiting)).at(-1)).toMatchObject({ approvers: [BOB.id, ADMIN.id], edited: true });
  });

  test('ORC-05 of an approval whose credential was revoked meanwhile nothing counts', async () => {
    let revoked = false;
    const made = await approvalsOf({ terms: '[[rule]]\nquorum = 2', approvals: { stillGood: () => !revoked } });
    const { approvalId } = questionOf(await made.ask({ tool_id: 'pay', parameters: { n: 1 } }));
    const claims = {
      tenant_id: 'acme',
      agent_did: ALICE.id,
      tool_id: '*',
      allowed_operations: [],
      exp: 1,
      iat: 1,
      iss: 'x',
    };
    await made.approvals.approve({ approvalId, approver: { ...ALICE, claims } });
    revoked = true;
    expect(await made.approvals.approve({ approvalId, approver: BOB })).toMatchObject({ state: 'pending', votes: 1 });
  });
});

describe('what an approval is given to', () => {
  test('ORC-05 a decision on something else than what was shown is refused, and the approval waits on', async () => {
    const made = await approvalsOf();
    const one = questionOf(await made.ask({ tool_id: 'pay', parameters: { n: 1 } }));
    const other = questionOf(await made.ask({ tool_id: 'pay', parameters: { n: 2 } }));
    for (const decide of [made.approvals.approve, made.approvals.deny]) {
      const given = await decide({ approvalId: one.approvalId, approver: ALICE, digest: digestOf(other.binding) });
      expect(given).toMatchObject({ code: 'E3817' });
    }
    expect(await made.approvals.pending('acme', 10, 0)).toHaveLength(2);
    expect(made.ran).toEqual([]);
  });

  test('ORC-03 an edit is validated and authorised anew, and runs with what was approved', async () => {
    const made = await approvalsOf();
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    const { approvalId } = questionOf(waiting);
    const bad = await made.approvals.approve({ approvalId, approver: ALICE, parameters: { n: 'much' } });
    expect(bad).toMatchObject({ code: 'E3502' });
    expect(await made.approvals.find('acme', approvalId)).toMatchObject({ request: { approvalId } });
    expect(await made.approvals.approve({ approvalId, approver: ALICE, parameters: { n: 7 } })).toMatchObject({
      state: 'approved',
    });
    await made.approvals.idle();
    expect(made.ran).toEqual([{ tool: 'pay', n: 7 }]);
    expect(await rowOf(made, waiting)).toMatchObject({ state: 'COMPLETED', result: { done: 7 } });
  });

  test('ORC-03 ORC-06 what an approver changed is on the disk before the call runs', async () => {
    const memory = memoryLedgerStore();
    const order: string[] = [];
    const append: typeof memory.append = async (batch, durability) => {
      await setImmediate();
      await memory.append(batch, durability);
      for (const { waiting } of batch.records) {
        if (waiting !== undefined) order.push(`${JSON.stringify(waiting.request.parameters)} ${durability}`);
      }
    };
    const resume = async () => void order.push('runs');
    const made = await approvalsOf({ pipeline: { store: { ...memory, append } }, approvals: { resume } });
    const { approvalId } = questionOf(await made.ask({ tool_id: 'pay', parameters: { n: 1 } }));
    await made.approvals.approve({ approvalId, approver: ALICE, parameters: { n: 7 } });
    await made.approvals.idle();
    expect(order).toEqual(['{"n":1} synchronous', '{"n":7} synchronous', 'runs']);
  });

  test('ORC-05.1 an edit that would make another call of it is refused, and the approval waits on', async () => {
    const others: Partial<ApprovalBinding>[] = [
      { tenantId: 'other' },
      { agentDid: 'did:agent:other' },
      { userDid: 'did:user:other' },
      { toolId: 'other' },
      { toolVersion: '1.0.1' },
      { contentHash: 'other' },
    ];
    let other: Partial<ApprovalBinding> = {};
    const given: { binding?: ApprovalBinding } = {};
    const judgeEdit = async () => ({ ...(given.binding as ApprovalBinding), inputHash: 'edited', ...other });
    const made = await approvalsOf({ approvals: { judgeEdit } });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    const { approvalId, binding } = questionOf(waiting);
    given.binding = binding;
    const edit = () => made.approvals.approve({ approvalId, approver: ALICE, parameters: { n: 2 } });
    for (other of others) expect(await edit(), JSON.stringify(other)).toMatchObject({ code: 'E3817' });
    expect(await made.approvalStore.votes('acme', approvalId)).toEqual([]);
    // An approver approves by the digest of the arguments that were shown; with another digest the edit is refused too.
    other = {};
    const elsewhere = { approvalId, approver: ALICE, parameters: { n: 2 }, digest: 'other' };
    expect(await made.approvals.approve(elsewhere)).toMatchObject({ code: 'E3817' });
    expect(await edit()).toMatchObject({ state: 'approved' });
  });

  test('ORC-03 an edit that a policy forbids is refused to the approver, and nothing changes', async () => {
    let allowed = true;
    const decide = () => ({ allowed, policies: ['p'], engine: 'e', version: '1' });
    const made = await approvalsOf({ pipeline: { policy: { decide, clear() {} } } });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    const { approvalId } = questionOf(waiting);
    allowed = false;
    const refused = await made.approvals.approve({ approvalId, approver: ALICE, parameters: { n: 13 } });
    expect(refused).toMatchObject({ code: 'E3210' });
    expect(await rowOf(made, waiting)).toEqual(JSON.parse(JSON.stringify(waiting)));
    expect(await made.approvalStore.votes('acme', approvalId)).toEqual([]);
  });

  test('ORC-05.4 a call whose policies changed asks again, under another id', async () => {
    let version = '1';
    const decide = () => ({ allowed: true, policies: ['p'], engine: 'e', version });
    const made = await approvalsOf({ pipeline: { policy: { decide, clear() {} } } });
    const waiting = await made.ask({ tool_id: 'pay', parameters: { n: 1 } });
    const first = questionOf(waiting);
    version = '2';
    await made.approvals.approve({ approvalId: first.approvalId, approver: ALICE });
    await made.approvals.idle();
    expect(made.ran).toEqual([]);
    const again = questionOf(await rowOf(made, waiting));
    expect(again.approvalId).not.toBe(first.approvalId);
    expect(await made.approvals.approve({ approvalId: first.approvalId, approver: BOB })).toMatchObject({
      code: 'E3817',
    });
    await made.approvals.approve({ approvalId: again.approvalId, approver: BOB });
    await made.approvals.idle();
    expect(made.ran).toEqual([{ tool: 'pay', n: 1 }]);
  });

  test('another tenant finds nothing to decide on', async () => {
    const made = await approvalsOf();
    const { approvalId } = questionOf(await made.ask({ tool_id: 'pay', parameters: { n: 1 } }));
    const stranger = approver('did:user:alice', { tenantId: 'globex' });
    expect(await made.approvals.approve({ approvalId, approver: stranger })).toMatchObject({ code: 'E3809' });
    expect(await made.approvals.deny({ approvalId, approver: stranger })).toMatchObject({ code: 'E3809' });
    expect(await made.approvals.pending('globex', 10, 0)).toEqual([]);
  });
});

test('ORC-03 of many edits at once 32 are judged; the next approver is asked to try again, and nothing is decided', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = 0;
  const engine = {
    name: 'slow',
    version: () => `${held}`,
    // The engine answers at once until the call waits for an approval; after that the test releases the answers.
    decide: async () => {
      if (held > 0) await released;
      return { allowed: true, policies: [] };
    },
  };
  const made = await approvalsOf({ pipeline: { policy: decisionsOf(engine) } });
  const waiting = await made.ask({ tool_id: 'send', parameters: { n: 1 } });
  const { approvalId } = questionOf(waiting);
  held = 1;
  const edits = Array.from({ length: 33 }, (_, n) =>
    made.approvals.approve({ approvalId, approver: ALICE, parameters: { n: n + 2 } }),
  );
  const first = await Promise.race(edits);
  expect(first).toMatchObject({ code: 'E3803' });
  expect(made.ran).toEqual([]);
  release();
  const ends = await Promise.all(edits);
  expect(ends.filter((end) => isFailure(end) && end.code === 'E3803')).toHaveLength(1);
  await made.approvals.idle();
  expect(made.ran).toHaveLength(1);
});
