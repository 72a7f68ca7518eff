import { deepEqual, equal, rejects } from 'node:assert/strict';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import { chainedEventOf } from '../domain/event/chained-event.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import type { WaitingCall } from '../domain/invocation/waiting-call.ts';
import type {
  CallQuery,
  ChainCheckpoint,
  Durability,
  LedgerBatch,
  LedgerStore,
  StoredRow,
  WaitingQuery,
} from './ledger-store.port.ts';

const HOSTILE = `nul \0, quote ' " \\, lone \ud800, 🙂, </script>, \u2028`;

/** Requirements of every LedgerStore. `open` gives an empty store each time. */
export function ledgerStoreConformance(
  test: (name: string, run: () => Promise<void>) => void,
  adapter: string,
  open: () => Promise<{ readonly store: LedgerStore; close(): Promise<void> }>,
): void {
  const check: Check = (name, run) =>
    test(`${name} (${adapter})`, async () => {
      const { store, close } = await open();
      try {
        await run(casesOf(store));
      } finally {
        await close();
      }
    });
  recordCases(check);
  eventCases(check);
  chainCases(check);
  verificationCases(check);
  concurrencyCases(check);
}

type Check = (name: string, run: (store: CaseStore) => Promise<void>) => void;

/** The store as the cases use it: they write events in the form in which they are read. */
interface CaseStore extends Omit<LedgerStore, 'append'> {
  append(
    batch: Omit<LedgerBatch, 'events'> & { readonly events: readonly CloudEvent[] },
    durability: Durability,
  ): Promise<void>;
}

const casesOf = (store: LedgerStore): CaseStore => ({
  ...store,
  append: ({ events, ...batch }, durability) =>
    store.append({ ...batch, events: events.map(chainedEventOf) }, durability),
});

