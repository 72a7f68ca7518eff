import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { PolicyUpdate } from '../../../permission/policy-updates.port.ts';
import type { PostgresConnection } from '../postgres-connection.ts';
import { embeddedDatabases, run, type TestDatabases } from '../postgres-databases.fixture.ts';
import { policyUpdatesAt } from './policy-updates.fixture.ts';
import type { PostgresPolicyUpdatesParts } from './postgres-policy-updates.ts';

let databases: TestDatabases;
beforeAll(async () => {
  databases = await embeddedDatabases();
});
afterAll(() => databases.close());

const ENOUGH_MS = 20_000;
const NEVER_MS = 3_600_000;

/** An instance, and the updates that it received. */
async function instance(connection: PostgresConnection, changes: Partial<PostgresPolicyUpdatesParts> = {}) {
  const { store, close } = await policyUpdatesAt(connection, changes);
  const heard: PolicyUpdate[] = [];
  store.subscribe((update) => heard.push(update));
  return { store, heard, [Symbol.asyncDispose]: close };
}
const forbidden = () => {
  throw new Error('forbidden');
};
const has = (heard: readonly PolicyUpdate[], update: PolicyUpdate) =>
  vi.waitFor(() => expect(heard).toContainEqual(update), ENOUGH_MS);

test.each([
  ['by notifications alone', { pollMs: NEVER_MS }],
  ['where LISTEN is forbidden', { connect: forbidden }],
])('PRM-05.4 an update of one instance reaches the others, %s', async (_how, changes) => {
  const connection = await databases.fresh();
  await using one = await instance(connection, changes);
  await using two = await instance(connection, changes);
  await one.store.publish({ reason: 'from one' });
  await has(two.heard, { reason: 'from one' });
  await two.store.publish({ reason: 'from two' });
  await has(one.heard, { reason: 'from two' });
  expect(two.heard).toEqual([{ reason: 'from one' }, { reason: 'from two' }]);
});

test('PRM-05 G-007 another program that notifies the channel is heard', async () => {
  const connection = await databases.fresh();
  await using one = await instance(connection, { pollMs: NEVER_MS });
  await run(connection, `notify "policy:updates", 'attributes changed'`);
  await has(one.heard, { reason: 'attributes changed' });
  await run(connection, `notify "policy:updates"`);
  await has(one.heard, { reason: '' });
});

test('PRM-05 a lost connection is made again, and says that updates may have been missed', async () => {
  const connection = await databases.fresh();
  await using one = await instance(connection, { pollMs: NEVER_MS });
  const ended = await run(
    connection,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'`,
  );
  expect(ended).toHaveLength(1);
  await has(one.heard, { reason: 'the connection for notifications was lost', missed: true });
  await run(connection, `notify "policy:updates", 'after that'`);
  await has(one.heard, { reason: 'after that' });
});

test('PRM-05 while the database does not answer updates count as missed, and publishing fails after this instance is notified', async () => {
  const connection = await databases.fresh();
  await using one = await instance(connection, { connect: forbidden });
  await run(connection, 'alter table sallyport.policy_updates rename to away');
  await has(one.heard, { reason: 'the database does not say whether policies changed', missed: true });
  await expect(one.store.publish({ reason: 'x' })).rejects.toMatchObject({ code: 'E3812' });
  expect(one.heard).toContainEqual({ reason: 'x' });
  await run(connection, 'alter table sallyport.away rename to policy_updates');
  await one.store.publish({ reason: 'y' });
  expect(one.heard.at(-1)).toEqual({ reason: 'y' });
});
