import { createHmac } from 'node:crypto';
import { sha256 } from '@sallyport/std/sha256';
import { beforeEach, expect, test } from 'vitest';
import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { CallKey } from '../../domain/invocation/call-key.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { CheckpointSigner } from '../checkpoint.ts';
import { type Ledger, openLedger } from '../ledger.ts';
import type { LedgerStore } from '../ledger-store.port.ts';
import { verifyLedger } from '../verify-ledger.ts';
import { createCallVerification } from './verify-calls.ts';

const mac = (text: string): string => createHmac('sha256', 'key').update(text).digest('base64url');
const signer: CheckpointSigner = {
  sign: async (text) => ({ keyId: 'k', signature: mac(text) }),
  verify: async (text, keyId, signature) => keyId === 'k' && signature === mac(text),
};

let store: LedgerStore;
let ledger: Ledger;

beforeEach(async () => {
  store = memoryLedgerStore();
  ledger = await openLedger({ store, chainId: 'one', log: silentLog });
});

const row = (invocationId: string, state: LifecycleState, more: Partial<InvocationRecord> = {}): InvocationRecord => ({
  invocationId,
  tenantId: 'acme',
  agentDid: 'did:agent:one',
  toolId: 'pay',
  state,
  instanceId: 'one',
  door: 'rest',
  acceptedAt: 1_000,
  warnings: [],
  ...more,
});

const told = (invocationId: string, state: LifecycleState, data: EventDraft['data'] = {}): EventDraft => ({
  id: `${invocationId} ${state}`,
  type: TYPES[state] ?? 'ai.agent.tool.state_changed',
  time: 1_000,
  tenantId: 'acme',
  subject: invocationId,
  data: { agent_did: 'did:agent:one', tool_id: 'pay', door: 'rest', invocation_id: invocationId, state, ...data },
});

const RESULT = { paid: 3 };
const HASH = sha256('{"paid":3}');

const TYPES: Partial<Record<LifecycleState, EventType>> = {
  EXECUTING: 'ai.agent.tool.invoked',
  COMPLETED: 'ai.agent.tool.succeeded',
  DENIED: 'ai.agent.tool.failed',
  ABORTED: 'ai.agent.tool.timeout',
  ROLLED_BACK: 'ai.agent.tool.rolled_back',
};

const commit = (record: InvocationRecord | undefined, events: readonly EventDraft[], inRow?: true) =>
  ledger.commit({
    ...(record === undefined ? {} : { record }),
    events,
    durability: 'asynchronous',
    ...(inRow === undefined ? {} : { inRow }),
  });

const completed = (id: string) =>
  commit(row(id, 'COMPLETED', { result: RESULT, outputHash: HASH }), [
    told(id, 'DECLARED'),
    told(id, 'COMPLETED', { output_hash: HASH }),
  ]);

/** A store whose rows were changed by somebody else. */
const changed = (change: (record: InvocationRecord) => InvocationRecord): LedgerStore => ({
  ...store,
  allInvocations: async (query) =>
    (await store.allInvocations(query)).map(({ call, record }) => ({ call, record: change(record) })),
  findInvocation: async (tenantId, invocationId) => {
    const record = await store.findInvocation(tenantId, invocationId);
    return record && change(record);
  },
});

test('AUD-07 calls that were refused, ran, run, were cut off or taken back are told of from beginning to end', async () => {
  await completed('done');
  await commit(row('refused', 'DENIED'), [told('refused', 'DECLARED'), told('refused', 'DENIED')]);
  await commit(row('cut', 'ABORTED'), [told('cut', 'DECLARED'), told('cut', 'EXECUTING'), told('cut', 'ABORTED')]);
  await commit(undefined, [told('cut', 'ROLLED_BACK')]);
  await commit(row('runs', 'EXECUTING'), [told('runs', 'DECLARED'), told('runs', 'EXECUTING')], true);
  await commit(row('waits', 'AUTHORIZED'), [told('waits', 'DECLARED')]);
  const { whole, calls } = await verifyLedger(store, signer);
  expect({ whole, calls }).toEqual({ whole: true, calls: { checked: 5, open: 2, gaps: 0, first_gaps: [] } });
});

test('AUD-07.3 a row of which no chain tells is a gap', async () => {
  await completed('told');
  await store.append({ records: [row('untold', 'COMPLETED')], events: [] }, 'synchronous');
  await store.append({ records: [row('open', 'AUTHORIZED')], events: [] }, 'synchronous');
  expect(await verifyLedger(store, signer)).toMatchObject({
    whole: false,
    chains: [{ whole: true }],
    calls: {
      checked: 3,
      gaps: 2,
      first_gaps: ['untold', 'open'].map((invocation_id) => ({
        tenant_id: 'acme',
        invocation_id,
        reason: 'it has a row, and no chain records it',
      })),
    },
  });
});