function recordCases(check: Check): void {
  check('an invocation that nobody wrote is absent', async (store) => {
    equal(await store.findInvocation('acme', 'call-1'), undefined);
    deepEqual(await store.openInvocations('instance-1'), []);
    await store.append({ records: [], events: [] }, 'synchronous');
  });

  for (const durability of ['synchronous', 'asynchronous'] as const) {
    check(`a record comes back whole after a commit that is ${durability}`, async (store) => {
      const written = record({ result: { text: HOSTILE, numbers: [1e21, 0.1, -1, 12345678901234567890n.toString()] } });
      await store.append({ records: [written], events: [] }, durability);
      deepEqual(await store.findInvocation('acme', 'call-1'), written);
    });
  }

  check('a record replaces the row until the row is final', async (store) => {
    const executing = record({ state: 'EXECUTING' });
    await store.append({ records: [executing], events: [] }, 'synchronous');
    deepEqual(await store.openInvocations('instance-1'), [executing]);
    const done = record({ state: 'COMPLETED', result: 1 });
    await store.append({ records: [done], events: [] }, 'synchronous');
    const late = { records: [record({ state: 'FAILED' })], events: [event(1)] };
    await rejects(store.append(late, 'synchronous'), { code: 'E3802' });
    deepEqual(await store.findInvocation('acme', 'call-1'), done);
    deepEqual(await store.openInvocations('instance-1'), []);
    equal(await store.chainHead('chain-1'), undefined);
  });

  check('PIPE-09 a row is written by one call: another one under its id is refused, with its events', async (store) => {
    const first = record({ state: 'EXECUTING', nonce: 'one' });
    await store.append({ records: [first], events: [] }, 'synchronous');
    const { nonce: _nonce, ...withoutNonce } = first;
    for (const other of [record({ nonce: 'two' }), withoutNonce]) {
      for (const records of [[other], [record({ invocationId: 'beside' }), other], [first, other]]) {
        await rejects(store.append({ records, events: [event(1)] }, 'synchronous'), { code: 'E3802' });
      }
    }
    deepEqual(await store.findInvocation('acme', 'call-1'), first);
    equal(await store.findInvocation('acme', 'beside'), undefined);
    equal(await store.chainHead('chain-1'), undefined);
    const done = record({ nonce: 'one' });
    await store.append({ records: [done], events: [event(1)] }, 'synchronous');
    deepEqual(await store.findInvocation('acme', 'call-1'), done);
  });

  check('of several records of one invocation in a batch the last counts', async (store) => {
    const states = ['DECLARED', 'EXECUTING', 'COMPLETED'] as const;
    await store.append({ records: states.map((state) => record({ state })), events: [] }, 'synchronous');
    equal((await store.findInvocation('acme', 'call-1'))?.state, 'COMPLETED');
  });

  check(
    'AUD-02 ORC-06 a batch that would end a call twice, or replace a later lease, writes nothing',
    async (store) => {
      for (const records of [
        [record({ state: 'COMPLETED' }), record({ state: 'ABORTED' })],
        [record({ state: 'COMPLETED' }), record({ state: 'EXECUTING' })],
        [record({ state: 'EXECUTING', fence: 2 }), record({ state: 'FAILED', fence: 1 })],
      ])
        await rejects(store.append({ records, events: [event(1)] }, 'synchronous'), { code: 'E3802' });
      equal(await store.findInvocation('acme', 'call-1'), undefined);
      equal(await store.chainHead('chain-1'), undefined);
    },
  );

  check('ORC-06 calls that wait are listed by what for, oldest first, page by page', async (store) => {
    const later = (invocationId: string, acceptedAt: number, more: Partial<InvocationRecord> = {}) =>
      record({ invocationId, acceptedAt, state: 'AUTHORIZED', waiting: waitingFor('worker'), ...more });
    const records = [
      later('b', 2_000),
      later('a', 2_000),
      later('c', 1_000, { tenantId: 'globex' }),
      later('asks', 500, { waiting: waitingFor('approval') }),
      later('runs', 3_000, { state: 'EXECUTING', waiting: waitingFor('approval') }),
      later('over', 100, { state: 'COMPLETED' }),
      record({ invocationId: 'plain', state: 'EXECUTING' }),
    ];
    await store.append({ records, events: [] }, 'synchronous');
    const ids = async (query: Partial<WaitingQuery>) =>
      (await store.waitingCalls({ waitsFor: 'worker', limit: 10, ...query })).map(({ invocationId }) => invocationId);
    deepEqual(await ids({}), ['c', 'a', 'b', 'runs']);
    deepEqual(await ids({ waitsFor: 'approval' }), ['asks']);
    deepEqual(await ids({ tenantId: 'globex' }), ['c']);
    deepEqual(await ids({ limit: 2 }), ['c', 'a']);
    deepEqual(await ids({ limit: 2, after: records[1] as InvocationRecord }), ['b', 'runs']);
    await store.append({ records: [record({ invocationId: 'a', state: 'FAILED' })], events: [] }, 'synchronous');
    deepEqual(await ids({}), ['c', 'b', 'runs']);
  });

  check('PIPE-07 results are forgotten some time after their calls completed, and nothing else is', async (store) => {
    const ended = (invocationId: string, acceptedAt: number, second: number, more: Partial<InvocationRecord> = {}) => {
      const { failure: _none, ...row } = record({ invocationId, acceptedAt, result: { text: HOSTILE }, ...more });
      const completed_at = `2026-01-01T00:00:0${second}.000Z`;
      return { ...row, outputHash: 'h', metadata: { ...METADATA, completed_at } };
    };
    const start = Date.parse('2026-01-01T00:00:00.000Z');
    const records = [
      ended('first', start, 1),
      ended('second', start, 2, { tenantId: 'globex' }),
      // A call that was accepted long before, and ended only now.
      ended('long', start - 9_000_000, 5),
      ended('late', start + 4_000, 4),
      record({ invocationId: 'failed', acceptedAt: start, state: 'FAILED' }),
      record({ invocationId: 'waits', acceptedAt: start, state: 'AUTHORIZED', waiting: waitingFor('worker') }),
    ];
    await store.append({ records, events: [event(1)] }, 'synchronous');
    const query = { before: start + 3_000, at: 7, limit: 1 };
    const forgotten: number[] = [];
    let page = await store.forgetResults(query);
    for (
      ;
      page.next !== undefined && forgotten.length < 9;
      page = await store.forgetResults({ ...query, after: page.next })
    )
      forgotten.push(page.forgotten);
    deepEqual([...forgotten, page.forgotten], [0, 1, 1, 0]);
    for (const { tenantId, invocationId, ...row } of records) {
      const isForgotten = invocationId === 'first' || invocationId === 'second';
      const { result: _result, ...kept } = row as InvocationRecord;
      const expected = isForgotten ? { ...kept, resultForgottenAt: 7 } : row;
      deepEqual(await store.findInvocation(tenantId, invocationId), { tenantId, invocationId, ...expected });
    }
    equal((await store.events('acme', {})).length, 1);
    equal((await store.forgetResults(query)).forgotten, 0);
    deepEqual(await store.forgetResults({ ...query, before: start + 9_000, limit: 10 }), { forgotten: 2 });
  });

  check('ORC-06 a writer whose lease was taken over does not replace the row', async (store) => {
    equal(await store.fenceInvocation('acme', 'call-1', 1), undefined);
    const waiting = record({ state: 'AUTHORIZED', waiting: waitingFor('worker') });
    await store.append({ records: [waiting], events: [] }, 'synchronous');
    deepEqual(await store.fenceInvocation('acme', 'call-1', 2), waiting);
    const late = [record({ state: 'FAILED', fence: 1 }), record({ state: 'FAILED' })];
    for (const each of late) {
      await rejects(store.append({ records: [each], events: [event(1)] }, 'synchronous'), { code: 'E3802' });
    }
    deepEqual(await store.fenceInvocation('acme', 'call-1', 1), waiting);
    const done = record({ state: 'COMPLETED', fence: 2, result: 1 });
    await store.append({ records: [done, record({ invocationId: 'call-3' })], events: [] }, 'synchronous');
    deepEqual(await store.findInvocation('acme', 'call-1'), done);
    const final = { records: [record({ state: 'FAILED', fence: 3 })], events: [event(1)] };
    await rejects(store.append(final, 'synchronous'), { code: 'E3802' });
    deepEqual(await store.fenceInvocation('acme', 'call-1', 4), done);
    equal(await store.chainHead('chain-1'), undefined);
  });

  check('VIS-03 calls that may have left something behind are listed, the last first, page by page', async (store) => {
    const made = (invocationId: string, acceptedAt: number, more: Partial<InvocationRecord> = {}) =>
      record({ invocationId, acceptedAt, sideEffect: 'irreversible', state: 'COMPLETED', ...more });
    const records = [
      made('a', 1_000, { turnGroupId: 't-1' }),
      made('c', 2_000, { turnGroupId: 't-1', sideEffect: 'compensatable' }),
      made('b', 2_000, { turnGroupId: 't-2', sideEffect: 'idempotent', state: 'FAILED', agentDid: 'did:web:two' }),
      made('runs', 3_000, { state: 'EXECUTING' }),
      made('pure', 4_000, { turnGroupId: 't-1', sideEffect: 'pure' }),
      made('denied', 4_000, { turnGroupId: 't-1', state: 'DENIED' }),
      made('later', 900, { state: 'DENIED', deferred: true, agentDid: 'did:web:two' }),
      made('latest', 800, { state: 'AUTHORIZED', deferred: true }),
      made('elsewhere', 4_000, { turnGroupId: 't-1', tenantId: 'globex' }),
    ];
    for (const each of records) await store.append({ records: [each], events: [] }, 'synchronous');
    const ids = async (query: Partial<CallQuery>) =>
      (await store.calls({ tenantId: 'acme', sideEffects: true, limit: 10, ...query })).map(
        ({ invocationId }) => invocationId,
      );
    deepEqual(await ids({}), ['runs', 'c', 'b', 'a']);
    deepEqual(await ids({ limit: 2 }), ['runs', 'c']);
    deepEqual(await ids({ limit: 2, before: records[1] as InvocationRecord }), ['b', 'a']);
    deepEqual(await ids({ turnGroupId: 't-1' }), ['c', 'a']);
    deepEqual(await ids({ states: ['AUTHORIZED', 'EXECUTING'] }), ['runs', 'latest']);
    deepEqual(await ids({ agentDid: 'did:web:two' }), ['b']);
    deepEqual(await ids({ sideEffects: false, deferred: true }), ['later', 'latest']);
    deepEqual(await ids({ sideEffects: false, deferred: true, agentDid: 'did:web:two' }), ['later']);
    const nobody = { tenantId: 'acme', agentDid: 'did:web:two' };
    deepEqual(await ids({ owner: nobody }), ['b']);
    deepEqual(await ids({ owner: { ...nobody, userDid: 'did:user:u' } }), []);
    deepEqual(await ids({ tenantId: 'globex' }), ['elsewhere']);
    const [runs] = records.filter(({ state }) => state === 'EXECUTING');
    await store.append({ records: [{ ...(runs as InvocationRecord), state: 'COMPLETED' }], events: [] }, 'synchronous');
    deepEqual(await ids({ limit: 1 }), ['runs']);
    deepEqual(await ids({ turnGroupId: 't-1', limit: 1 }), ['c']);
  });

  check('PRM-10 all calls of a tenant are listed, the last first, by what they are asked for', async (store) => {
    const made = (invocationId: string, acceptedAt: number, more: Partial<InvocationRecord> = {}) =>
      record({ invocationId, acceptedAt, state: 'COMPLETED', sideEffect: 'pure', toolId: 'add', ...more });
    const records = [
      made('a', 1_000),
      made('c', 2_000, { state: 'FAILED' }),
      made('b', 2_000, { toolId: 'other', agentDid: 'did:web:two' }),
      made('B', 2_000, { state: 'DENIED', userDid: 'did:user:u' }),
      made('elsewhere', 3_000, { tenantId: 'globex' }),
    ];
    for (const each of records) await store.append({ records: [each], events: [] }, 'synchronous');
    const ids = async (query: Partial<CallQuery>) =>
      (await store.calls({ tenantId: 'acme', limit: 10, ...query })).map(({ invocationId }) => invocationId);
    deepEqual(await ids({}), ['c', 'b', 'B', 'a']);
    const pages: string[] = [];
    let before: CallQuery['before'];
    for (let page = 0; page < 5; page += 1) {
      const [found] = await store.calls({ tenantId: 'acme', limit: 1, ...(before === undefined ? {} : { before }) });
      if (found === undefined) break;
      pages.push(found.invocationId);
      before = found;
    }
    deepEqual(pages, ['c', 'b', 'B', 'a']);
    deepEqual(await ids({ states: ['FAILED', 'DENIED'] }), ['c', 'B']);
    deepEqual(await ids({ states: [] }), []);
    deepEqual(await ids({ toolId: 'other' }), ['b']);
    deepEqual(await ids({ agentDid: 'did:web:two' }), ['b']);
    deepEqual(await ids({ since: 2_000 }), ['c', 'b', 'B']);
    deepEqual(await ids({ until: 2_000 }), ['a']);
    const { tenantId, agentDid } = record({});
    deepEqual(await ids({ owner: { tenantId, agentDid, userDid: 'did:user:u' } }), ['B']);
    deepEqual(await ids({ owner: { tenantId, agentDid } }), ['c', 'a']);
    deepEqual(await ids({ tenantId: 'globex' }), ['elsewhere']);
  });

  check(
    'VIS-03 PRM-10 side effects of an owner are those of its agent and user, whatever the calls answered',
    async (store) => {
      const users = [undefined, 'alice', 'bob', '', 'a"b', 'a\\b', 'a_b', 'a\0', 'a\ud800'];
      const said = { userDid: 'bob', text: ['\0 \ud800 \\u0000 "userDid":"bob"', { userDid: 'alice' }] };
      for (const [at, userDid] of users.entries()) {
        const more = { acceptedAt: at, sideEffect: 'irreversible', state: 'COMPLETED', result: said } as const;
        const user = userDid === undefined ? {} : { userDid };
        await store.append(
          { records: [record({ invocationId: `call-${at}`, ...more, ...user })], events: [] },
          'synchronous',
        );
      }
      for (const [at, userDid] of users.entries()) {
        const { tenantId, agentDid } = record({});
        const found = await store.calls({
          tenantId,
          sideEffects: true,
          limit: 10,
          owner: { tenantId, agentDid, userDid },
        });
        deepEqual([userDid, found.map(({ invocationId }) => invocationId)], [userDid, [`call-${at}`]]);
        deepEqual(
          await store.calls({ tenantId, sideEffects: true, limit: 10, owner: { tenantId, agentDid: 'x', userDid } }),
          [],
        );
      }
    },
  );

  check('PRM-10 a page of an owner is full, also behind calls of users with a name like theirs', async (store) => {
    const { tenantId, agentDid } = record({});
    const users = ['a"b', 'a_b', 'a_b', 'a\\b', 'a"b', 'a_b', 'a_b', 'a_b'];
    for (const [at, userDid] of users.entries()) {
      const call = record({ invocationId: `call-${at}`, acceptedAt: at, state: 'COMPLETED', userDid });
      await store.append({ records: [call], events: [] }, 'synchronous');
    }
    const owner = { tenantId, agentDid, userDid: 'a"b' };
    const ids = async (query: Partial<CallQuery>) =>
      (await store.calls({ tenantId, owner, limit: 1, ...query })).map(({ invocationId }) => invocationId);
    deepEqual(await ids({}), ['call-4']);
    deepEqual(await ids({ limit: 2 }), ['call-4', 'call-0']);
    deepEqual(await ids({ limit: 3 }), ['call-4', 'call-0']);
    deepEqual(await ids({ before: { acceptedAt: 4, invocationId: 'call-4' } }), ['call-0']);
  });

  check('a tenant has its own invocations', async (store) => {
    const tenants = ['acme', 'globex', 'a\0', 'a\uFFFD', 'a\ud800', 'json:"a"'];
    const records = tenants.map((tenantId) => record({ tenantId, result: tenantId }));
    await store.append({ records, events: [] }, 'synchronous');
    for (const tenantId of tenants) equal((await store.findInvocation(tenantId, 'call-1'))?.result, tenantId);
    equal(await store.findInvocation('other', 'call-1'), undefined);
  });

  check('open invocations are those of the instance, oldest first', async (store) => {
    const records = [
      record({ invocationId: 'b', acceptedAt: 2_000, state: 'EXECUTING' }),
      record({ invocationId: 'a', acceptedAt: 1_000, state: 'AUTHORIZED' }),
      record({ invocationId: 'c', acceptedAt: 500, state: 'EXECUTING', instanceId: 'instance-2' }),
      record({ invocationId: 'd', acceptedAt: 100, state: 'FAILED' }),
    ];
    await store.append({ records, events: [] }, 'synchronous');
    const open = await store.openInvocations('instance-1');
    deepEqual(
      open.map(({ invocationId }) => invocationId),
      ['a', 'b'],
    );
  });
}

