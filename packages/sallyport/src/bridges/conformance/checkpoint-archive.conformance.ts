import { deepEqual, equal, rejects } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { CheckpointArchive } from '../checkpoint-archive.port.ts';
import type { CheckpointStore, StoredCheckpoint } from '../checkpoint-store.port.ts';
import type { StateElsewhere } from '../state/packed-state.ts';

const TENANT = 'acme';
const HOUR_MS = 3_600_000;
const HASH = '0'.repeat(64);
const HERE = { form: 'plain' as const, bytes: Buffer.from('1'), size: 1, sha256: HASH };

const elsewhere = (name: string): StateElsewhere => ({
  form: 'zstd',
  size: 5_000_000_000,
  sha256: HASH,
  object: { name: `acme/${name}`, size: 3_000_000_000, sha256: '1'.repeat(64) },
});

const milestone = (sequence: number, more: Partial<StoredCheckpoint> = {}): StoredCheckpoint => ({
  checkpointId: `ckpt-${sequence}`,
  invocationId: 'call-1',
  lineId: 'call-1',
  sequence,
  type: 'macro',
  owner: { tenantId: TENANT, agentDid: 'did:example:a' },
  toolId: 'count',
  toolVersion: '1.0.0',
  schemaVersion: '1.0',
  size: 1,
  sha256: HASH,
  savedAt: Date.now(),
  expiresAt: Date.now() + HOUR_MS,
  packed: HERE,
  ...more,
});