test('AUD-07.3 a call without its row is one gap, however much the chain records it', async () => {
  await commit(undefined, [told('gone', 'DECLARED')]);
  // More than two pages of events between the call's beginning and its end.
  for (let at = 0; at < 1_100; at += 1) await completed(`call-${at}`);
  await commit(undefined, [told('gone', 'COMPLETED')]);
  await commit(undefined, [{ ...told('no state', 'DECLARED'), data: { invocation_id: 'no state' } }]);
  await commit(undefined, [{ ...told('note', 'DECLARED'), type: 'ai.agent.tool.dry_run' }]);
  await commit(undefined, [{ ...told('no id', 'DECLARED'), data: { invocation_id: 7, state: 'DECLARED' } }]);
  expect((await verifyLedger(store, signer)).calls).toEqual({
    checked: 1_100,
    open: 0,
    gaps: 1,
    first_gaps: [{ tenant_id: 'acme', invocation_id: 'gone', reason: 'the chain records it, and it has no row' }],
  });
});

const OTHER_RESULT = 'its row holds another result than the chain has the hash of';
const UNREADABLE = 'its row cannot be read, or is of another call';

test.each<[string, (record: InvocationRecord) => InvocationRecord, string]>([
  ['state', (record) => ({ ...record, state: 'FAILED' }), 'its row says FAILED, and the chain records no such end'],
  ['hash', (record) => ({ ...record, outputHash: 'x' }), 'its row has another hash of the result than the chain'],
  ['result', (record) => ({ ...record, result: { paid: 4 } }), OTHER_RESULT],
  ['result into none', ({ result: _taken, ...record }) => record, OTHER_RESULT],
  [
    'state into an open one',
    (record) => ({ ...record, state: 'EXECUTING' }),
    'its row says EXECUTING, and the chain records its end',
  ],
  ['agent', (record) => ({ ...record, agentDid: 'x' }), 'its row says something else of agent_did than the chain'],
  ['user', (record) => ({ ...record, userDid: 'x' }), 'its row says something else of user_did than the chain'],
  ['tool', (record) => ({ ...record, toolId: 'x' }), 'its row says something else of tool_id than the chain'],
  ['tenant', (record) => ({ ...record, tenantId: 'globex' }), UNREADABLE],
  ['id', (record) => ({ ...record, invocationId: 'a' }), UNREADABLE],
  ['state into none', (record) => ({ ...record, state: 'PAID' as never }), UNREADABLE],
  ['whole document', () => null as never, UNREADABLE],
  [
    'state into another end, with events that it holds',
    (record) => ({ ...record, state: 'FAILED', heldEvents: { shared: '', each: [] } }),
    'its row says FAILED, and the chain records no such end',
  ],
  ['document into a list', () => [] as never, UNREADABLE],
])('AUD-07.3 a row whose %s was changed is a gap', async (_, change, reason) => {
  await completed('one');
  const { whole, calls } = await verifyLedger(changed(change), signer);
  expect({ whole, reason: calls.first_gaps[0]?.reason }).toEqual({ whole: false, reason });
});

test('AUD-07.3 a call whose beginning was never written is a gap, and so is an open one', async () => {
  await commit(row('ended', 'COMPLETED'), [told('ended', 'COMPLETED')]);
  await commit(row('waits', 'AUTHORIZED'), [told('waits', 'AUTHORIZED')]);
  const { first_gaps } = (await verifyLedger(store, signer)).calls;
  expect(first_gaps.map(({ invocation_id, reason }) => [invocation_id, reason])).toEqual([
    ['ended', 'the chain does not tell how it began'],
    ['waits', 'the chain does not tell how it began'],
  ]);
});

test('AUD-07 all gaps are counted and the first are named, over many pages of rows', async () => {
  for (let at = 0; at < 250; at += 1) await completed(`call-${at}`);
  const records = Array.from({ length: 30 }, (_, at) => row(`untold-${at}`, 'COMPLETED'));
  await store.append({ records, events: [] }, 'synchronous');
  const { calls } = await verifyLedger(store, signer);
  expect(calls).toMatchObject({ checked: 280, open: 0, gaps: 30 });
  expect(calls.first_gaps.map(({ invocation_id }) => invocation_id)).toEqual(
    Array.from({ length: 20 }, (_, at) => `untold-${at}`),
  );
});

