import { deepEqual, equal, ok } from 'node:assert/strict';
import { changedWithEvents, unchangedWithoutEvents } from '../../domain/event/events-of.conformance.ts';
import type { ApprovalBinding } from '../../domain/invocation/waiting-call.ts';
import type { ApprovalClosing, ApprovalStore, StoredRule, StoredVote } from '../approval-store.port.ts';

const HOSTILE = `nul \0, quote ' " \\, lone \ud800, 🙂, </script>, \u2028`;
const LONG_MS = 60_000;

const binding: ApprovalBinding = {
  tenantId: 'acme',
  agentDid: 'did:web:one',
  userDid: HOSTILE,
  toolId: 'pay',
  toolVersion: '1.0.0',
  contentHash: 'c',
  inputHash: 'i',
  policyVersion: '1',
};

const vote = (more: Partial<StoredVote> = {}): StoredVote => ({
  tenantId: 'acme',
  approvalId: 'a1',
  approver: 'did:user:alice',
  inNameOf: 'did:user:alice',
  binding,
  votedAt: 1000,
  ...more,
});

const closing = (more: Partial<ApprovalClosing> = {}): ApprovalClosing => ({
  tenantId: 'acme',
  approvalId: 'a1',
  invocationId: 'call-1',
  outcome: 'approved',
  closedAt: 5000,
  by: 'did:user:alice',
  approvers: ['did:user:alice'],
  reason: HOSTILE,
  binding,
  asked: { reason: 'requires_approval', at: 1, until: 2 },
  given: { approvalId: 'a1', binding, expiresAt: 9000 },
  parameters: { text: HOSTILE, n: 1e21 },
  ...more,
});

const rule = (more: Partial<StoredRule> = {}): StoredRule => ({
  id: 'r1',
  tenantId: 'acme',
  agentDid: HOSTILE,
  toolId: 'pay',
  contentHash: 'c',
  reason: 'requires_confirmation',
  madeAt: 1,
  expiresAt: 10_000,
  madeBy: 'did:user:alice',
  approvalId: 'a1',
  ...more,
});

type Check = (name: string, run: (store: ApprovalStore) => Promise<void>) => void;

/** Requirements of every ApprovalStore. `open` gives an empty store each time. */
export function approvalStoreConformance(
  test: (name: string, run: () => Promise<void>) => void,
  adapter: string,
  open: () => Promise<{ readonly store: ApprovalStore; close(): Promise<void> }>,
): void {
  const check: Check = (name, run) =>
    test(`${name} (${adapter})`, async () => {
      const { store, close } = await open();
      try {
        await run(store);
      } finally {
        await close();
      }
    });
  voteCases(check);
  closingCases(check);
  carryingOutCases(check);
  noticeCases(check);
  rightsCases(check);
}

function voteCases(check: Check): void {
  check('each approver has one vote, the latest, and they are read the oldest first', async (store) => {
    deepEqual(await store.votes('acme', 'a1'), []);
    const first = vote({ parameters: { text: HOSTILE }, reason: HOSTILE });
    deepEqual(await store.vote(first), [first]);
    const other = vote({ approver: HOSTILE, inNameOf: HOSTILE, votedAt: 2000 });
    deepEqual(await store.vote(other), [first, other]);
    const again = vote({ votedAt: 3000 });
    deepEqual(await store.vote(again), [other, again]);
    deepEqual(await store.votes('acme', 'a1'), [other, again]);
    deepEqual(await store.votes('globex', 'a1'), []);
    deepEqual(await store.votes('acme', 'a2'), []);
  });

  check('of many who approve at once, one at least sees all of them', async (store) => {
    const names = Array.from({ length: 8 }, (_, at) => `did:user:${at}`);
    const seen = await Promise.all(names.map((approver) => store.vote(vote({ approver }))));
    equal(Math.max(...seen.map((votes) => votes.length)), 8);
  });
}