function eventCases(check: Check): void {
  check('an event comes back as it was written, so that its hash can be computed again', async (store) => {
    const data = { text: HOSTILE, numbers: [1e21, 1e-7, 0.1, 100, -0.5], deep: { z: [], a: null }, 'nul \0 key': 1 };
    const written = event(1, { data });
    await store.append({ records: [], events: [written] }, 'synchronous');
    const [read] = await store.chainEvents('chain-1', 0, 10);
    equal(canonicalJson(read), canonicalJson(written));
    deepEqual(
      (await store.events('acme', {})).map(({ event }) => event),
      [written],
    );
  });

  check('events are read on from a position, in order', async (store) => {
    await store.append({ records: [], events: [event(1), event(2)] }, 'asynchronous');
    await store.append({ records: [], events: [event(3), event(4), event(5)] }, 'synchronous');
    const first = await store.events('acme', { limit: 2 });
    deepEqual(first.map(seqOf), [1, 2]);
    const rest = await store.events('acme', { after: first[1]?.position ?? 0 });
    deepEqual(rest.map(seqOf), [3, 4, 5]);
    deepEqual(await store.events('acme', { after: rest[2]?.position ?? 0 }), []);
  });

  check('the newest events are the last ones, still in order', async (store) => {
    await store.append({ records: [], events: [1, 2, 3, 4, 5].map((seq) => event(seq)) }, 'synchronous');
    const newest = await store.events('acme', { newest: true, limit: 2 });
    deepEqual(newest.map(seqOf), [4, 5]);
    deepEqual((await store.events('acme', { newest: true, after: newest[0]?.position ?? 0 })).map(seqOf), [5]);
  });

  check('AUD-06.1 events are found by tenant, tool, agent, type and invocation', async (store) => {
    const events = [
      event(1, { data: { invocation_id: 'call-1', tool_id: 'weather', agent_did: 'did:web:one' } }),
      event(2, { data: { invocation_id: 'call-2', tool_id: 'weather', agent_did: 'did:web:other' } }),
      event(3, { type: 'ai.agent.tool.failed', data: { invocation_id: 'call-2', tool_id: 'mail' } }),
      event(4, { tenantid: 'globex', data: { invocation_id: 'call-2', tool_id: 'mail' } }),
      event(5, { data: { invocation_id: 7, tool_id: null, agent_did: ['x'] } }),
    ];
    await store.append({ records: [], events }, 'synchronous');
    const seqs = async (...[tenantId, query]: Parameters<LedgerStore['events']>) =>
      (await store.events(tenantId, query)).map(seqOf);
    deepEqual(await seqs(undefined, {}), [1, 2, 3, 4, 5]);
    deepEqual(await seqs('acme', {}), [1, 2, 3, 5]);
    deepEqual(await seqs('globex', {}), [4]);
    deepEqual(await seqs('nobody', {}), []);
    deepEqual(await seqs('acme', { tool_id: 'weather' }), [1, 2]);
    deepEqual(await seqs('acme', { agent_did: 'did:web:other' }), [2]);
    deepEqual(await seqs('acme', { type: 'ai.agent.tool.failed' }), [3]);
    deepEqual(await seqs('acme', { invocation_id: 'call-2' }), [2, 3]);
    deepEqual(await seqs('acme', { invocation_id: 'call-2', tool_id: 'weather', newest: true }), [2]);
  });

  check('of the events of one call each is found by its type and has its own position', async (store) => {
    const types = ['state_changed', 'invoked', 'state_changed', 'succeeded', 'state_changed'] as const;
    const events = types.map((type, at) => event(at + 1, { type: `ai.agent.tool.${type}`, data: dataOf(at) }));
    await store.append({ records: [], events }, 'synchronous');
    const type = 'ai.agent.tool.state_changed';
    const all = await store.events('acme', { type });
    deepEqual(
      all.map(({ event }) => event),
      [events[0], events[2], events[4]],
    );
    const after = all[0]?.position ?? 0;
    deepEqual((await store.events('acme', { type: 'ai.agent.tool.succeeded' })).map(seqOf), [4]);
    deepEqual((await store.events('acme', { type, after, limit: 1 })).map(seqOf), [3]);
    deepEqual((await store.events('acme', { type, newest: true, limit: 2 })).map(seqOf), [3, 5]);
    deepEqual((await store.events('acme', { invocation_id: 'call-1', after, limit: 2 })).map(seqOf), [2, 3]);
    deepEqual(await store.chainEvents('chain-1', 2, 2), [events[2], events[3]]);
  });

  check('long and short batches of one call are read in pages of any size', async (store) => {
    const places = Array.from({ length: 260 }, (_, at) => at + 1);
    for (const [from, to] of [
      [0, 250],
      [250, 251],
      [251, 260],
    ] as const) {
      const events = places.slice(from, to).map((seq) => event(seq));
      await store.append({ records: [], events }, 'asynchronous');
    }
    for (const limit of [1, 99, 100, 101, 1000]) {
      const seen: number[] = [];
      for (let after = 0, page = await store.events('acme', { limit }); page.length > 0; ) {
        seen.push(...page.map(seqOf));
        after = page.at(-1)?.position ?? after;
        page = await store.events('acme', { after, limit });
      }
      deepEqual(seen, places);
      for (const after of [0, 98, 99, 100, 101, 249, 250, 259]) {
        const read = (await store.chainEvents('chain-1', after, limit)).map(({ chainseq }) => chainseq);
        deepEqual(read, places.slice(after, after + limit));
      }
    }
    deepEqual((await store.events('acme', { newest: true, limit: 12 })).map(seqOf), places.slice(-12));
  });

  check('a sink starts at 0 and goes on where it was', async (store) => {
    equal(await store.sinkPosition('file'), 0);
    await store.setSinkPosition('file', 7);
    await store.setSinkPosition('kafka \0', 3);
    await store.setSinkPosition('file', 9_007_199_254_740_991);
    equal(await store.sinkPosition('file'), 9_007_199_254_740_991);
    equal(await store.sinkPosition('kafka \0'), 3);
  });
}

