import { once } from 'node:events';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { DocumentUpdate } from '../../../bridges/document-updates.port.ts';
import type { PolicyUpdate } from '../../../permission/policy-updates.port.ts';
import type { NewDocument } from '../../../reference-servers/document-store.port.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { type PostgresConnection, poolTarget } from '../postgres-connection.ts';
import { openPostgres } from '../postgres-database.ts';
import { clientOf, embeddedDatabases, run, type TestDatabases } from '../postgres-databases.fixture.ts';
import { serverFacts } from '../server/server-facts.ts';
import { breakableWire } from './breakable-wire.fixture.ts';
import { listen } from './listen.ts';
import type { UpdatesParts } from './poll.ts';
import { documentUpdatesAt, policyUpdatesAt } from './updates.fixture.ts';

let databases: TestDatabases;
beforeAll(async () => {
  databases = await embeddedDatabases();
});
afterAll(() => databases.close());

const ENOUGH_MS = 20_000;
const NEVER_MS = 3_600_000;

/** An instance, and the policy updates that it received. */
async function instance(connection: PostgresConnection, changes: Partial<UpdatesParts> = {}) {
  const { store, close } = await policyUpdatesAt(connection, changes);
  const received: PolicyUpdate[] = [];
  store.subscribe((update) => received.push(update));
  return { store, received, [Symbol.asyncDispose]: close };
}
/** An instance, and the updates of documents that it received. */
async function reader(connection: PostgresConnection, changes: Partial<UpdatesParts> = {}) {
  const { store, close } = await documentUpdatesAt(connection, changes);
  const received: (DocumentUpdate | undefined)[] = [];
  store.subscribe((update) => received.push(update));
  return { store, received, [Symbol.asyncDispose]: close };
}
const forbidden = () => {
  throw new Error('forbidden');
};
const has = <Update>(received: readonly Update[], update: Update) =>
  vi.waitFor(() => expect(received).toContainEqual(update), ENOUGH_MS);
/** The names of the lines that were logged, with their reasons. */
function lines() {
  const logged: [string, unknown][] = [];
  const keep = (name: string, fields?: object) => void logged.push([name, fields]);
  return { logged, log: { ...silentLog, warn: keep, error: keep } };
}
const LISTENING = "from pg_stat_activity where datname = current_database() and query like 'listen%'";
/** Ends the connections that listen, and waits until they are gone. */
const endListeners = (connection: PostgresConnection) =>
  run(connection, `select pg_terminate_backend(pid, 10000) as gone ${LISTENING}`);
const nobodyListens = (connection: PostgresConnection) =>
  vi.waitFor(async () => expect(await run(connection, `select pid ${LISTENING}`)).toEqual([]), ENOUGH_MS);

test.each([
  ['by notifications alone', { pollMs: NEVER_MS }],
  ['where LISTEN is forbidden', { connect: forbidden }],
])('PRM-05.4 an update of one instance reaches the others, %s', async (_how, changes) => {
  const connection = await databases.fresh();
  await using one = await instance(connection, changes);
  await using two = await instance(connection, changes);
  await one.store.publish({ reason: 'from one' });
  await has(two.received, { reason: 'from one' });
  await two.store.publish({ reason: 'from two' });
  await has(one.received, { reason: 'from two' });
  expect(two.received).toEqual([{ reason: 'from one' }, { reason: 'from two' }]);
});

test('PRM-05 G-007 another program that notifies the channel is heard', async () => {
  const connection = await databases.fresh();
  await using one = await instance(connection, { pollMs: NEVER_MS });
  await run(connection, `notify "policy:updates", 'attributes changed'`);
  await has(one.received, { reason: 'attributes changed' });
  await run(connection, `notify "policy:updates"`);
  await has(one.received, { reason: '' });
  for (const payload of [
    '{"revision":5}',
    '{"reason":"x"}',
    '{"revision":"5","reason":"x"}',
    '{"revision":5,"reason":0}',
  ]) {
    await run(connection, `notify "policy:updates", '${payload}'`);
    await has(one.received, { reason: payload });
  }
});