function closingCases(check: Check): void {
  check('ORC-05 an approval is closed once, by one of those who do it at the same time', async (store) => {
    equal(await store.closing('acme', 'a1'), undefined);
    const outcomes = ['approved', 'denied', 'expired', 'withdrawn'] as const;
    const closings = outcomes.map((outcome) => closing({ outcome, reason: outcome }));
    const won = await Promise.all(closings.map((each) => store.close(each)));
    equal(won.filter(Boolean).length, 1);
    const standing = closings[won.indexOf(true)];
    deepEqual(await store.closing('acme', 'a1'), { ...standing, noted: false, finished: false });
    equal(await store.close(closing({ outcome: 'denied' })), false);
  });

  check('what was closed comes back whole, of its own tenant alone, the latest first', async (store) => {
    ok(await store.close(closing()));
    ok(await store.close(closing({ approvalId: 'a2', closedAt: 7000 })));
    ok(await store.close(closing({ tenantId: 'globex', closedAt: 8000 })));
    deepEqual(
      (await store.closings('acme', 10, 0)).map(({ approvalId }) => approvalId),
      ['a2', 'a1'],
    );
    deepEqual(
      (await store.closings('acme', 10, 1)).map(({ approvalId }) => approvalId),
      ['a1'],
    );
    deepEqual(await store.closings('acme', 10, 2), []);
    deepEqual(await store.closing('acme', 'a1'), { ...closing(), noted: false, finished: false });
    equal(await store.closing('nobody', 'a1'), undefined);
  });
}

function carryingOutCases(check: Check): void {
  check('ORC-05 a closing is carried out by one holder at a time, and by nobody once it is finished', async (store) => {
    equal(await store.claim('acme', 'a1', 'one', LONG_MS), false);
    await store.close(closing());
    deepEqual(
      (await store.unfinished(10, LONG_MS)).map(({ approvalId }) => approvalId),
      ['a1'],
    );
    const holders = ['one', 'two', 'three', 'four'];
    const taken = await Promise.all(holders.map((holder) => store.claim('acme', 'a1', holder, LONG_MS)));
    equal(taken.filter(Boolean).length, 1);
    const holder = holders[taken.indexOf(true)] ?? '';
    ok(await store.claim('acme', 'a1', holder, LONG_MS));
    deepEqual(await store.unfinished(10, LONG_MS), []);
    await store.release('acme', 'a1', 'somebody else');
    equal(await store.claim('acme', 'a1', 'somebody else', LONG_MS), false);
    await store.release('acme', 'a1', holder);
    ok(await store.claim('acme', 'a1', 'somebody else', LONG_MS));
    await store.mark('acme', 'a1', 'noted');
    await store.mark('acme', 'a1', 'finished');
    deepEqual(await store.closing('acme', 'a1'), { ...closing(), noted: true, finished: true });
    equal(await store.claim('acme', 'a1', 'somebody else', 0), false);
    deepEqual(await store.unfinished(10, 0), []);
  });

  check('ORC-06 what one holder was at is given back at once, and nothing of another', async (store) => {
    for (const [approvalId, holder] of Object.entries({ a1: 'one', a2: 'one', a3: 'two' })) {
      await store.close(closing({ approvalId }));
      ok(await store.claim('acme', approvalId, holder, LONG_MS));
    }
    await store.releaseAll('one');
    deepEqual((await store.unfinished(10, LONG_MS)).map(({ approvalId }) => approvalId).sort(), ['a1', 'a2']);
    equal(await store.claim('acme', 'a3', 'one', LONG_MS), false);
  });

  check(
    'ORC-05 PRM-10 what is done to one approval leaves those of other tenants and ids as they are',
    async (store) => {
      const others = [
        ['acme', 'a2', 2000],
        ['globex', 'a1', 1000],
      ] as const;
      for (const [tenantId, approvalId, closedAt] of [...others, ['acme', 'a1', 3000] as const]) {
        ok(await store.close(closing({ tenantId, approvalId, closedAt })));
        ok(await store.claim(tenantId, approvalId, 'one', LONG_MS));
      }
      const places = async (limit: number, leaseMs: number) =>
        (await store.unfinished(limit, leaseMs)).map(({ tenantId, approvalId }) => `${tenantId} ${approvalId}`);
      deepEqual(await places(10, 0), ['globex a1', 'acme a2', 'acme a1']);
      deepEqual(await places(2, 0), ['globex a1', 'acme a2']);
      await store.release('acme', 'a1', 'one');
      deepEqual(await places(10, LONG_MS), ['acme a1']);
      await store.mark('acme', 'a1', 'noted');
      await store.mark('acme', 'a1', 'finished');
      for (const [tenantId, approvalId, closedAt] of others) {
        const left = { ...closing({ tenantId, approvalId, closedAt }), noted: false, finished: false };
        deepEqual(await store.closing(tenantId, approvalId), left);
      }
      deepEqual(
        (await store.closings('acme', 1, 0)).map(({ approvalId }) => approvalId),
        ['a1'],
      );
    },
  );

  check('a claim that was not renewed within its lease is taken by another one', async (store) => {
    await store.close(closing());
    ok(await store.claim('acme', 'a1', 'one', LONG_MS));
    deepEqual(
      (await store.unfinished(10, 0)).map(({ approvalId }) => approvalId),
      ['a1'],
    );
    ok(await store.claim('acme', 'a1', 'two', 0));
    equal(await store.claim('acme', 'a1', 'one', LONG_MS), false);
  });
}