test.each<[string, readonly LifecycleState[], string]>([
  ['two beginnings', ['DECLARED', 'DECLARED', 'COMPLETED'], 'the chain records two beginnings of it'],
  ['two ends', ['DECLARED', 'ABORTED', 'COMPLETED'], 'the chain records two ends of it'],
  ['one end twice', ['DECLARED', 'COMPLETED', 'COMPLETED'], 'the chain records two ends of it'],
  ['a rollback of what went well', ['DECLARED', 'COMPLETED', 'ROLLED_BACK'], 'the chain records two ends of it'],
])('AUD-07.3 %s of one call are a gap', async (_, states, reason) => {
  const events = states.map((state, at) => ({ ...told('one', state, { output_hash: HASH }), id: `event ${at}` }));
  await commit(row('one', 'COMPLETED', { result: RESULT, outputHash: HASH }), events);
  expect((await verifyLedger(store, signer)).calls).toMatchObject({ gaps: 1, first_gaps: [{ reason }] });
});

test('AUD-07 that a call was rolled back may be told after its end, and again', async () => {
  const states: LifecycleState[] = ['DECLARED', 'ABORTED', 'ROLLED_BACK', 'ROLLED_BACK'];
  const events = states.map((state, at) => ({ ...told('one', state), id: `event ${at}` }));
  await commit(row('one', 'ABORTED'), events);
  expect(await verifyLedger(store, signer)).toMatchObject({ whole: true });
});

test('AUD-07 a result that was cut is compared with the hash of what was kept of it', async () => {
  const kept = { truncated: true, bytes: 99, preview: '{"a' };
  const hashes = { output_hash: HASH, output_kept_hash: sha256('{"bytes":99,"preview":"{\\"a","truncated":true}') };
  const events = [told('one', 'DECLARED'), told('one', 'COMPLETED', hashes)];
  await commit(row('one', 'COMPLETED', { result: kept, outputHash: HASH }), events);
  expect(await verifyLedger(store, signer)).toMatchObject({ whole: true });
  const other = changed((record) => ({ ...record, result: { ...kept, preview: '{"b' } }));
  expect((await verifyLedger(other, signer)).calls.first_gaps).toMatchObject([{ reason: OTHER_RESULT }]);
});

test('AUD-07 a result that was forgotten leaves its hash; a person who is not named in events may be anybody', async () => {
  const forgotten = row('one', 'COMPLETED', { outputHash: HASH, resultForgottenAt: 9, userDid: 'ann@example.org' });
  await commit(forgotten, [
    told('one', 'DECLARED', { user_did: '[REDACTED:email]' }),
    told('one', 'COMPLETED', { output_hash: HASH, user_did: '[REDACTED:email]' }),
  ]);
  expect(await verifyLedger(store, signer)).toMatchObject({ whole: true });
});

test('AUD-07.3 a result that the chain has no hash of, or that came into a row after it was forgotten, is a gap', async () => {
  await commit(row('one', 'COMPLETED'), [told('one', 'DECLARED'), told('one', 'COMPLETED')]);
  expect(await verifyLedger(store, signer)).toMatchObject({ whole: true });
  const put = changed((record) => ({ ...record, result: RESULT }));
  expect((await verifyLedger(put, signer)).calls.first_gaps).toMatchObject([{ reason: OTHER_RESULT }]);
  await commit(row('two', 'COMPLETED', { outputHash: HASH, resultForgottenAt: 9 }), [
    told('two', 'DECLARED'),
    told('two', 'COMPLETED', { output_hash: HASH }),
  ]);
  const back = changed((record) => (record.invocationId === 'two' ? { ...record, result: { paid: 4 } } : record));
  expect((await verifyLedger(back, signer)).calls.first_gaps).toMatchObject([
    { invocation_id: 'two', reason: OTHER_RESULT },
  ]);
});

test('AUD-07 a call that ends between the reading of its row and of its events is no gap', async () => {
  await completed('one');
  const early: LedgerStore = {
    ...store,
    allInvocations: async () => [{ call: { tenantId: 'acme', invocationId: 'one' }, record: row('one', 'EXECUTING') }],
  };
  expect(await verifyLedger(early, signer)).toMatchObject({ whole: true, calls: { open: 1 } });
});

test('AUD-07.3 an open row that contradicts its events, and is gone or unreadable when it is read again, is a gap', async () => {
  await completed('one');
  const open: LedgerStore = {
    ...store,
    allInvocations: async () => [{ call: { tenantId: 'acme', invocationId: 'one' }, record: row('one', 'EXECUTING') }],
  };
  for (const again of [undefined, row('other', 'COMPLETED')]) {
    const { whole, calls } = await verifyLedger({ ...open, findInvocation: async () => again }, signer);
    expect({ whole, gaps: calls.gaps }).toEqual({ whole: false, gaps: 1 });
    expect(calls.first_gaps).toMatchObject([{ invocation_id: 'one', reason: UNREADABLE }]);
  }
});

