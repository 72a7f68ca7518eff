import { deepEqual, equal } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestCase } from '@sallyport/std/adapter-cases';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { CallKey } from '../../domain/invocation/call-key.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { CallLeaseStore, LeaseHolder } from '../call-lease-store.port.ts';

/** A store of leases, and the ledger with the calls that are leased; both empty. */
export interface OpenLeases {
  readonly leases: CallLeaseStore;
  readonly ledger: LedgerStore;
  close(): Promise<void>;
}

const LONG_MS = 60_000;
const SHORT_MS = 20;
/** Long enough for four statements on a busy machine, and short enough to wait for. */
const BEAT_MS = 1_500;
/** More calls than a store handles in one statement. */
const MANY = 150;
const call: CallKey = { tenantId: 'acme', invocationId: 'call-1' };
const one: LeaseHolder = { instanceId: 'one', owner: 'one/1' };
const two: LeaseHolder = { instanceId: 'two', owner: 'two/1' };
const FIRST = { fence: 1, begun: false, preemptions: 0, extendedMs: 0 };

/** Requirements of every CallLeaseStore. */
export function callLeaseStoreConformance(test: TestCase, adapter: string, open: () => Promise<OpenLeases>): void {
  const check = (name: string, run: (opened: OpenLeases) => Promise<void>): void =>
    test(`${name} (${adapter})`, async () => {
      const opened = await open();
      try {
        await run(opened);
      } finally {
        await opened.close();
      }
    });
  takingCases(check);
  wordCases(check);
  sweepCases(check);
}

type Check = (name: string, run: (opened: OpenLeases) => Promise<void>) => void;

function takingCases(check: Check): void {
  check('ORC-01 one of all takers at the same time gets the lease', async ({ leases }) => {
    const takers = Array.from({ length: 16 }, (_, at) => ({ instanceId: `i${at}`, owner: `i${at}/1` }));
    const taken = await Promise.all(takers.map((holder) => leases.take(call, holder, LONG_MS)));
    deepEqual(
      taken.filter((lease) => lease !== undefined),
      [FIRST],
    );
    deepEqual(await leases.take({ ...call, tenantId: 'globex' }, two, LONG_MS), FIRST);
  });

  check("ORC-01 of many calls at the same time each is one holder's, begun by it alone", async ({ leases }) => {
    const calls = Array.from({ length: MANY }, (_, at) => ({ ...call, invocationId: `call-${at}` }));
    const takers = calls.flatMap((each) => [one, two].map((holder) => ({ each, holder })));
    const taken = await Promise.all(
      takers.map(async ({ each, holder }) => {
        const lease = await leases.take(each, holder, LONG_MS);
        const begun = await leases.begin(each, holder.owner, 1);
        return { id: each.invocationId, isMine: lease !== undefined, begun };
      }),
    );
    const mine = taken.filter(({ isMine }) => isMine);
    deepEqual(
      mine.map(({ id }) => id),
      calls.map(({ invocationId }) => invocationId),
    );
    deepEqual(
      taken.filter(({ isMine, begun }) => isMine !== begun),
      [],
    );
    // A holder gives back only its own leases.
    await Promise.all(takers.map(({ each, holder }) => leases.release(each, holder.owner, 2)));
    deepEqual(await Promise.all(calls.map(async (each) => (await leases.find(each))?.live)), Array(MANY).fill(true));
    await Promise.all(takers.map(({ each, holder }) => leases.release(each, holder.owner, 1)));
    deepEqual(await Promise.all(calls.map((each) => leases.find(each))), Array(MANY).fill(undefined));
  });

  check(
    'ORC-01 a lease that is not renewed is taken over, and the former holder begins nothing',
    async ({ leases }) => {
      await leases.take(call, one, LONG_MS);
      equal(await leases.begin(call, one.owner, 1), true);
      await leases.beat(one, SHORT_MS, [call]);
      await sleep(2 * SHORT_MS);
      deepEqual(await leases.take(call, two, LONG_MS), { ...FIRST, fence: 2, begun: true });
      equal(await leases.begin(call, one.owner, 1), false);
      equal(await leases.begin(call, two.owner, 1), false);
      equal(await leases.begin(call, two.owner, 2), true);
      await leases.release(call, one.owner, 1);
      await leases.putBack(call, one.owner, 1, true);
      equal(await leases.take(call, one, LONG_MS), undefined);
      deepEqual((await leases.beat(one, LONG_MS, [call])).held, []);
    },
  );

  check('a beat renews the leases of what its holder attends to, and nobody else can take them', async ({ leases }) => {
    const [other, left] = [
      { ...call, invocationId: 'call-2' },
      { ...call, invocationId: 'call-3' },
    ];
    for (const each of [call, other, left]) await leases.take(each, one, BEAT_MS);
    const { held } = await leases.beat(one, LONG_MS, [call, other]);
    deepEqual(held.map(({ invocationId, fence }) => [invocationId, fence]).sort(), [
      ['call-1', 1],
      ['call-2', 1],
    ]);
    await sleep(BEAT_MS + SHORT_MS);
    for (const each of [call, other]) equal(await leases.take(each, two, LONG_MS), undefined);
    equal((await leases.take(left, two, LONG_MS))?.fence, 2);
  });

  check('a lease that was given back is free, and forgotten', async ({ leases }) => {
    await leases.take(call, one, LONG_MS);
    await leases.release(call, one.owner, 1);
    equal(await leases.find(call), undefined);
    deepEqual(await leases.take(call, two, LONG_MS), FIRST);
  });

  check('ORC-06 leases are forgotten that ended with their calls, and no others', async ({ leases, ledger }) => {
    const over = (id: string): InvocationRecord => {
      const { waiting: _waiting, ...row } = waiting(id, 1);
      return { ...row, state: 'COMPLETED' };
    };
    await ledger.append({ records: [over('over'), over('held'), waiting('waits', 1)], events: [] }, 'synchronous');
    const [ended, held, waits] = ['over', 'held', 'waits'].map((invocationId) => ({ ...call, invocationId }));
    for (const each of [ended, waits]) await leases.take(each ?? call, one, 1);
    await leases.take(held ?? call, one, LONG_MS);
    await sleep(SHORT_MS);
    await leases.forgetEnded();
    const kept = await Promise.all([ended, held, waits].map((each) => leases.find(each ?? call)));
    deepEqual(
      kept.map((each) => each?.live),
      [undefined, true, false],
    );
  });

  check('PIPE-08 a call that was put back keeps count, and did not begin', async ({ leases }) => {
    await leases.take(call, one, LONG_MS);
    await leases.begin(call, one.owner, 1);
    await leases.putBack(call, one.owner, 1, true);
    equal((await leases.find(call))?.live, false);
    deepEqual(await leases.take(call, two, LONG_MS), { ...FIRST, fence: 2, preemptions: 1 });
    await leases.putBack(call, two.owner, 2, false);
    deepEqual(await leases.take(call, one, LONG_MS), { ...FIRST, fence: 3, preemptions: 1 });
  });
}