function noticeCases(check: Check): void {
  check('people are notified once of each level', async (store) => {
    const notice = { tenantId: 'acme', approvalId: 'a1', invocationId: 'call-1', level: 0 };
    equal(await store.invocationOf('acme', 'a1'), undefined);
    const taken = await Promise.all([1, 2, 3, 4].map(() => store.claimNotice(notice, LONG_MS)));
    deepEqual(taken.sort(), ['busy', 'busy', 'busy', 'taken']);
    equal(await store.claimNotice(notice, 0), 'taken');
    await store.noticeDelivered('acme', 'a1', 0);
    equal(await store.claimNotice(notice, 0), 'notified');
    equal(await store.claimNotice({ ...notice, level: 1 }, LONG_MS), 'taken');
    equal(await store.claimNotice({ ...notice, tenantId: 'globex' }, LONG_MS), 'taken');
    equal(await store.invocationOf('acme', 'a1'), 'call-1');
    equal(await store.invocationOf('nobody', 'a1'), undefined);
  });

  check('PRM-10 a notice that was delivered says nothing of others', async (store) => {
    const notice = { tenantId: 'acme', approvalId: 'a1', invocationId: 'call-1', level: 0 };
    const others = [
      { ...notice, level: 1 },
      { ...notice, approvalId: 'a2', invocationId: 'call-2' },
      { ...notice, tenantId: 'globex', invocationId: 'call-3' },
    ];
    for (const each of [...others, notice]) equal(await store.claimNotice(each, LONG_MS), 'taken');
    await store.noticeDelivered('acme', 'a1', 0);
    equal(await store.claimNotice(notice, LONG_MS), 'notified');
    for (const each of others) {
      equal(await store.claimNotice(each, LONG_MS), 'busy');
      equal(await store.invocationOf(each.tenantId, each.approvalId), each.invocationId);
    }
  });
}