test('AUD-07 a call that moved on in the meantime is compared with the events of then, or of now once it is over', async () => {
  const call = { tenantId: 'acme', invocationId: 'one' };
  const [declared, moved] = [told('one', 'DECLARED', { phase: 'old' }), told('one', 'AUTHORIZED', { phase: 'new' })];
  await commit(undefined, [declared, moved]);
  const before = await store.eventsAbout([call]);
  await commit(undefined, [told('one', 'COMPLETED', { phase: 'new' })]);
  const after = await store.eventsAbout([call]);
  const [old, open] = ['old', 'new'].map((phase) => row('one', 'AUTHORIZED', { phase: phase as never }));
  const over = row('one', 'COMPLETED', { phase: 'new' as never });
  const gapsOf = async (now: InvocationRecord | undefined, later: typeof after) => {
    const answers = [before, later];
    const moving: LedgerStore = {
      ...store,
      recordedCalls: async (calls) => calls,
      allInvocations: async () => [{ call, record: old as InvocationRecord }],
      findInvocation: async () => now,
      eventsAbout: async () => answers.shift() ?? [],
    };
    return (await verifyLedger(moving, signer)).calls.first_gaps.map(({ reason }) => reason);
  };
  expect(await gapsOf(open, after)).toEqual([]);
  expect(await gapsOf(over, after)).toEqual([]);
  expect(await gapsOf(over, [])).toEqual(['it has a row, and no chain records it']);
});

test('AUD-07 an event that states no state of a call says nothing of one', async () => {
  const end = told('one', 'COMPLETED');
  const { state: _state, ...without } = end.data;
  await commit(row('one', 'COMPLETED'), [
    told('one', 'DECLARED'),
    end,
    { ...end, id: 'a dry run', type: 'ai.agent.tool.dry_run' },
    { ...end, id: 'without a state', data: { ...without, agent_did: 'another' } },
  ]);
  expect(await verifyLedger(store, signer)).toMatchObject({ whole: true });
});

test('AUD-07.3 calls without a row are counted though the answer about them takes its time', async () => {
  await commit(undefined, [told('gone', 'DECLARED')]);
  const slow: LedgerStore = {
    ...store,
    async recordedCalls(calls) {
      for (let turn = 0; turn < 9; turn += 1) await new Promise(setImmediate);
      return store.recordedCalls(calls);
    },
  };
  expect(await verifyLedger(slow, signer)).toMatchObject({ whole: false, calls: { gaps: 1 } });
});

test('PIPE-09 AUD-07 of the calls whose rows are readable those that lost their key are named', async () => {
  for (const id of ['held', 'lost', 'forged'])
    await commit(row(id, 'COMPLETED', { idempotencyKey: 'k', acceptedAt: 5_000 }), [
      told(id, 'DECLARED'),
      told(id, 'COMPLETED'),
    ]);
  const forged = changed((record) => (record.invocationId === 'forged' ? { ...record, tenantId: 'globex' } : record));
  const asked: string[] = [];
  const keys = {
    async holders(calls: readonly CallKey[]) {
      for (let turn = 0; turn < 9; turn += 1) await new Promise(setImmediate);
      asked.push(...calls.map(({ invocationId }) => invocationId));
      return calls.filter(({ invocationId }) => invocationId === 'held');
    },
  };
  const kept = { begun: { time: '', events: 0 }, heads: [] };
  const outside = { chainId: 'one', place: { read: async () => kept }, head: () => ledger.head(), everyMs: 60_000 };
  const verify = (now: number) =>
    verifyLedger(forged, signer, { ...outside, keys: { keys, ttlMs: 70_000 }, now: () => now });
  const lost = expect.stringContaining('any more: 1, the first is lost of acme.');
  expect((await verify(6_000)).warnings).toEqual([lost]);
  expect(asked).toEqual(['held', 'lost']);
  expect((await verify(15_000)).warnings).toEqual([]);
});

test('PIPE-09 AUD-07 the next page of rows is read once the records of the one before were looked at', async () => {
  await completed('one');
  let isOver = false;
  await createCallVerification(store).finish(async () => {
    await new Promise(setImmediate);
    isOver = true;
  });
  expect(isOver).toBe(true);
});

test('AUD-07.3 columns of a row that differ from it are named', async () => {
  await completed('one');
  const differing: LedgerStore = {
    ...store,
    allInvocations: async (query) =>
      (await store.allInvocations(query)).map((each) => ({ ...each, differing: ['state', 'tool_id'] })),
  };
  const reason = 'the columns state, tool_id of its row say something else than the row';
  expect((await verifyLedger(differing, signer)).calls.first_gaps).toMatchObject([{ reason }]);
});