function chainCases(check: Check): void {
  check('AUD-03 a chain has a head and is read in order', async (store) => {
    equal(await store.chainHead('chain-1'), undefined);
    deepEqual(await store.chainIds(), []);
    await store.append({ records: [], events: [event(1), event(2), event(1, { chainid: 'chain \0' })] }, 'synchronous');
    await store.append({ records: [], events: [event(3)] }, 'synchronous');
    deepEqual(await store.chainHead('chain-1'), { seq: 3, hash: 'hash-3' });
    deepEqual([...(await store.chainIds())].sort(), ['chain \0', 'chain-1']);
    deepEqual(
      (await store.chainEvents('chain-1', 1, 1)).map(({ chainseq }) => chainseq),
      [2],
    );
    deepEqual(
      (await store.chainEvents('chain-1', 1, 10)).map(({ chainseq }) => chainseq),
      [2, 3],
    );
    deepEqual(await store.chainEvents('chain-1', 3, 10), []);
    deepEqual(await store.chainEvents('chain-2', 0, 10), []);
  });

  check('AUD-03 an event whose place is taken fails its whole batch', async (store) => {
    await store.append({ records: [], events: [event(1)] }, 'synchronous');
    const forged = event(1, { id: 'forged', chainhash: 'forged' });
    const batch = { records: [record({})], events: [event(2), forged] };
    await rejects(store.append(batch, 'synchronous'), { code: 'E3812' });
    await rejects(store.append({ records: [], events: [event(5), event(5)] }, 'asynchronous'), { code: 'E3812' });
    equal(await store.findInvocation('acme', 'call-1'), undefined);
    deepEqual(await store.chainHead('chain-1'), { seq: 1, hash: 'hash-1' });
    await store.append({ records: [], events: [event(2)] }, 'synchronous');
    deepEqual(
      (await store.events(undefined, {})).map(({ event }) => event.id),
      ['event-chain-1-1', 'event-chain-1-2'],
    );
  });

  check('AUD-03 a place among events that were written together is taken too', async (store) => {
    await store.append({ records: [], events: [1, 2, 3, 4, 5].map((seq) => event(seq)) }, 'synchronous');
    for (const places of [[3], [5], [5, 6], [2, 3], [1, 2, 3, 4, 5, 6], [6, 7, 7]]) {
      const events = places.map((seq) => event(seq, { id: 'forged' }));
      await rejects(store.append({ records: [], events }, 'synchronous'), {
        code: 'E3812',
        message: /place in the hash chain is taken/,
      });
    }
    const ofAnother = event(1, { chainid: 'chain-2' });
    await rejects(store.append({ records: [], events: [ofAnother, event(3, { id: 'forged' })] }, 'synchronous'), {
      code: 'E3812',
    });
    await store.append({ records: [], events: [event(6), event(8)] }, 'synchronous');
    await rejects(store.append({ records: [], events: [event(7), event(8)] }, 'synchronous'), { code: 'E3812' });
    deepEqual((await store.events(undefined, {})).map(seqOf), [1, 2, 3, 4, 5, 6, 8]);
  });

  check('AUD-03 a batch that continues a chain is refused behind a gap, and writes nothing', async (store) => {
    const continued = (...seqs: number[]) => ({
      records: [record({ invocationId: `call-${seqs[0]}` })],
      events: seqs.map((seq) => event(seq)),
      continues: true,
    });
    await store.append(continued(1), 'synchronous');
    await store.append(continued(2, 3), 'asynchronous');
    for (const batch of [continued(5), continued(5, 6), continued(3), continued(3, 4), continued(2, 3)]) {
      await rejects(store.append(batch, 'synchronous'), { code: 'E3812' });
    }
    equal(await store.findInvocation('acme', 'call-5'), undefined);
    await Promise.all([store.append(continued(4, 5), 'asynchronous'), store.append(continued(6), 'synchronous')]);
    const afterGap = [store.append(continued(8), 'synchronous'), store.append(continued(9), 'synchronous')];
    await Promise.all(afterGap.map((refused) => rejects(refused, { code: 'E3812' })));
    deepEqual((await store.events(undefined, {})).map(seqOf), [1, 2, 3, 4, 5, 6]);
    // As many as need an order: each is sent before the one before it is written.
    await Promise.all([7, 8, 9, 10, 11, 12].map((seq) => store.append(continued(seq), 'synchronous')));
    const ofCalls = (...seqs: number[]) => ({
      records: [record({ invocationId: `call-${seqs[0]}` })],
      events: seqs.map((seq) => event(seq, { subject: `call-${seq}` })),
      continues: true,
    });
    await store.append(ofCalls(13, 14, 15), 'synchronous');
    await rejects(store.append(ofCalls(17, 18), 'synchronous'), { code: 'E3812' });
    deepEqual(
      (await store.chainEvents('chain-1', 0, 100)).map(({ chainseq }) => chainseq),
      Array.from({ length: 15 }, (_, at) => at + 1),
    );
  });

  check('AUD-03 checkpoints of a chain come back exactly, in order of seq', async (store) => {
    const checkpoints = [checkpoint(2), checkpoint(10), checkpoint(10, { hash: 'other' })];
    for (const added of [checkpoint(10), checkpoint(2), checkpoint(10), checkpoint(10, { hash: 'other' })]) {
      await store.addCheckpoint(added);
    }
    await store.addCheckpoint(checkpoint(1, { chainId: 'chain-2' }));
    const read = [...(await store.checkpoints('chain-1'))];
    deepEqual(
      read.map(({ seq }) => seq),
      [2, 10, 10],
    );
    deepEqual(read.sort(byHash), checkpoints.sort(byHash));
    deepEqual(await store.checkpoints('chain-3'), []);
    equal((await store.newestCheckpoint('chain-1'))?.seq, 10);
    deepEqual(await store.newestCheckpoint('chain-2'), checkpoint(1, { chainId: 'chain-2' }));
    equal(await store.newestCheckpoint('chain-3'), undefined);
  });
}

