import { expect, test } from 'vitest';
import { memoryApprovalStore } from '../../../../test/stores/approvals/memory-approval-store.ts';
import type { ApprovalBinding } from '../../../domain/invocation/waiting-call.ts';
import type { StoredRule } from '../../approval-store.port.ts';
import { movedClock, notingLog } from '../approvals.fixture.ts';
import { createStandingRules, type StandingRuleParts } from '../standing-rules.ts';

const HOUR = 3_600_000;

const BINDING: ApprovalBinding = {
  tenantId: 'acme',
  agentDid: 'did:agent:a',
  userDid: 'did:user:u',
  toolId: 'send',
  toolVersion: '1.0.0',
  contentHash: 'content',
  inputHash: 'input',
  policyVersion: '1',
};

function rulesOf(more: Partial<StandingRuleParts> = {}) {
  const clock = movedClock();
  const store = memoryApprovalStore({ clock });
  const { log, lines } = notingLog();
  const rules = createStandingRules({ store, clock, log, followMs: 1, ...more });
  const rule = (own: Partial<StoredRule> = {}): StoredRule => ({
    id: 'rule',
    tenantId: 'acme',
    agentDid: 'did:agent:a',
    userDid: 'did:user:u',
    toolId: 'send',
    contentHash: 'content',
    reason: 'trust',
    inputHash: 'input',
    policyVersion: '1',
    madeAt: clock.now(),
    expiresAt: clock.now() + HOUR,
    madeBy: 'did:user:alice',
    approvalId: 'approval',
    ...own,
  });
  const match = (own: Partial<ApprovalBinding> = {}, reason: StoredRule['reason'] = 'trust') =>
    rules.match({ reason, binding: { ...BINDING, ...own } }, () => true)?.id;
  return { clock, store, lines, rules, rule, match };
}

test('ORC-05.1 a rule approves what is the same in everything that it names, and nothing else', () => {
  const { rules, rule, match } = rulesOf();
  rules.take(rule());
  expect(match()).toBe('rule');
  for (const other of [
    { tenantId: 'globex' },
    { agentDid: 'did:agent:b' },
    { userDid: 'did:user:v' },
    { toolId: 'pay' },
    { contentHash: 'other' },
    { inputHash: 'other' },
    { policyVersion: '2' },
    { question: 'It is odd.' },
  ])
    expect(match(other), JSON.stringify(other)).toBeUndefined();
  const { userDid: _user, ...withoutUser } = BINDING;
  expect(rules.match({ reason: 'trust', binding: withoutUser }, () => true)).toBeUndefined();
  expect(match({}, 'policy')).toBeUndefined();
  // The version itself does not count: the definition does.
  expect(match({ toolVersion: '1.0.1' })).toBe('rule');
});

test('ORC-05.1 what a rule does not name is open, and a question of an executor takes the very arguments', () => {
  const { rules, rule, match } = rulesOf();
  const { agentDid: _agent, userDid: _user, inputHash: _input, policyVersion: _policy, ...wide } = rule();
  rules.take(wide);
  expect(match({ agentDid: 'did:agent:b', inputHash: 'other', policyVersion: '2' })).toBe('rule');
  expect(match({ contentHash: 'other' })).toBeUndefined();
  rules.take({ ...wide, reason: 'executor' });
  expect(match({ question: 'It is odd.' }, 'executor')).toBeUndefined();
  expect(match({}, 'executor')).toBe('rule');
  rules.take(rule({ reason: 'executor' }));
  expect(match({ question: 'It is odd.' }, 'executor')).toBe('rule');
});

test('ORC-05.2 a rule ends with its time, when it is revoked, and where the caller skips it', () => {
  const { clock, rules, rule, match } = rulesOf();
  rules.take(rule());
  rules.take(rule({ id: 'other', expiresAt: clock.now() + 2 * HOUR }));
  clock.pass(HOUR - 1);
  expect(match()).toBe('rule');
  const skipped: string[] = [];
  const second = rules.match({ reason: 'trust', binding: BINDING }, ({ id }) => {
    skipped.push(id);
    return id === 'other';
  });
  expect([second?.id, skipped]).toEqual(['other', ['rule', 'other']]);
  clock.pass(1);
  expect(match()).toBe('other');
  expect(rules.list('acme').map(({ id }) => id)).toEqual(['other']);
  rules.take(rule({ id: 'other', expiresAt: clock.now() + HOUR, revoked: true }));
  expect(match()).toBeUndefined();
  expect(rules.list('acme')).toEqual([]);
  // One that is over when it is read counts as little, and takes no other rule with it.
  rules.take(rule({ id: 'third', expiresAt: clock.now() + 1 }));
  rules.take(rule({ id: 'fourth', expiresAt: clock.now() }));
  rules.take(rule({ id: 'third', tenantId: 'globex', expiresAt: clock.now() }));
  expect(rules.list('acme').map(({ id }) => id)).toEqual(['third']);
  expect(match()).toBe('third');
});

