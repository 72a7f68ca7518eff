import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLedger } from '../../packages/sallyport/src/audit/ledger.ts';
import type { NativeFunction } from '../../packages/sallyport/src/executors/native/native-executor.ts';
import type { CallRequest } from '../../packages/sallyport/src/pipeline/call.ts';
import { manifest, pipeline } from '../../packages/sallyport/src/pipeline/pipeline.fixture.ts';
import { recoverOpenCalls } from '../../packages/sallyport/src/pipeline/record/recover.ts';
import {
  continueRollbacks,
  type WhichRollbacks,
} from '../../packages/sallyport/src/pipeline/undo/continue-rollbacks.ts';
import { retryRollbacks } from '../../packages/sallyport/src/pipeline/undo/retry-rollbacks.ts';
import { stateUndoer } from '../../packages/sallyport/src/pipeline/undo/state/state-undoer.ts';
import { undoByCall } from '../../packages/sallyport/src/pipeline/undo/undo-by-call.ts';
import type { PostgresConnection } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import {
  openPostgres,
  type PostgresDatabase,
} from '../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import {
  clientOf,
  embeddedDatabases,
  run,
  type TestDatabases,
} from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';

let databases: TestDatabases;
let connection: PostgresConnection;
const opened: PostgresDatabase[] = [];

beforeAll(async () => {
  databases = await embeddedDatabases();
  connection = await databases.fresh();
});
afterAll(async () => {
  for (const database of opened) await database.close();
  await databases.close();
});

const WHOLE = {
  side_effect_policy: 'irreversible',
  executor: { kind: 'native', config: { transacted: true } },
  parameters_schema: { type: 'object' },
  execution_config: { default_timeout_seconds: 8 },
} as const;

/** An instance on the shared database. Only the same instance can undo a change of kind `local`. */
async function instance(instanceId: string) {
  const database = await openPostgres({ connection, poolMax: 4, log: silentLog });
  opened.push(database);
  const { ledgerStore: store, idempotencyStore: idempotency, outcomeStore: outcomes } = database;
  const ledger = await openLedger({ store, chainId: instanceId, log: silentLog });
  const later: { run?: (request: CallRequest) => ReturnType<Awaited<ReturnType<typeof pipeline>>['run']> } = {};
  const local = { broken: false, undone: 0 };
  const undoers = {
    state: stateUndoer(database.stateStore, store),
    call: undoByCall({
      records: store,
      outcomes,
      runCall: (request) => later.run?.(request) ?? Promise.reject(new Error('too early')),
    }),
    local: {
      async undo(): Promise<void> {
        if (local.broken) throw new Error('the disk is gone');
        local.undone += 1;
      },
    },
  };
  const transactions = { journal: database.undoJournal, checkpoints: database.checkpointStore, undoers };
  const state = { store: database.stateStore };
  const made = await pipeline({ store, idempotency, ledger, instanceId, outcomes, transactions, state });
  later.run = made.run;
  const rollbacks = { ...made.parts, transactions, outcomes };
  return {
    ...made,
    local,
    database,
    tool: (id: string, body: NativeFunction, more: object = {}) => made.add(manifest(id, { ...WHOLE, ...more }), body),
    ask: (tool_id: string, parameters = {}) => made.call({ tool_id, parameters }),
    goOn: (of = instanceId, which: WhichRollbacks = 'left') => continueRollbacks(rollbacks, of, which),
    /** From now on the instance writes nothing, as if its process had been killed. */
    die: () => ledger.close(),
    retry: () => retryRollbacks(rollbacks, instanceId, 5),
  };
}

const countUp: NativeFunction = async (_given, { state }) => {
  const next = Number((await state.get('n')) ?? 0) + 1;
  await state.put('n', next);
  return next;
};
const look: NativeFunction = async (_given, { state }) => (await state.get('n')) ?? null;