function verificationCases(check: Check): void {
  check('AUD-07 all rows are read page by page, each once, whosever they are', async (store) => {
    const ids = ['a', 'B', 'é', HOSTILE, 'json:"a"', 'b'];
    const records = ids.flatMap((invocationId) =>
      ['acme', 'Globex', 'acme \0'].map((tenantId) => record({ invocationId, tenantId, state: 'COMPLETED' })),
    );
    await store.append({ records, events: [] }, 'synchronous');
    for (const limit of [1, 4, records.length, 100]) {
      const read: StoredRow[] = [];
      for (let page = await store.allInvocations({ limit }); page.length > 0; ) {
        read.push(...page);
        page = await store.allInvocations({ limit, after: (page.at(-1) as StoredRow).call });
      }
      deepEqual(read.map(({ call }) => keyOf(call)).sort(), records.map(keyOf).sort());
      deepEqual(read.map(({ record: each }) => keyOf(each)).sort(), records.map(keyOf).sort());
    }
  });

  check('AUD-07 the store says which of some calls have a row', async (store) => {
    const records = [record({ invocationId: HOSTILE }), record({ invocationId: 'b', tenantId: 'globex' })];
    await store.append({ records, events: [] }, 'synchronous');
    deepEqual(await store.recordedCalls([]), []);
    const asked = [...records, record({ invocationId: 'b' }), record({ tenantId: 'globex', invocationId: 'c' })];
    for (const calls of [asked, asked.slice(0, 1)]) {
      const found = await store.recordedCalls(calls.map(({ tenantId, invocationId }) => ({ tenantId, invocationId })));
      deepEqual(found.map(keyOf).sort(), records.slice(0, calls.length).map(keyOf).sort());
    }
  });

  check('AUD-07 the events about some calls are found in all chains, in order', async (store) => {
    const about = (invocation_id: string, seq: number, more: Partial<CloudEvent> = {}) =>
      event(seq, { data: { invocation_id }, ...more });
    const long = 'x'.repeat(400);
    await store.append(
      { records: [], events: [about('a', 1), about('a', 2), about('b', 3), about('a', 4), about(long, 5)] },
      'synchronous',
    );
    const elsewhere = { chainid: 'chain-2' };
    const events = [about('a', 1, elsewhere), about('a', 2, { ...elsewhere, tenantid: 'globex' }), event(3, elsewhere)];
    await store.append({ records: [], events }, 'asynchronous');
    const found = async (...ids: string[]) =>
      (await store.eventsAbout(ids.map((invocationId) => ({ tenantId: 'acme', invocationId }))))
        .filter(({ data }) => ids.includes(String(data['invocation_id'])))
        .map(({ chainid, chainseq }) => `${chainid} ${chainseq}`);
    deepEqual(await store.eventsAbout([]), []);
    deepEqual(await found('none'), []);
    deepEqual(await found('a'), ['chain-1 1', 'chain-1 2', 'chain-1 4', 'chain-2 1']);
    deepEqual((await found('b', long)).sort(), ['chain-1 3', 'chain-1 5']);
    // Events that are written later are found too.
    await store.append({ records: [], events: [about('b', 6)] }, 'synchronous');
    deepEqual(await found('b'), ['chain-1 3', 'chain-1 6']);
  });
}