test('PRM-05 DOC-02.3 a lost connection is made again, and says that updates may have been missed', async () => {
  const connection = await databases.fresh();
  await using one = await instance(connection, { pollMs: NEVER_MS });
  await using documents = await reader(connection, { pollMs: NEVER_MS });
  expect(await endListeners(connection)).toEqual([{ gone: true }, { gone: true }]);
  await has(documents.received, undefined);
  await has(one.received, { reason: 'the connection for notifications was lost', missed: true });
  await run(connection, `notify "policy:updates", 'after that'`);
  await has(one.received, { reason: 'after that' });
});

test('PRM-05 while the database does not answer updates count as missed, and publishing fails after this instance is notified', async () => {
  const connection = await databases.fresh();
  const { logged, log } = lines();
  await using one = await instance(connection, { connect: forbidden, pollMs: 100, log });
  await run(connection, 'alter table sallyport.policy_updates rename to away');
  await has(one.received, { reason: 'the database does not say whether policies changed', missed: true });
  await expect(one.store.publish({ reason: 'x' })).rejects.toMatchObject({ code: 'E3812' });
  expect(one.received).toContainEqual({ reason: 'x' });
  await run(connection, 'alter table sallyport.away rename to policy_updates');
  await one.store.publish({ reason: 'y' });
  await vi.waitFor(() => expect(one.received.at(-1)).toEqual({ reason: 'y' }), ENOUGH_MS);
  await run(connection, "update sallyport.policy_updates set revision = revision + 1, reason = 'polled'");
  await has(one.received, { reason: 'polled' });
  expect(logged.map(([name]) => name)).toEqual(['notifications-not-listened-to', 'policy-updates-not-read']);
  await run(connection, 'alter table sallyport.policy_updates rename to away');
  await vi.waitFor(() => expect(logged).toHaveLength(3), ENOUGH_MS);
});

test('PRM-05 updates count as missed while the database hangs', async () => {
  const connection = await databases.fresh();
  const locker = await clientOf(connection);
  try {
    await using one = await instance(connection, { connect: forbidden, pollMs: 5 });
    await locker.query('begin; lock table sallyport.policy_updates in access exclusive mode');
    await has(one.received, { reason: 'the database does not say whether policies changed', missed: true });
    await locker.query('commit');
    await one.store.publish({ reason: 'x' });
    await vi.waitFor(() => expect(one.received.at(-1)).toEqual({ reason: 'x' }), ENOUGH_MS);
  } finally {
    await locker.end();
  }
});

test.each([
  ['policies', instance, { reason: 'x' }],
  ['documents', reader, { tenantId: 'acme', documentId: 'guide', version: '2' }],
] as const)(
  'PRM-05 DOC-02 once they are closed updates of %s reach nobody, and leave no connection',
  async (_of, open, update) => {
    const connection = await databases.fresh();
    const { logged, log } = lines();
    const one = await open(connection, { pollMs: 1, log });
    await one[Symbol.asyncDispose]();
    await nobodyListens(connection);
    await expect(one.store.publish(update as never)).rejects.toMatchObject({ code: 'E3812' });
    expect([one.received, logged]).toEqual([[], []]);
  },
);

test('PRM-05 a database that was set back to an earlier state hides no later update', async () => {
  const connection = await databases.fresh();
  const back = 'update sallyport.policy_updates set revision = 0';
  await using one = await instance(connection, { connect: forbidden, pollMs: 50 });
  await using two = await instance(connection, { connect: forbidden, pollMs: NEVER_MS });
  await two.store.publish({ reason: 'lost' });
  await has(one.received, { reason: 'lost' });
  await run(connection, back);
  await has(one.received, { reason: 'lost', missed: true });
  await two.store.publish({ reason: 'after it' });
  expect(two.received.at(-1)).toEqual({ reason: 'after it', missed: true });
  await has(one.received, { reason: 'after it' });
});

