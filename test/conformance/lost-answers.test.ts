import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CheckpointSigner } from '../../packages/sallyport/src/audit/checkpoint.ts';
import { type Ledger, openLedger } from '../../packages/sallyport/src/audit/ledger.ts';
import type { LedgerStore } from '../../packages/sallyport/src/audit/ledger-store.port.ts';
import { verifyLedger } from '../../packages/sallyport/src/audit/verify-ledger.ts';
import type { EventDraft } from '../../packages/sallyport/src/domain/event/event-draft.ts';
import { type CallEnd, createLateEnds } from '../../packages/sallyport/src/pipeline/record/late-ends.ts';
import type { PostgresConnection } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import {
  openPostgres,
  type PostgresDatabase,
} from '../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import {
  embeddedDatabases,
  empty,
  type TestDatabases,
} from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';
import { memoryLedgerStore } from '../../packages/sallyport/test/stores/memory-ledger-store.ts';

/**
 * What happens to one append: `lost` is written, but its answer is lost; `late` fails with a lost connection and is
 * written just before the next append; `refused` is not written.
 */
type Fate = 'written' | 'lost' | 'late' | 'refused';

const cut = (): Error => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });

/** A store that gives its next appends these fates; while `state.away` is true it answers no queries. */
function faulty(store: LedgerStore, fates: Fate[]) {
  let late: (() => Promise<void>) | undefined;
  const state = { away: false, appends: 0, gates: [] as Promise<void>[] };
  const broken: LedgerStore = {
    ...store,
    async append(batch, durability) {
      state.appends += 1;
      const fate = fates.shift() ?? 'written';
      await state.gates.shift();
      const before = late;
      late = undefined;
      await before?.();
      if (fate === 'late') late = () => store.append(batch, durability);
      if (fate === 'lost' || fate === 'written') await store.append(batch, durability);
      if (fate !== 'written') throw cut();
    },
    chainHead: (chainId) => (state.away ? Promise.reject(cut()) : store.chainHead(chainId)),
    findInvocation: (tenantId, id) => (state.away ? Promise.reject(cut()) : store.findInvocation(tenantId, id)),
  };
  return { store: broken, state };
}

/** The end of a call: its row, and two events. */
const end = (id: string): CallEnd => ({
  record: {
    invocationId: id,
    tenantId: 'acme',
    agentDid: 'did:agent:one',
    toolId: 'pay',
    sideEffect: 'irreversible',
    state: 'COMPLETED',
    instanceId: 'one',
    door: 'rest',
    acceptedAt: 1_000,
    warnings: [],
  },
  events: (['DECLARED', 'COMPLETED'] as const).map(
    (state): EventDraft => ({
      id: `${id} ${state === 'DECLARED' ? 'ran' : 'ended'}`,
      type: state === 'DECLARED' ? 'ai.agent.tool.state_changed' : 'ai.agent.tool.succeeded',
      time: 1_000,
      tenantId: 'acme',
      subject: id,
      data: { invocation_id: id, tenant_id: 'acme', state },
    }),
  ),
  durability: 'synchronous',
});

const signer: CheckpointSigner = {
  sign: async (text) => ({ keyId: 'k', signature: createHmac('sha256', 'key').update(text).digest('base64url') }),
  verify: async () => true,
};

/** Commits the ends of calls; returns 'written' or the error code of each. */
async function commitAll(ledger: Ledger, ends: readonly CallEnd[]): Promise<readonly string[]> {
  const settled = await Promise.allSettled(ends.map((each) => ledger.commit(each)));
  return settled.map((each) => (each.status === 'fulfilled' ? 'written' : String(each.reason.code)));
}

/** Expects that each call has its row, each of its events exists once, and the chain is whole. */
async function expectOnce(store: LedgerStore, ids: readonly string[]): Promise<void> {
  const events = await store.chainEvents('one', 0, 1_000);
  const expected = ids.flatMap((id) => [`${id} ran`, `${id} ended`]);
  expect(events.map(({ id }) => id).sort()).toEqual(expected.sort());
  for (const id of ids) expect(await store.findInvocation('acme', id)).toMatchObject({ state: 'COMPLETED' });
  expect(await verifyLedger(store, signer)).toMatchObject({ whole: true, events: expected.length });
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
const WRITTEN = NAMES.map(() => 'written');

const startOver = (open: () => Promise<LedgerStore>) => async (fates: Fate[], batchMax?: number) => {
  const inner = await open();
  const { store, state } = faulty(inner, fates);
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog, ...(batchMax ? { batchMax } : {}) });
  return { inner, store, state, ledger };
};
type Start = ReturnType<typeof startOver>;

function cases(open: () => Promise<LedgerStore>): void {
  const start = startOver(open);
  answerCases(start);
  lateCases(start);
  outageCases(start);
}