function wordCases(check: Check): void {
  check('ORC-01 word for a running call reaches its holder with the next beat', async ({ leases }) => {
    equal(await leases.notifyHolder(call, { cancel: 'x' }), false);
    await leases.take(call, one, LONG_MS);
    equal(await leases.notifyHolder(call, { cancel: 'enough \0' }), true);
    await leases.notifyHolder(call, { extendMs: 5_000 });
    await leases.notifyHolder(call, { extendMs: 7_000 });
    const [held] = (await leases.beat(one, LONG_MS, [call])).held;
    equal(held?.extendedMs, 12_000);
    equal(held?.cancel?.startsWith('enough'), true);
    equal(await leases.notifyHolder({ ...call, tenantId: 'globex' }, { cancel: 'x' }), false);
  });

  check('ORC-01 PIPE-06 a cancel that its holder did not read reaches the next one', async ({ leases }) => {
    await leases.take(call, one, LONG_MS);
    equal(await leases.notifyHolder(call, { cancel: 'enough' }), true);
    await leases.release(call, two.owner, 1);
    equal((await leases.find(call))?.live, true);
    await leases.release(call, one.owner, 1);
    deepEqual(await leases.find(call), { live: false });
    deepEqual(await leases.take(call, two, LONG_MS), { ...FIRST, fence: 2, cancel: 'enough' });
  });

  check('API-03.10 answers to a call reach its holder, beside earlier ones, and nobody else', async ({ leases }) => {
    const odd = { action: 'accept', content: { name: '\0 \ud800 "' } };
    equal(await leases.notifyHolder(call, { answers: { a: odd } }), false);
    await leases.take(call, one, LONG_MS);
    equal((await leases.beat(one, LONG_MS, [call])).held[0]?.answers, undefined);
    equal(await leases.notifyHolder(call, { answers: { a: odd } }), true);
    equal(await leases.notifyHolder(call, { answers: { b: null } }), true);
    await leases.notifyHolder(call, { extendMs: 1 });
    deepEqual((await leases.beat(two, LONG_MS, [call])).held, []);
    deepEqual((await leases.beat(one, LONG_MS, [call])).held[0]?.answers, { a: odd, b: null });
  });

  check('API-03.10 open questions of a call can be read by everybody, until there are none', async ({ leases }) => {
    await leases.take(call, one, LONG_MS);
    const questions = { q: { method: 'elicitation/create', params: { message: 'Who? \0' } } };
    await leases.beat(one, LONG_MS, [{ ...call, progress: { percent: 1, questions } }]);
    deepEqual((await leases.find(call))?.progress, { percent: 1, questions });
    await leases.beat(one, LONG_MS, [{ ...call, progress: { questions: {} } }]);
    deepEqual((await leases.find(call))?.progress, { questions: {} });
  });

  check('word for a call without a lease reaches its instance once', async ({ leases }) => {
    await leases.notifyInstance(call, 'one', 'enough');
    deepEqual((await leases.beat(two, LONG_MS, [])).unheld, []);
    deepEqual((await leases.beat(one, LONG_MS, [])).unheld, [{ ...call, cancel: 'enough' }]);
    deepEqual((await leases.beat(one, LONG_MS, [])).unheld, []);
    await leases.notifyInstance(call, 'one', 'too early');
    deepEqual(await leases.take(call, one, LONG_MS), { ...FIRST, cancel: 'too early' });
  });

  check('PIPE-07 how far a call is can be read by everybody, while it is held', async ({ leases }) => {
    await leases.take(call, one, LONG_MS);
    deepEqual(await leases.find(call), { live: true });
    const progress = { percent: 40, phase: 'half \0 "way' };
    await leases.beat(two, LONG_MS, [{ ...call, progress: { percent: 99 } }]);
    await leases.beat(one, LONG_MS, [{ ...call, progress }]);
    await leases.beat(one, LONG_MS, [call]);
    deepEqual(await leases.find(call), { live: true, progress });
  });
}