test('rules are listed by tenant, the latest first, and those of one moment by id', () => {
  const { clock, rules, rule } = rulesOf();
  for (const [id, madeAt] of [
    ['b', 1],
    ['a', 1],
    ['c', 2],
    ['d', 0],
  ] as const)
    rules.take(rule({ id, madeAt, expiresAt: clock.now() + HOUR }));
  rules.take(rule({ id: 'e', tenantId: 'globex' }));
  expect(rules.list('acme').map(({ id }) => id)).toEqual(['c', 'a', 'b', 'd']);
  expect(rules.list('globex').map(({ id }) => id)).toEqual(['e']);
  expect(rules.list('other')).toEqual([]);
});

test('rules of the store are read at the start, which fails when they cannot be read, and followed until the end', async () => {
  const { store, rules, rule } = rulesOf();
  await store.addRule(rule());
  expect(rules.list('acme')).toEqual([]);
  await rules.start();
  expect(rules.list('acme')).toHaveLength(1);
  await store.addRule(rule({ id: 'second' }));
  await expect.poll(() => rules.list('acme').length, { interval: 1 }).toBe(2);
  await rules[Symbol.asyncDispose]();
  const away = rulesOf({ store: { changedRules: () => Promise.reject(new Error('away')) } });
  await expect(away.rules.start()).rejects.toThrow('away');
});

test('an outage of the store is logged once, is shown as long as it lasts, and no change of that time is missed', async () => {
  let isAway = false;
  let reads = 0;
  const given: number[] = [];
  const inner = memoryApprovalStore();
  const changedRules = async (revision: number) => {
    reads += 1;
    if (isAway) throw new Error('away');
    given.push(revision);
    return inner.changedRules(revision);
  };
  const { lines, rules, rule } = rulesOf({ store: { changedRules } });
  await rules.start();
  expect(rules.problem()).toBeUndefined();
  isAway = true;
  const readsBefore = reads;
  await expect.poll(() => reads, { interval: 1 }).toBeGreaterThan(readsBefore + 3);
  expect(rules.problem()).toBe('away');
  expect(lines).toEqual(['error approval-rules-not-followed {"reason":"away"}']);
  await inner.addRule(rule());
  isAway = false;
  await expect.poll(() => rules.list('acme').length, { interval: 1 }).toBe(1);
  expect(rules.problem()).toBeUndefined();
  // Each poll takes up where the last one ended.
  expect(given[0]).toBe(0);
  await expect.poll(() => given.at(-1), { interval: 1 }).toBe(1);
  isAway = true;
  await expect.poll(() => lines.length, { interval: 1 }).toBe(2);
  await rules[Symbol.asyncDispose]();
  // Nothing is read after the end, while other rules are read many times.
  const atEnd = reads;
  const others = rulesOf();
  await others.rules.start();
  for (let at = 0; at < 5; at += 1) {
    await others.store.addRule(others.rule({ id: `${at}` }));
    await expect.poll(() => others.rules.list('acme').length, { interval: 1 }).toBe(at + 1);
  }
  await others.rules[Symbol.asyncDispose]();
  expect(reads).toBe(atEnd);
});

test('closing waits for the poll that is under way, and says nothing of what it finds', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let reads = 0;
  const changedRules = async () => {
    reads += 1;
    if (reads === 1) return { revision: 0, rules: [] };
    await released;
    throw new Error('away');
  };
  const { lines, rules } = rulesOf({ store: { changedRules } });
  await rules.start();
  await expect.poll(() => reads, { interval: 1 }).toBe(2);
  let isClosed = false;
  const closed = rules[Symbol.asyncDispose]().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  release();
  await closed;
  expect(lines).toEqual([]);
  expect(reads).toBe(2);
});