const UPDATE = { tenantId: 'acme', documentId: 'guide', version: '2' };
const DELETED = { ...UPDATE, version: '', deleted: true } as const;

test('DOC-02.3 a changed document is known to every instance, and to the publisher at once', async () => {
  const connection = await databases.fresh();
  await using one = await reader(connection, { pollMs: NEVER_MS });
  await using two = await reader(connection, { pollMs: NEVER_MS });
  const hostile = { tenantId: 'te\0nant\ud800', documentId: `'; --"`, version: '1' };
  for (const update of [UPDATE, DELETED, hostile]) {
    const published = one.store.publish(update);
    expect(one.received.at(-1)).toEqual(update);
    await published;
  }
  await vi.waitFor(() => expect(two.received).toHaveLength(3), ENOUGH_MS);
  expect(two.received).toEqual([UPDATE, DELETED, hostile]);
});

test('DOC-02.3 another program that notifies the channel is received; what names no document outdates all of them', async () => {
  const connection = await databases.fresh();
  await using one = await reader(connection, { pollMs: NEVER_MS });
  const named = { tenant_id: 'acme', document_id: 'guide' };
  const payloads = [
    ...[{ ...named, version: 7, deleted: 'true' }, named, { ...named, tenant_id: 1 }],
    ...[{ ...named, document_id: null }, null],
  ];
  for (const payload of [...payloads.map((each) => JSON.stringify(each)), 'text', ''])
    await run(connection, `notify "document:updates", '${payload}'`);
  await vi.waitFor(() => expect(one.received).toHaveLength(7), ENOUGH_MS);
  const unknown = [undefined, undefined, undefined, undefined, undefined];
  expect(one.received).toEqual([{ ...UPDATE, version: '7' }, { ...UPDATE, version: '' }, ...unknown]);
});

const GUIDE: NewDocument = {
  ...{ documentId: 'guide', title: 'Guide', tags: [], authority: 50, content: 'x', contentType: 'text/plain' },
  ...{ sha256: 'a'.repeat(64), passages: [], shingles: { step: 1, hashes: [] }, at: 0, by: { agentDid: 'did:a' } },
};
const TERMS = { mustBeNew: true, documentsMax: 10, versionsMax: 10 };

test('DOC-02.4 where LISTEN is forbidden a deletion outdates everything within a second, though its instance ended', async () => {
  const connection = await databases.fresh();
  await using deleting = await openPostgres({ connection, log: silentLog });
  await deleting.documentStore.put('acme', GUIDE, TERMS);
  await using one = await reader(connection, { connect: forbidden });
  const { logged, log } = lines();
  await using two = await reader(connection, { connect: forbidden, pollMs: 100, log });
  await run(connection, 'alter table sallyport.document_updates rename to away');
  const listening = ['notifications-not-listened-to', { channel: 'document:updates', reason: 'forbidden' }];
  const reading = ['document-updates-not-read', { reason: expect.stringContaining('say whether documents were') }];
  await vi.waitFor(() => expect(logged).toEqual([listening, reading]), ENOUGH_MS);
  await expect(deleting.documentStore.delete('acme', 'guide')).rejects.toMatchObject({ code: 'E3812' });
  expect(await deleting.documentStore.find('acme', ['guide'])).toHaveLength(1);
  await run(connection, 'alter table sallyport.away rename to document_updates');
  expect([one.received, two.received]).toEqual([[], []]);
  // Nothing is published: the instance may have ended before it could.
  expect(await deleting.documentStore.delete('acme', 'guide')).toEqual({ deleted: 1 });
  for (const { received } of [one, two]) {
    await has(received, undefined);
    expect(received).toEqual([undefined]);
  }
  expect(logged).toEqual([listening, reading]);
});

test('DOC-02.3 a listener that throws keeps no update from the others; one that left gets none', async () => {
  await using one = await reader(await databases.fresh(), { pollMs: NEVER_MS, connect: forbidden });
  one.store.subscribe(forbidden);
  const gone = one.store.subscribe(() => expect.unreachable('it left'));
  gone[Symbol.dispose]();
  const last: unknown[] = [];
  one.store.subscribe((update) => last.push(update));
  await one.store.publish(UPDATE);
  expect([one.received, last]).toEqual([[UPDATE], [UPDATE]]);
});

