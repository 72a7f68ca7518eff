import { randomBytes } from 'node:crypto';
import { MiB } from '@sallyport/std/bytes';
import { systemClock } from '@sallyport/std/clock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRetention } from '../../../packages/sallyport/src/bridges/retention.ts';
import { LOCAL_CALLER, silentLog } from '../../../packages/sallyport/src/index.ts';
import type { PostgresConnection } from '../../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import { openPostgres } from '../../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import { run } from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import {
  type ArchivingServer,
  archivingServer,
} from '../../../packages/sallyport/src/storage/s3/archiving-server.fixture.ts';
import { s3ObjectStore } from '../../../packages/sallyport/src/storage/s3/s3-object-store.ts';
import { DOUBLE, type OpenLayer, openLayer, post } from '../../e2e/layer.fixture.ts';

const KEY = { id: 'the-key', secret: 'the-secret' };
const STATE = randomBytes(MiB);

let connection: PostgresConnection;
let bucket: ArchivingServer;
let open: OpenLayer;
beforeAll(async () => {
  bucket = await archivingServer(KEY);
  open = await openLayer(
    {
      'object_store.kind': 's3',
      'object_store.s3_url': bucket.url,
      'object_store.s3_archive_class': 'GLACIER',
    },
    { SALLYPORT_SECRET_S3_ACCESS_KEY_ID: KEY.id, SALLYPORT_SECRET_S3_SECRET_ACCESS_KEY: KEY.secret },
  );
  if (open.layer.embeddedDatabase === undefined) throw new Error('The layer has no database of its own.');
  connection = open.layer.embeddedDatabase;
  await open.layer.registerFunction({ ...DOUBLE, tool_id: 'long' }, async ({ n }, { checkpoints }) => {
    const { restored } = checkpoints;
    if (restored !== undefined) return { same: Buffer.from(restored.bytes).equals(STATE) };
    await checkpoints.save(STATE, { milestone: 'half' });
    throw new Error(`The work of ${String(n)} was interrupted.`);
  });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await bucket[Symbol.asyncDispose]();
});

/** What another instance does at night, at a time when all milestones have reached their time. */
async function night(): Promise<void> {
  await run(connection, 'update sallyport.checkpoints set archive_at = now() where archived_at is null');
  await using database = await openPostgres({ connection, log: silentLog });
  const objects = s3ObjectStore({
    ...{ url: bucket.url, region: 'us-east-1', key: async () => KEY, archiveClass: 'GLACIER', readableDays: 1 },
  });
  const store = database.checkpointStore;
  const retention = createRetention({ store, archive: store, objects, clock: systemClock, log: silentLog });
  await retention.archive(async () => true);
  await retention.expire(() => false);
}

test('STA-03.4 STA-06.3 STA-06.4 a large state is archived at night, restored in hours, and the work continues from it', async () => {
  const { layer, token } = open;
  const call = { tool_id: 'long', parameters: { n: 1 } };
  expect(await layer.invoke({ ...call, invocation_id: 'first' }, { token })).toMatchObject({ status: 'error' });
  const { checkpoints } = await layer.ask('checkpoints.list', { invocation_id: 'first' }, LOCAL_CALLER);
  const [{ checkpoint_id: id } = { checkpoint_id: '' }] = checkpoints;
  expect(await run(connection, 'select state from sallyport.checkpoints')).toEqual([{ state: null }]);
  await night();
  const resumed = { ...call, checkpoint_config: { resume_from_checkpoint_id: id } };
  const pending = { status: 'error', error: { code: 'resume_failed', message: expect.stringContaining('restore') } };
  expect(await layer.invoke(resumed, { token })).toMatchObject(pending);
  expect(bucket.asked).toEqual([]);
  for (const _again of [1, 2]) {
    const { status, body } = await post(open, `/v1/checkpoints/${id}/restoration`, '{}');
    expect([status, body['type']]).toEqual([503, 'urn:sallyport:error:E3708']);
  }
  const shown = layer.ask('checkpoints.get', { checkpoint_id: id }, LOCAL_CALLER);
  await expect(shown).rejects.toMatchObject({ code: 'E3708' });
  bucket.finish();
  const restored = await post(open, `/v1/checkpoints/${id}/restoration`, '{}');
  expect(restored).toMatchObject({ status: 200, body: { checkpoint: { checkpoint_id: id } } });
  expect(restored.body['checkpoint']).not.toHaveProperty('archived_at');
  expect(await layer.invoke(resumed, { token })).toMatchObject({ status: 'success', result: { same: true } });
});

test('STA-03.4 an object of a checkpoint that was removed is removed too', async () => {
  const { layer, token } = open;
  await layer.invoke({ tool_id: 'long', parameters: { n: 2 }, invocation_id: 'removed' }, { token });
  const { checkpoints } = await layer.ask('checkpoints.list', { invocation_id: 'removed' }, LOCAL_CALLER);
  const [row] = await run(
    connection,
    `select object_name as name, object_size::int as size from sallyport.checkpoints where line_id = 'removed'`,
  );
  const { name, size } = row as { name: string; size: number };
  const objects = s3ObjectStore({
    url: bucket.url,
    region: 'us-east-1',
    key: async () => KEY,
    archiveClass: '',
    readableDays: 1,
  });
  expect(await objects.get(name, size)).toBeInstanceOf(Uint8Array);
  const [{ checkpoint_id = '' } = {}] = checkpoints;
  await layer.ask('checkpoints.remove', { checkpoint_id }, LOCAL_CALLER);
  await night();
  expect(await objects.get(name, size)).toBeUndefined();
});