/** Cases in which the answer is lost while the store can be queried. */
function answerCases(start: Start): void {
  test('AUD-02 AUD-03 an entry that came through before its answer was lost is written once', async () => {
    const { inner, ledger } = await start(['lost']);
    expect(await commitAll(ledger, [end('a')])).toEqual(['written']);
    expect(await commitAll(ledger, [end('b')])).toEqual(['written']);
    await expectOnce(inner, ['a', 'b']);
  });

  test('AUD-02 AUD-03 so is each entry of a batch', async () => {
    const { inner, state, ledger } = await start(['written', 'lost']);
    expect(await commitAll(ledger, NAMES.map(end))).toEqual(WRITTEN);
    await expectOnce(inner, NAMES);
    expect(state.appends).toBe(2);
  });

  test.each([
    ['both came through', ['lost', 'lost'], 3],
    ['only the first came through', ['lost', 'refused'], 5],
    ['none came through', ['refused', 'refused'], 7],
  ] satisfies [string, Fate[], number][])(
    'AUD-02 AUD-03 of two batches on their way %s: nothing is written twice and nothing is left out',
    async (_what, fates, appends) => {
      const { inner, state, ledger } = await start(['written', ...fates], 2);
      const gate = Promise.withResolvers<void>();
      state.gates = [Promise.resolve(), gate.promise, gate.promise];
      const first = ledger.commit(end('first'));
      const ahead = commitAll(ledger, ['a', 'b'].map(end));
      await first;
      const behind = commitAll(ledger, ['c', 'd'].map(end));
      await expect.poll(() => state.appends).toBe(3);
      gate.resolve();
      expect([...(await ahead), ...(await behind)]).toEqual(WRITTEN.slice(0, 4));
      await expectOnce(inner, ['first', ...NAMES.slice(0, 4)]);
      expect(state.appends).toBe(appends);
    },
  );

  test('AUD-02 AUD-03 an answer that is lost when an entry is written alone is looked after too', async () => {
    const { inner, ledger } = await start(['written', 'refused', 'lost', 'written', 'lost']);
    expect(await commitAll(ledger, NAMES.map(end))).toEqual(WRITTEN);
    await expectOnce(inner, NAMES);
  });
}

/** Cases in which the database still executes a write that the ledger has given up. */
function lateCases(start: Start): void {
  test('AUD-02 AUD-03 a batch that comes through only while its entries are written anew is written once', async () => {
    const { inner, ledger } = await start(['written', 'late']);
    expect(await commitAll(ledger, NAMES.map(end))).toEqual(WRITTEN);
    await expectOnce(inner, NAMES);
  });

  test('AUD-02 AUD-03 who commits an entry again before it comes through is told that it was written', async () => {
    const { inner, ledger } = await start(['late']);
    expect(await commitAll(ledger, [end('a')])).toEqual(['E3812']);
    expect(await commitAll(ledger, [end('a')])).toEqual(['written']);
    expect(await commitAll(ledger, [end('b')])).toEqual(['written']);
    await expectOnce(inner, ['a', 'b']);
  });

  test('AUD-02 another end of a call whose own end comes through late is refused, and not written behind it', async () => {
    const { inner, ledger } = await start(['late']);
    expect(await commitAll(ledger, [end('a')])).toEqual(['E3812']);
    const other = { ...end('a'), events: end('a').events.map((event) => ({ ...event, id: `other ${event.id}` })) };
    const first = ledger.commit(end('first')).catch(() => undefined);
    const settled = commitAll(ledger, [other, end('b')]);
    await first;
    expect(await settled).toEqual(['E3812', 'written']);
    const events = await inner.chainEvents('one', 0, 100);
    expect(events.filter(({ subject }) => subject === 'a').map(({ id }) => id)).toEqual(['a ran', 'a ended']);
  });
}

/** Cases in which the store cannot be asked what was written. */
function outageCases(start: Start): void {
  test('AUD-02 AUD-03 who commits the same entry again after an outage is told that it was written', async () => {
    const { inner, state, ledger } = await start(['written', 'lost']);
    expect(await commitAll(ledger, [end('first')])).toEqual(['written']);
    state.away = true;
    expect(await commitAll(ledger, [end('a')])).toEqual(['E3812']);
    expect(await commitAll(ledger, [end('a')])).toEqual(['E3812']);
    state.away = false;
    expect(await commitAll(ledger, [end('b'), end('a'), end('c')])).toEqual(['written', 'written', 'written']);
    await expectOnce(inner, ['first', 'a', 'b', 'c']);
  });

  test('AUD-02 AUD-03 the first entry after an outage is written, whatever became of the last one before it', async () => {
    const { inner, state, ledger } = await start(['refused']);
    state.away = true;
    expect(await commitAll(ledger, [end('a')])).toEqual(['E3812']);
    state.away = false;
    expect(await commitAll(ledger, [end('b')])).toEqual(['written']);
    await expectOnce(inner, ['b']);
  });

  test('AUD-02 AUD-03 ends of calls that are late because of an outage are on record once', async () => {
    const { inner, store, state, ledger } = await start(['written', 'lost', 'refused', 'written', 'lost']);
    await using opened = new AsyncDisposableStack();
    const lateEnds = opened.use(createLateEnds({ ledger, records: store, log: silentLog, patienceMs: 60_000 }));
    await ledger.commit(end('first'));
    state.away = true;
    const records = NAMES.map(async (id) => {
      const entry = end(id);
      await expect(ledger.commit(entry)).rejects.toMatchObject({ code: 'E3812' });
      return lateEnds.write(entry);
    });
    await expect.poll(() => lateEnds.size).toBe(NAMES.length);
    state.away = false;
    expect((await Promise.all(records)).map((record) => record?.invocationId)).toEqual(NAMES);
    await expectOnce(inner, ['first', ...NAMES]);
  });
}

describe('answers that are lost (memory)', () => cases(async () => memoryLedgerStore()));

describe('answers that are lost (embedded PostgreSQL)', () => {
  let databases: TestDatabases;
  let connection: PostgresConnection;
  let database: PostgresDatabase;
  beforeAll(async () => {
    databases = await embeddedDatabases();
    connection = await databases.fresh();
    database = await openPostgres({ connection, log: silentLog });
  });
  afterAll(async () => {
    await database.close();
    await databases.close();
  });
  cases(async () => {
    await empty(connection);
    return database.ledgerStore;
  });
});