/** A tool that never ends, as when its process is killed. */
function cutOff() {
  const begun = Promise.withResolvers<string>();
  const body: NativeFunction = async (_given, { state, compensateWith, invocationId }) => {
    await compensateWith('unbook', { id: 'b-1' });
    await state.put('n', 99);
    begun.resolve(invocationId);
    return new Promise(() => undefined);
  };
  return { begun: begun.promise, body };
}

describe('transactions over one PostgreSQL', () => {
  test('PIPE-03.6 two instances count together, and no count is lost', async () => {
    const both = [await instance('a'), await instance('b')] as const;
    for (const each of both) await each.tool('count', countUp);
    let done = 0;
    const counting = Array.from({ length: 12 }, async (_, at) => {
      for (let tries = 0; tries < 100; tries += 1) {
        const { state, failure } = await (both[at % 2] ?? both[0]).ask('count');
        if (state === 'COMPLETED') {
          done += 1;
          return;
        }
        expect(failure?.code).toMatch(/^(?:E3704|E3106)$/);
      }
    });
    await Promise.all(counting);
    expect(done).toBe(12);
    expect((await both[0].ask('count')).result).toBe(13);
  });

  test('PIPE-03.7 ORC-06 what a killed instance left is taken back when it starts again, by its state and by calls', async () => {
    const before = await instance('c');
    const { begun, body } = cutOff();
    await before.tool('book', body);
    await before.tool('unbook', () => 'never here');
    void before.ask('book');
    const cut = await begun;
    await before.die();

    const after = await instance('c');
    const taken: unknown[] = [];
    await after.tool('book', look);
    await after.tool('unbook', ({ id }) => taken.push(id));
    expect((await after.ask('book')).result).toBeNull();
    expect(await after.goOn()).toEqual({ rolledBack: 1, left: 0 });
    expect(await recoverOpenCalls(after.parts, 'c')).toBe(0);
    expect(await after.store.findInvocation('acme', cut)).toMatchObject({
      state: 'ROLLED_BACK',
      failure: { code: 'E3811' },
    });
    expect(taken).toEqual(['b-1']);
    expect(await after.goOn()).toEqual({ rolledBack: 0, left: 0 });
  });

  test('PIPE-03 ORC-06 another instance takes back what it reaches of one that does not come back', async () => {
    const gone = await instance('d');
    const { begun, body } = cutOff();
    await gone.tool('hold', body);
    await gone.tool('unbook', () => 'never here');
    void gone.ask('hold');
    const cut = await begun;
    await gone.die();
    const other = await instance('e');
    const taken: unknown[] = [];
    await other.tool('hold', countUp);
    await other.tool('unbook', ({ id }) => taken.push(id));
    expect((await other.ask('hold')).failure?.code).toBe('E3704');
    expect(await recoverOpenCalls(other.parts, 'd')).toBe(1);
    expect(await other.goOn('d', 'gone')).toEqual({ rolledBack: 1, left: 0 });
    expect(await other.database.outcomeStore.find('acme', cut)).toMatchObject({ outcome: 'did_not_happen' });
    expect(taken).toEqual(['b-1']);
    expect((await other.ask('hold')).result).toBe(1);
  });

  test('PIPE-03 what only the instance itself reaches is left to it', async () => {
    const gone = await instance('f');
    const other = await instance('g');
    const step = { instanceId: 'f', tenantId: 'acme', invocationId: 'cut', position: 0, step: { kind: 'local' } };
    await gone.database.undoJournal.add(step);
    expect(await other.goOn('f', 'gone')).toEqual({ rolledBack: 0, left: 1 });
    expect(other.local.undone).toBe(0);
    expect(await gone.goOn()).toEqual({ rolledBack: 1, left: 0 });
    expect(gone.local.undone).toBe(1);
  });

  test('PIPE-03 a rollback that failed is tried again while the layer runs', async () => {
    const one = await instance('h');
    await one.tool('write', async (_given, { compensateWith }) => {
      await compensateWith('late', {});
      throw new ToolLayerError('E3109', 'It failed.');
    });
    let bound = false;
    await one.tool('late', () => {
      if (!bound) throw new ToolLayerError('E3901', 'Not bound yet.');
      return 'fine';
    });
    const { invocationId, failure } = await one.ask('write');
    expect(failure).toMatchObject({ code: 'E3804', details: { rollback: 'failed' } });
    await using _trying = one.retry();
    bound = true;
    await expect
      .poll(() => one.database.outcomeStore.find('acme', invocationId), { timeout: 5_000 })
      .toMatchObject({
        outcome: 'did_not_happen',
        how: 'rollback',
      });
    await expect.poll(() => one.database.undoJournal.find('acme', invocationId)).toBeUndefined();
  });
});