test('PRM-05.4 DOC-02.3 PIPE-08 what one database opens is received by another over the same server', async () => {
  const connection = await databases.fresh();
  await using one = await openPostgres({ connection, log: silentLog });
  await using two = await openPostgres({ connection, log: silentLog });
  await using policies = await one.policyUpdates();
  await using documents = await one.documentUpdates();
  const received: unknown[] = [];
  policies.subscribe((update) => received.push(update));
  documents.subscribe((update) => received.push(update));
  await using _slots = await one.slotStore.listen('one', (agent) => received.push(agent ?? 'any'));
  await using elsewhere = await two.policyUpdates();
  await elsewhere.publish({ reason: 'x' });
  await using documentsElsewhere = await two.documentUpdates();
  await documentsElsewhere.publish(UPDATE);
  await two.slotStore.renew('two', 60_000);
  await two.slotStore.leave('two');
  await vi.waitFor(() => expect(received).toEqual(expect.arrayContaining([{ reason: 'x' }, UPDATE, 'any'])), ENOUGH_MS);
  expect(await one.vectorIndex()).toBeUndefined();
  expect(await serverFacts(connection, Date.now)).toMatchObject({ isSuperuser: false });
  const asking = "select pid from pg_stat_activity where query like '%is_superuser%' and pid <> pg_backend_pid()";
  await vi.waitFor(async () => expect(await run(connection, asking)).toEqual([]), ENOUGH_MS);
});

/** A listener to the channel `c` over a wire that breaks. */
async function listener(connection: PostgresConnection, failures: number, log = silentLog) {
  const wire = await breakableWire(connection);
  const received: string[] = [];
  let attempts = 0;
  const listening = await listen({
    channel: 'c',
    connect() {
      attempts += 1;
      if (attempts > 1 && attempts <= failures) return new Client({ host: '/nowhere' });
      if (attempts <= failures) throw new Error('not yet');
      return new Client(poolTarget(wire.connection));
    },
    notified: (payload) => void received.push(payload),
    again: () => void received.push('again'),
    log,
    retryMs: 1,
  });
  return { wire, received, attempts: () => attempts, close: () => listening[Symbol.asyncDispose]() };
}

test('PIPE-08 a connection for notifications that is lost is made again each time, and each outage is logged once', async () => {
  const connection = await databases.fresh();
  const { logged, log } = lines();
  const { wire, received, close } = await listener(connection, 3, log);
  await using _wire = wire;
  const lost = (reason: unknown) => ['notifications-not-listened-to', { channel: 'c', reason }];
  await vi.waitFor(() => expect(received).toEqual(['again']), ENOUGH_MS);
  expect(logged).toEqual([lost('not yet')]);
  for (const round of [1, 2]) {
    wire.breakAll();
    await vi.waitFor(() => expect(received).toHaveLength(2 * round), ENOUGH_MS);
    await run(connection, `notify c, 'after ${round}'`);
    await vi.waitFor(() => expect(received).toHaveLength(2 * round + 1), ENOUGH_MS);
  }
  expect(received).toEqual(['again', 'again', 'after 1', 'again', 'after 2']);
  expect(logged).toHaveLength(3);
  await close();
  await nobodyListens(connection);
});

test('PIPE-08 a listener leaves, also when the server says nothing any more, and while an attempt waits', async () => {
  const connection = await databases.fresh();
  const silent = await listener(connection, 0);
  await using _wire = silent.wire;
  expect(silent.received).toEqual([]);
  silent.wire.silence();
  await silent.close();
  const failing = await listener(connection, Number.POSITIVE_INFINITY);
  await using _other = failing.wire;
  await failing.close();
  const attempts = failing.attempts();
  await once(AbortSignal.timeout(5), 'abort');
  expect(failing.attempts()).toBe(attempts);
});