const keyOf = ({ tenantId, invocationId }: Pick<InvocationRecord, 'tenantId' | 'invocationId'>): string =>
  JSON.stringify([tenantId, invocationId]);

function concurrencyCases(check: Check): void {
  check('writers at the same time lose nothing', async (store) => {
    const writers = Array.from({ length: 32 }, async (_, writer) => {
      for (let seq = 1; seq <= 10; seq += 1) {
        const chainid = `chain-${writer}`;
        const written = record({ invocationId: `${chainid}-${seq}`, state: 'COMPLETED' });
        await store.append({ records: [written], events: [event(seq, { chainid })] }, 'asynchronous');
      }
    });
    await Promise.all(writers);
    equal((await store.chainIds()).length, 32);
    equal((await store.events(undefined, { limit: 1000 })).length, 320);
    equal((await store.findInvocation('acme', 'chain-31-10'))?.state, 'COMPLETED');
  });

  check('writers of the same rows in different order do not block one another', async (store) => {
    const records = Array.from({ length: 20 }, (_, at) => record({ invocationId: `call-${at}`, state: 'EXECUTING' }));
    const batches = Array.from({ length: 16 }, (_, at) => (at % 2 === 0 ? records : records.toReversed()));
    await Promise.all(batches.map((batch) => store.append({ records: batch, events: [] }, 'asynchronous')));
    equal((await store.openInvocations('instance-1')).length, 20);
  });

  check(
    'AUD-02 a reader that goes on from position to position misses no event of writers at the same time',
    async (store) => {
      const seen: string[] = [];
      let writing = true;
      const reader = (async () => {
        let after = 0;
        for (let last = false; ; last = !writing) {
          const page = await store.events(undefined, { after, limit: 1000 });
          seen.push(...page.map(({ event }) => event.id));
          after = page.at(-1)?.position ?? after;
          if (last && page.length === 0) return;
        }
      })();
      const writers = Array.from({ length: 16 }, async (_, writer) => {
        for (let seq = 1; seq <= 60; seq += 3) {
          const chainid = `chain-${writer}`;
          const events = [seq, seq + 1, seq + 2].map((each) => event(each, { chainid }));
          await store.append({ records: [], events }, seq % 2 === 0 ? 'synchronous' : 'asynchronous');
        }
      });
      await Promise.all(writers);
      writing = false;
      await reader;
      equal(seen.length, 16 * 60);
      equal(new Set(seen).size, 16 * 60);
    },
  );
}

