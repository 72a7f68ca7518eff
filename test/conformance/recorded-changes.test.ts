import { systemClock } from '@sallyport/std/clock';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Ledger, openLedger } from '../../packages/sallyport/src/audit/ledger.ts';
import { recordedChange, removingRecorded } from '../../packages/sallyport/src/audit/recorded-change.ts';
import type { EventDraft } from '../../packages/sallyport/src/domain/event/event-draft.ts';
import type { EventsOf } from '../../packages/sallyport/src/domain/event/events-of.ts';
import { recordKeptEvents } from '../../packages/sallyport/src/operations/audit/record-kept-events.ts';
import type { PostgresConnection } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import {
  openPostgres,
  type PostgresDatabase,
} from '../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import {
  embeddedDatabases,
  empty,
  run,
  type TestDatabases,
} from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';

let databases: TestDatabases;
let connection: PostgresConnection;
/** Two instances over one database. */
let instances: readonly { readonly database: PostgresDatabase; readonly ledger: Ledger }[];

beforeAll(async () => {
  databases = await embeddedDatabases();
  connection = await databases.fresh();
});
beforeEach(async () => {
  await Promise.all((instances ?? []).map(({ database }) => database.close()));
  await empty(connection);
  instances = await Promise.all(
    ['one', 'two'].map(async (chainId) => {
      const database = await openPostgres({ connection, log: silentLog });
      const chained = await openLedger({ store: database.ledgerStore, chainId, log: silentLog });
      return { database, ledger: removingRecorded(chained, database.unrecordedEvents, silentLog) };
    }),
  );
});
afterAll(async () => {
  await Promise.all(instances.map(({ database }) => database.close()));
  await databases.close();
});

const instance = (at: 0 | 1) => instances[at] as (typeof instances)[number];

/** An event of a change, with text that no column and no JSON document of the database reads. */
const draft = (id: string): EventDraft => ({
  id,
  type: 'ai.agent.registry.changed',
  time: 1_800_000_000_000,
  tenantId: 'acme\0',
  data: { change: id, said: '\0 \ud800 "id":"other"' },
});

/** A negative age: every event is old enough. */
const AT_ONCE = -60_000;
/** The age of an event that its own instance may still record. */
const AN_HOUR = 3_600_000;

function search(at: 0 | 1, commit: Ledger['commit'] = instance(at).ledger.commit, olderThanMs = AT_ONCE) {
  const { database, ledger } = instance(at);
  const { unrecordedEvents } = database;
  const parts = { unrecordedEvents, ledger: { ...ledger, commit }, clock: systemClock, log: silentLog };
  return recordKeptEvents(parts, olderThanMs);
}

/** Ids of the events on record, and which of them were recorded late. */
async function onRecord(): Promise<readonly (readonly [id: string, isLate: boolean])[]> {
  const found = await instance(0).database.ledgerStore.events('acme\0', {});
  return found.map(({ event }) => [event.id, 'recorded_at' in event.data]);
}

const left = () => run(connection, 'select event_id from sallyport.unrecorded_events order by 1');

const killed = async (): Promise<never> => {
  throw new Error('killed');
};

/** Makes a view, with one event. */
const change = (ledger: Pick<Ledger, 'commit'>, id = 'e1') =>
  recordedChange(
    ledger,
    () => [draft(id)],
    (keep: EventsOf<void>) =>
      instance(0).database.visibilityStore.put({ tenantId: 'acme', kind: 'view', key: id, rule: {} }, keep),
  );

test('AUD-07.5 the event of a change that was cut off is recorded once, late, by either instance', async () => {
  await expect(change({ commit: killed })).rejects.toThrow('killed');
  expect(await onRecord()).toEqual([]);
  expect(await search(1, undefined, AN_HOUR)).toBe(0);
  expect(await search(1)).toBe(1);
  expect(await onRecord()).toEqual([['e1', true]]);
  expect([await search(0), await search(1), await left()]).toEqual([0, 0, []]);
});

test('AUD-07.5 a change that is recorded at once leaves nothing to record', async () => {
  await change(instance(0).ledger);
  expect([await left(), await search(1), await onRecord()]).toEqual([[], 0, [['e1', false]]]);
});

test('AUD-07.5 an event that is on record, and was not removed from what is left, is not recorded again', async () => {
  const { ledger } = instance(0);
  const cutOff: Ledger['commit'] = async ({ kept: _kept, ...entry }) => {
    await ledger.commit(entry);
    throw new Error('killed');
  };
  await expect(change({ commit: cutOff })).rejects.toThrow('killed');
  await expect(change({ commit: killed }, 'e10')).rejects.toThrow('killed');
  expect(await left()).toHaveLength(2);
  expect(await search(1)).toBe(1);
  expect([await left(), await onRecord()]).toEqual([
    [],
    [
      ['e1', false],
      ['e10', true],
    ],
  ]);
});

test('AUD-07.5 a search that is killed before and after its own event leaves one event in the end', async () => {
  await expect(change({ commit: killed })).rejects.toThrow('killed');
  await expect(search(0, killed)).rejects.toMatchObject({ code: 'E3812' });
  expect(await onRecord()).toEqual([]);
  const { ledger } = instance(0);
  const cutOff: Ledger['commit'] = async (entry) => {
    await ledger.commit(entry);
    throw new Error('killed');
  };
  await expect(search(0, cutOff)).rejects.toMatchObject({ code: 'E3812' });
  expect(await left()).toHaveLength(1);
  expect([await search(1), await left(), await onRecord()]).toEqual([0, [], [['e1', true]]]);
});

test('AUD-07.5 two instances that search at the same time record each event once', async () => {
  const ids = Array.from({ length: 20 }, (_, at) => `e${at + 10}`);
  for (const id of ids) await expect(change({ commit: killed }, id)).rejects.toThrow('killed');
  const found = await Promise.all([search(0), search(1), search(0), search(1)]);
  expect(found.reduce((sum, count) => sum + count, 0)).toBe(ids.length);
  const recorded = (await onRecord()).map(([id]) => id);
  expect([recorded.toSorted(), await left()]).toEqual([ids, []]);
});

test('AUD-07.5 a change that the database refuses leaves no event', async () => {
  const inTwo = (keep: EventsOf<void>) =>
    instance(0).database.visibilityStore.put({ tenantId: 'acme', kind: 'other' as 'view', key: 'k', rule: {} }, keep);
  await expect(recordedChange(instance(0).ledger, () => [draft('e1')], inTwo)).rejects.toMatchObject({ code: 'E3812' });
  expect([await left(), await search(1), await onRecord()]).toEqual([[], 0, []]);
});