test('PIPE-03 a value whose statement or commit fails is not written, and the next write is not harmed by it', async () => {
  const fresh = await databases.fresh();
  await using database = await openPostgres({ connection: fresh, poolMax: 1, log: silentLog });
  const { stateStore } = database;
  const key = { tenantId: 'acme', ownerId: 'acme', toolId: 'counter', name: 'n' };
  const by = { tenantId: 'acme', invocationId: 'call', fence: 0 };
  const write = (next: string) => stateStore.write({ key, by, next, valuesMax: 9 });
  const failures = [
    ['alter table sallyport.tool_state rename to away', 'alter table sallyport.away rename to tool_state'],
    [REFUSED_COMMITS, 'drop trigger refused on sallyport.tool_state'],
  ] as const;
  for (const [begin, end] of failures) {
    await run(fresh, begin);
    await expect(write('1')).rejects.toMatchObject({ code: 'E3812' });
    await run(fresh, end);
    expect(await stateStore.read(key)).toBeUndefined();
  }
  const connections = () =>
    run(
      fresh,
      "select pid from pg_stat_activity where application_name = 'sallyport' and datname = current_database()",
    );
  const before = await connections();
  for (const next of ['1', '2']) expect(await write(next)).toBe('written');
  expect((await stateStore.read(key))?.held?.next).toBe('2');
  expect(await connections()).toEqual(before);
});

test('REG-07 writers of tool versions take turns, so that no reader misses a revision and none deadlock', async () => {
  const fresh = await databases.fresh();
  await using database = await openPostgres({ connection: fresh, log: silentLog });
  const { toolStore } = database;
  const given = manifest('pay');
  const version = { tenantId: 'acme', manifest: given, contentHash: 'h', state: 'active', registeredAt: AT } as const;
  const key = { tenantId: 'acme', toolId: given.tool_id, version: given.version };
  const writes: readonly (readonly [lock: number, write: () => Promise<unknown>])[] = [
    [5_317_002, () => toolStore.insert(version)],
    [5_317_002, () => toolStore.changeStates([{ key, expected: 'active', lifecycle: { state: 'deprecated' } }])],
    [5_317_003, () => toolStore.noteUses([{ ...key, lastUsedAt: AT }])],
    [5_317_004, () => toolStore.markRecorded([key])],
  ];
  const other = await clientOf(fresh);
  for (const [lock, write] of writes) {
    await other.query(`begin; select pg_advisory_xact_lock(${lock})`);
    const writing = write();
    const waiting = "select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted";
    await expect.poll(() => run(fresh, waiting)).toEqual([{ n: 1 }]);
    await other.query('commit');
    await writing;
  }
  await other.end();
  const [changed] = (await toolStore.changedSince(0)).versions;
  expect([changed?.state, changed?.lastUsedAt]).toEqual(['deprecated', AT]);
});

const AT = '2026-01-02T03:04:05.678Z';
const REFUSED_COMMITS = `
create function sallyport.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
create constraint trigger refused after insert on sallyport.tool_state
deferrable initially deferred for each row execute function sallyport.refuse()`;