/** Requirements of every CheckpointArchive, over the store of the same checkpoints. `open` gives an empty one each time. */
export function checkpointArchiveConformance(
  test: TestCase,
  adapter: string,
  open: OpenStore<CheckpointStore & CheckpointArchive>,
): void {
  const check = casesOver(test, adapter, open);
  const soon = (): number => Date.now() + HOUR_MS;
  const past = (): number => Date.now() - HOUR_MS;
  const idsDue = async (store: CheckpointArchive, limit = 9, skipped = 0): Promise<readonly string[]> =>
    (await store.due(limit, skipped)).map(({ checkpointId }) => checkpointId);
  const namesUnused = async (store: CheckpointArchive): Promise<readonly string[]> =>
    (await store.unused(9)).map(({ tenantId, name }) => `${tenantId} ${name}`).sort();

  check('STA-03.4 an object belongs to the checkpoint that was stored with it, until that is gone', async (store) => {
    await store.announce({ tenantId: TENANT, name: 'acme/one' }, soon());
    equal(await store.put(milestone(1, { packed: elsewhere('one'), size: 5_000_000_000 })), true);
    deepEqual((await store.find(TENANT, 'ckpt-1'))?.packed, elsewhere('one'));
    equal((await store.list(TENANT, 'call-1', 9)).length, 1);
    deepEqual(await store.unused(9), []);
    equal(await store.remove(TENANT, 'ckpt-1'), true);
    deepEqual(await namesUnused(store), ['acme acme/one']);
    await store.announce({ tenantId: TENANT, name: 'acme/two' }, past());
    deepEqual(
      (await store.unused(1)).map(({ name }) => name),
      ['acme/two'],
    );
    await store.announce({ tenantId: TENANT, name: 'acme/three' }, soon());
    for (const name of ['acme/one', 'acme/three']) await store.removed({ tenantId: TENANT, name });
    deepEqual(await namesUnused(store), ['acme acme/two']);
    equal(await store.put(milestone(1, { lineId: 'call-3', packed: elsewhere('three') })), true);
  });

  check('STA-03.4 an object that no checkpoint took in time is unused, and none takes it any more', async (store) => {
    await store.announce({ tenantId: TENANT, name: 'acme/late' }, past());
    await store.announce({ tenantId: TENANT, name: 'acme/written' }, soon());
    deepEqual(await namesUnused(store), ['acme acme/late']);
    await rejects(store.put(milestone(1, { packed: elsewhere('late') })), { code: 'E3812' });
    await rejects(store.put(milestone(1, { packed: elsewhere('unknown') })), { code: 'E3812' });
    equal(await store.find(TENANT, 'ckpt-1'), undefined);
    equal(await store.put(milestone(1)), true);
    await rejects(store.move(TENANT, 'ckpt-1', elsewhere('late'), {}), { code: 'E3812' });
    await store.removed({ tenantId: 'other', name: 'acme/late' });
    deepEqual(await namesUnused(store), ['acme acme/late']);
  });

  check(
    'STA-03.4 objects of expired and of ended checkpoints are unused, those of other tenants are not',
    async (store) => {
      for (const name of ['expired', 'ended', 'kept'])
        await store.announce({ tenantId: TENANT, name: `acme/${name}` }, soon());
      await store.announce({ tenantId: 'other', name: 'acme/ended' }, soon());
      const micro = { type: 'micro' } as const;
      await store.put(milestone(1, { ...micro, packed: elsewhere('expired'), expiresAt: past() }));
      await store.put(milestone(2, { ...micro, packed: elsewhere('ended') }));
      await store.put(milestone(3, { packed: elsewhere('kept') }));
      const owner = { tenantId: 'other', agentDid: 'did:example:a' };
      await store.put(milestone(1, { ...micro, owner, packed: elsewhere('ended') }));
      equal(await store.expire(2 * HOUR_MS, 9), 1);
      deepEqual(await namesUnused(store), ['acme acme/expired']);
      await store.lineEnded(TENANT, 'call-1');
      deepEqual(await namesUnused(store), ['acme acme/ended', 'acme acme/expired']);
    },
  );

  check('STA-06.3 milestones whose time has come are due, the oldest first', async (store) => {
    await store.put(milestone(1, { archiveAt: past() + 1000 }));
    await store.put(milestone(2, { archiveAt: past() }));
    await store.put(milestone(3, { archiveAt: soon() }));
    await store.put(milestone(4, { archiveAt: past(), expiresAt: past() }));
    await store.put(milestone(5));
    await store.announce({ tenantId: TENANT, name: 'acme/elsewhere' }, soon());
    await store.put(milestone(6, { archiveAt: past() + 2000, packed: elsewhere('elsewhere') }));
    deepEqual(await idsDue(store), ['ckpt-2', 'ckpt-1', 'ckpt-6']);
    deepEqual(await idsDue(store, 1), ['ckpt-2']);
    deepEqual(await idsDue(store, 9, 1), ['ckpt-1', 'ckpt-6']);
  });

  check('STA-06.1 a state is kept while an object holds the difference of another from it', async (store) => {
    await store.announce({ tenantId: TENANT, name: 'acme/difference' }, soon());
    await store.put(milestone(1, { expiresAt: past() }));
    equal(await store.put(milestone(2, { parentId: 'ckpt-1', packed: elsewhere('difference') })), true);
    equal(await store.expire(2 * HOUR_MS, 9), 0);
    equal((await store.find(TENANT, 'ckpt-1'))?.packed?.size, 1);
  });

  check('STA-06.3 a moved state is where it was moved to, and is due no more', async (store) => {
    await store.put(milestone(1, { archiveAt: past() }));
    await store.announce({ tenantId: TENANT, name: 'acme/archived' }, soon());
    const archivedAt = Date.now();
    equal(await store.move('other', 'ckpt-1', HERE, {}), false);
    equal(await store.move(TENANT, 'ckpt-1', { ...elsewhere('archived'), size: 1 }, { archivedAt }), true);
    const { archiveAt: _at, ...kept } = milestone(1);
    const found = await store.find(TENANT, 'ckpt-1');
    deepEqual(
      { ...found, savedAt: 0, expiresAt: 0 },
      {
        ...kept,
        savedAt: 0,
        expiresAt: 0,
        archivedAt,
        packed: { ...elsewhere('archived'), size: 1 },
      },
    );
    equal((await store.list(TENANT, 'call-1', 9))[0]?.archivedAt, archivedAt);
    deepEqual(await idsDue(store), []);
    equal(await store.move(TENANT, 'ckpt-1', HERE, { archiveAt: soon() }), true);
    equal((await store.find(TENANT, 'ckpt-1'))?.archivedAt, undefined);
    deepEqual(await namesUnused(store), ['acme acme/archived']);
  });

  check('STA-06.3 what has expired is not moved', async (store) => {
    await store.put(milestone(1, { expiresAt: past() }));
    equal(await store.move(TENANT, 'ckpt-1', HERE, {}), false);
    equal(await store.move(TENANT, 'unknown', HERE, {}), false);
    const { expiresAt: _expiresAt, ...lasting } = milestone(2);
    await store.put(milestone(1, { checkpointId: 'first', lineId: 'call-2' }));
    equal(await store.put({ ...lasting, lineId: 'call-2' }), true);
    equal(await store.move(TENANT, 'ckpt-2', HERE, {}), true);
  });

  check('STA-06.2 milestones of a failed run are not archived; those in the archive stay there', async (store) => {
    await store.put(milestone(1, { archiveAt: past() }));
    await store.put(milestone(2, { archiveAt: past() }));
    await store.announce({ tenantId: TENANT, name: 'acme/archived' }, soon());
    await store.move(TENANT, 'ckpt-1', elsewhere('archived'), { archivedAt: past() });
    const sooner = Date.now() + HOUR_MS / 2;
    await store.lineEnded(TENANT, 'call-1', sooner);
    deepEqual(await idsDue(store), []);
    equal((await store.find(TENANT, 'ckpt-2'))?.expiresAt, sooner);
    equal(((await store.find(TENANT, 'ckpt-1'))?.expiresAt ?? 0) > sooner, true);
  });
}