function sweepCases(check: Check): void {
  check('ORC-06 unattended are calls that wait for a worker and that nobody holds', async ({ leases, ledger }) => {
    const ids = ['a', 'b', 'c', 'd'];
    const records = ids.map((invocationId, at) => waiting(invocationId, Date.now() - 1_000 + at));
    const fresh = waiting('fresh', Date.now() + LONG_MS);
    const { waiting: _waiting, ...plain } = waiting('plain', 1);
    await ledger.append({ records: [...records, fresh, plain], events: [] }, 'synchronous');
    await leases.take({ ...call, invocationId: 'b' }, one, LONG_MS);
    await leases.take({ ...call, invocationId: 'c' }, one, SHORT_MS);
    await sleep(2 * SHORT_MS);
    const unattended = async (limit: number, idleMs: number) =>
      (await leases.unattended(limit, idleMs)).map(({ invocationId }) => invocationId);
    deepEqual(await unattended(10, 500), ['a', 'c', 'd']);
    deepEqual(await unattended(2, 500), ['a', 'c']);
    deepEqual(await unattended(10, LONG_MS), ['c']);
    deepEqual(await leases.unattended(1, 500), [{ ...call, invocationId: 'a', acceptedAt: records[0]?.acceptedAt }]);
  });

  check('the leases of earlier lives of an instance are over', async ({ leases }) => {
    await leases.take(call, one, LONG_MS);
    await leases.take({ ...call, invocationId: 'call-2' }, two, LONG_MS);
    const again = { ...one, owner: 'one/2' };
    equal(await leases.endFormerLives(again), 1);
    equal(await leases.endFormerLives(again), 0);
    equal((await leases.take(call, again, LONG_MS))?.fence, 2);
    equal(await leases.take({ ...call, invocationId: 'call-2' }, again, LONG_MS), undefined);
  });

  check(
    'ORC-01 an instance that stopped beating is found once, and by its own beat alive again',
    async ({ leases }) => {
      equal((await leases.beat(one, LONG_MS, [])).instances, 1);
      equal((await leases.beat(two, LONG_MS, [])).instances, 2);
      await leases.beat(one, SHORT_MS, []);
      await sleep(2 * SHORT_MS);
      deepEqual(await leases.takeDeadInstances(one, LONG_MS), []);
      deepEqual(await leases.takeDeadInstances(two, LONG_MS), ['one']);
      deepEqual(await leases.takeDeadInstances(two, LONG_MS), []);
      await leases.beat(one, SHORT_MS, []);
      await leases.forgetInstance('one', two.owner);
      await sleep(2 * SHORT_MS);
      deepEqual(await leases.takeDeadInstances(two, SHORT_MS), ['one']);
      await leases.forgetInstance('one', two.owner);
      await sleep(2 * SHORT_MS);
      deepEqual(await leases.takeDeadInstances(two, SHORT_MS), []);
    },
  );
}

function waiting(invocationId: string, acceptedAt: number): InvocationRecord {
  return {
    ...call,
    invocationId,
    agentDid: 'did:agent:a',
    toolId: 't',
    door: 'rest',
    state: 'AUTHORIZED',
    instanceId: 'one',
    warnings: [],
    acceptedAt,
    waiting: {
      request: { tool_id: 't' },
      claims: {
        tool_id: '*',
        agent_did: 'did:agent:a',
        tenant_id: 'acme',
        allowed_operations: ['*'],
        iss: 'test',
        iat: 1,
        exp: 2,
        jti: 'j',
      },
      wait: { for: 'worker', confirmed: false },
      since: acceptedAt,
    },
  };
}