function rightsCases(check: Check): void {
  check('a delegation stands until it ends, for its tenant', async (store) => {
    const lent = {
      id: 'd1',
      tenantId: 'acme',
      from: ['did:user:alice', HOSTILE] as const,
      roles: ['approver'] as const,
      to: HOSTILE,
      madeAt: 1,
      until: 1000,
    };
    await store.addDelegation(lent);
    deepEqual(await store.delegations('acme', 999), [lent]);
    deepEqual(await store.delegations('acme', 1000), []);
    deepEqual(await store.delegations('globex', 1), []);
    equal(await store.endDelegation('globex', 'd1'), false);
    equal(await store.endDelegation('acme', 'd2'), false);
    const later = [
      { ...lent, id: 'd3', madeAt: 3 },
      { ...lent, id: 'd2', madeAt: 2 },
    ];
    for (const each of later.toReversed()) await store.addDelegation(each);
    deepEqual(await store.delegations('acme', 999), [...later, lent]);
    ok(await store.endDelegation('acme', 'd1'));
    deepEqual(await store.delegations('acme', 999), later);
  });

  check('AUD-07.5 no rule or delegation is made or ended without its events', async (store) => {
    const rules = async () => (await store.changedRules(0)).rules;
    await changedWithEvents((events) => store.addRule(rule(), events), rules);
    await changedWithEvents((events) => store.revokeRule('acme', 'r1', events), rules);
    await unchangedWithoutEvents((events) => store.revokeRule('acme', 'r1', events));
    const lent = { id: 'd1', tenantId: 'acme', from: ['a'], roles: [], to: 'b', madeAt: 1, until: 1000 } as const;
    const delegations = () => store.delegations('acme', 1);
    await changedWithEvents((events) => store.addDelegation(lent, events), delegations);
    await changedWithEvents((events) => store.endDelegation('acme', 'd1', events), delegations);
    await unchangedWithoutEvents((events) => store.endDelegation('acme', 'd1', events));
  });

  check('rules are followed by revision, revoked ones too', async (store) => {
    const start = await store.changedRules(0);
    deepEqual(start.rules, []);
    await store.addRule(rule());
    const first = await store.changedRules(start.revision);
    deepEqual(first.rules, [rule()]);
    await store.addRule(rule({ id: 'r2', tenantId: 'globex' }));
    deepEqual((await store.changedRules(first.revision)).rules, [rule({ id: 'r2', tenantId: 'globex' })]);
    const second = await store.changedRules(first.revision);
    equal(await store.revokeRule('globex', 'r1'), undefined);
    deepEqual(await store.revokeRule('acme', 'r1'), rule({ revoked: true }));
    equal(await store.revokeRule('acme', 'r1'), undefined);
    const third = await store.changedRules(second.revision);
    deepEqual(third.rules, [rule({ revoked: true })]);
    deepEqual((await store.changedRules(third.revision)).rules, []);
  });

  check('a link is used once, and again when its answer was refused', async (store) => {
    const link = { hash: 'f'.repeat(64), tenantId: 'acme', approvalId: 'a1', approver: HOSTILE, expiresAt: 1000 };
    equal(await store.link(link.hash), undefined);
    equal(await store.useLink(link.hash), false);
    const other = { ...link, hash: 'e'.repeat(64), approvalId: 'a2' };
    const links = [other, { ...link, hash: 'd'.repeat(64) }, link];
    for (const each of links) await store.addLink(each);
    for (const each of links) deepEqual(await store.link(each.hash), each);
    const used = await Promise.all([1, 2, 3].map(() => store.useLink(link.hash)));
    equal(used.filter(Boolean).length, 1);
    await store.freeLink(link.hash);
    ok(await store.useLink(link.hash));
    ok(await store.useLink(other.hash));
  });

  check('ORC-05 what is over is removed, and what is not carried out stays with its votes', async (store) => {
    const over = { tenantId: 'acme', approvalId: 'a1' };
    const open = [{ approvalId: 'a2' }, { tenantId: 'globex' }];
    for (const each of [over, ...open]) {
      await store.close(closing(each));
      await store.vote(vote(each));
    }
    await store.mark('acme', 'a1', 'finished');
    const notice = { ...over, invocationId: 'call-1', level: 0 };
    await store.claimNotice(notice, LONG_MS);
    const lent = { from: ['did:user:alice'], roles: ['approver'], to: 'did:user:bob', madeAt: 1 } as const;
    const [ends, ended] = [5001, 5000];
    for (const at of [ends, ended]) {
      await store.addRule(rule({ id: `r${at}`, expiresAt: at }));
      await store.addDelegation({ ...lent, tenantId: 'acme', id: `d${at}`, until: at });
      await store.addLink({ ...over, hash: `${at}`.repeat(16), approver: 'did:user:alice', expiresAt: at });
    }
    equal(await store.prune(ended), 0);
    // The closing, its vote, and one of each of the others.
    equal(await store.prune(ends), 5);
    equal(await store.closing('acme', 'a1'), undefined);
    deepEqual(await store.votes('acme', 'a1'), []);
    for (const { tenantId = 'acme', approvalId = 'a1' } of open) {
      ok((await store.closing(tenantId, approvalId)) !== undefined);
      equal((await store.votes(tenantId, approvalId)).length, 1);
    }
    deepEqual((await store.changedRules(0)).rules, [rule({ id: `r${ends}`, expiresAt: ends })]);
    deepEqual(
      (await store.delegations('acme', 0)).map(({ id }) => id),
      [`d${ends}`],
    );
    equal(await store.link(`${ended}`.repeat(16)), undefined);
    ok((await store.link(`${ends}`.repeat(16))) !== undefined);
    equal(await store.claimNotice(notice, LONG_MS), 'busy');
    await store.prune(Date.now() + LONG_MS);
    equal(await store.claimNotice(notice, LONG_MS), 'taken');
  });
}