/** Members that all events of a call share, members of some events, and members that differ. */
const dataOf = (at: number): CloudEvent['data'] => ({
  invocation_id: 'call-1',
  text: HOSTILE,
  capabilities: ['read'],
  step: at,
  ...(at % 2 === 0 ? { even: null } : { odd: [at] }),
});

function record(changes: Partial<InvocationRecord>): InvocationRecord {
  return {
    invocationId: 'call-1',
    tenantId: 'acme',
    agentDid: 'did:web:agent',
    toolId: 'weather',
    door: 'rest',
    state: 'COMPLETED',
    instanceId: 'instance-1',
    warnings: [{ code: 'E3003', message: HOSTILE }],
    acceptedAt: 1_767_323_045_678,
    failure: { failed: true, code: 'E3109', message: HOSTILE, details: { at: HOSTILE } },
    ...changes,
  };
}

const METADATA = {
  duration_ms: 1,
  started_at: '2026-01-01T00:00:00.000Z',
  cpu_used_millicore_seconds: 0,
  memory_peak_mb: 0,
  network_bytes_sent: 0,
  network_bytes_received: 0,
  documents_accessed: [],
  checkpoints_created: [],
  attempts: 1,
  cached: false,
};

function event(seq: number, changes: Partial<CloudEvent> = {}): CloudEvent {
  return {
    specversion: '1.0',
    id: `event-${changes.chainid ?? 'chain-1'}-${seq}`,
    source: '/sallyport/instance-1',
    type: 'ai.agent.tool.state_changed',
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    tenantid: 'acme',
    chainid: 'chain-1',
    chainseq: seq,
    chainprev: `hash-${seq - 1}`,
    chainhash: `hash-${seq}`,
    data: { invocation_id: 'call-1' },
    ...changes,
  };
}

function checkpoint(seq: number, changes: Partial<ChainCheckpoint> = {}): ChainCheckpoint {
  const time = '2026-01-02T03:04:05.600Z';
  return { chainId: 'chain-1', seq, hash: `hash-${seq}`, time, keyId: 'key-1', signature: 'c2lnbmF0dXJl', ...changes };
}

const seqOf = ({ event }: { readonly event: CloudEvent }): number => event.chainseq;
const byHash = (one: ChainCheckpoint, other: ChainCheckpoint): number => (one.hash < other.hash ? -1 : 1);

const waitingFor = (what: 'worker' | 'approval'): WaitingCall => ({
  request: { tool_id: 'weather' },
  claims: {
    tool_id: '*',
    agent_did: 'did:web:one',
    tenant_id: 'acme',
    allowed_operations: ['*'],
    iss: 'test',
    iat: 1,
    exp: 2,
    jti: 'j',
  },
  wait: what === 'worker' ? { for: 'worker', confirmed: false } : { for: 'approval', approval: APPROVAL },
  since: 1,
});

const APPROVAL = {
  approvalId: 'approval-1',
  reason: 'policy',
  binding: {
    tenantId: 'acme',
    agentDid: 'did:web:one',
    toolId: 'weather',
    toolVersion: '1.0.0',
    contentHash: 'h',
    inputHash: 'h',
    policyVersion: '1',
  },
  requestedAt: 1,
  expiresAt: 2,
} as const;
