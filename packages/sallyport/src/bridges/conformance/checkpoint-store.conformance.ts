import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { CheckpointStore, StoredCheckpoint } from '../checkpoint-store.port.ts';

const TENANT = 'acme';
const HOUR_MS = 3_600_000;

function checkpoint(sequence: number, more: Partial<StoredCheckpoint> = {}): StoredCheckpoint {
  const bytes = Buffer.from(`{"step":${sequence}}`);
  return {
    checkpointId: `ckpt-${sequence}`,
    invocationId: 'call-1',
    lineId: 'call-1',
    sequence,
    type: 'micro',
    owner: { tenantId: TENANT, agentDid: 'did:example:a', userDid: 'did:example:u' },
    toolId: 'count',
    toolVersion: '1.0.0',
    schemaVersion: '1.0',
    size: bytes.length,
    sha256: '0'.repeat(64),
    savedAt: Date.now(),
    expiresAt: Date.now() + HOUR_MS,
    packed: { form: 'plain', bytes, size: bytes.length, sha256: '0'.repeat(64) },
    ...more,
  };
}

const idsOf = (checkpoints: readonly { checkpointId: string }[]): string[] =>
  checkpoints.map(({ checkpointId }) => checkpointId);

/** Bytes of a state that its row holds. */
const bytesOf = (found: StoredCheckpoint | undefined): Uint8Array | undefined =>
  found?.packed === undefined || 'object' in found.packed ? undefined : new Uint8Array(found.packed.bytes);

/** Requirements of every CheckpointStore. `open` gives an empty one each time. */
export function checkpointStoreConformance(test: TestCase, adapter: string, open: OpenStore<CheckpointStore>): void {
  const check = casesOver(test, adapter, open);

  check('STA-01 a checkpoint comes back as it was stored, for its tenant alone', async (store) => {
    const named = checkpoint(1, {
      checkpointId: 'a\0b',
      type: 'named',
      label: 'before the upload \ud800',
      phase: 'parsing',
      progressPercent: 12.5,
      packed: { form: 'zstd', bytes: new Uint8Array([0, 1, 255]), size: 10, sha256: '0'.repeat(64) },
      size: 10,
    });
    const { expiresAt: _expiresAt, ...kept } = named;
    equal(await store.put(kept), true);
    const found = await store.find(TENANT, 'a\0b');
    deepEqual({ ...found, packed: { ...found?.packed, bytes: bytesOf(found) } }, kept);
    equal(await store.find('other', 'a\0b'), undefined);
    equal(await store.find(TENANT, 'unknown'), undefined);
  });

  check('STA-05 only the holder of a line saves, each sequence once', async (store) => {
    equal(await store.put(checkpoint(1)), true);
    equal(await store.put(checkpoint(1, { checkpointId: 'again' })), false);
    equal(await store.put(checkpoint(3)), false);
    equal(await store.put(checkpoint(2)), true);
    equal(await store.take(TENANT, 'call-1', 'call-1', 'call-2'), true);
    equal(await store.put(checkpoint(3)), false);
    equal(await store.put(checkpoint(3, { invocationId: 'call-2' })), true);
    deepEqual(await store.line(TENANT, 'call-1'), { lineId: 'call-1', holder: 'call-2', newest: 3 });
  });

  check('STA-05 of many that save or take at once, one succeeds', async (store) => {
    await store.put(checkpoint(1));
    const many = Array.from({ length: 8 }, (_, at) => at);
    const saved = await Promise.all(many.map((at) => store.put(checkpoint(2, { checkpointId: `second-${at}` }))));
    equal(saved.filter(Boolean).length, 1);
    const taken = await Promise.all(many.map((at) => store.take(TENANT, 'call-1', 'call-1', `resumed-${at}`)));
    equal(taken.filter(Boolean).length, 1);
  });

  check('STA-02 a line is found by each call that saved in it or holds it', async (store) => {
    for (const sequence of [1, 2]) await store.put(checkpoint(sequence));
    deepEqual(await store.lineOf(TENANT, 'call-1'), { lineId: 'call-1', holder: 'call-1', newest: 2 });
    await store.take(TENANT, 'call-1', 'call-1', 'call-2');
    const line = { lineId: 'call-1', holder: 'call-2', newest: 2 };
    deepEqual(await store.lineOf(TENANT, 'call-1'), line);
    deepEqual(await store.lineOf(TENANT, 'call-2'), line);
    equal(await store.lineOf(TENANT, 'call-3'), undefined);
    equal(await store.lineOf('other', 'call-1'), undefined);
    equal(await store.line('other', 'call-1'), undefined);
  });

  check('STA-01 they are listed newest first, page by page, without their states', async (store) => {
    for (let sequence = 1; sequence <= 11; sequence += 1) await store.put(checkpoint(sequence));
    deepEqual(idsOf(await store.list(TENANT, 'call-1', 3)), ['ckpt-11', 'ckpt-10', 'ckpt-9']);
    deepEqual(idsOf(await store.list(TENANT, 'call-1', 3, 2)), ['ckpt-1']);
    deepEqual(await store.list('other', 'call-1', 2), []);
    const [newest] = await store.list(TENANT, 'call-1', 1);
    equal('packed' in (newest ?? {}), false);
  });

  check('STA-06 what has expired has no state, is not listed, and is forgotten later', async (store) => {
    await store.put(checkpoint(1, { expiresAt: Date.now() - HOUR_MS }));
    await store.put(checkpoint(2));
    const { expiresAt: _expiresAt, ...kept } = checkpoint(3, { type: 'named' });
    await store.put(kept);
    deepEqual(idsOf(await store.list(TENANT, 'call-1', 9)), ['ckpt-3', 'ckpt-2']);
    const more = { checkpointId: 'more', lineId: 'call-2', invocationId: 'call-2', expiresAt: Date.now() - 1000 };
    await store.put(checkpoint(1, more));
    equal(await store.expire(2 * HOUR_MS, 1), 1);
    equal((await store.find(TENANT, 'ckpt-1'))?.packed, undefined);
    equal(await store.expire(2 * HOUR_MS, 10), 1);
    equal(await store.expire(2 * HOUR_MS, 10), 0);
    equal(await store.expire(HOUR_MS / 2, 10), 1);
    equal(await store.find(TENANT, 'ckpt-1'), undefined);
    await store.keepUntil(TENANT, 'ckpt-2', Date.now() - 1000);
    await store.keepUntil(TENANT, 'ckpt-3', Date.now() - 1000);
    deepEqual(idsOf(await store.list(TENANT, 'call-1', 9)), ['ckpt-3']);
  });

  check('STA-06.5 work without a checkpoint is forgotten after its time, and begins anew', async (store) => {
    await store.put(checkpoint(1, { expiresAt: Date.now() - HOUR_MS }));
    await store.put(checkpoint(1, { checkpointId: 'other', lineId: 'call-2', invocationId: 'call-2' }));
    await store.put(checkpoint(1, { checkpointId: 'mine', owner: { tenantId: 'other', agentDid: 'did:example:a' } }));
    await store.remove('other', 'mine');
    equal(await store.forgetLines(HOUR_MS, 9), 0);
    equal(await store.forgetLines(-HOUR_MS, 9), 1);
    equal(await store.line('other', 'call-1'), undefined);
    for (const lineId of ['call-1', 'call-2']) equal((await store.line(TENANT, lineId))?.newest, 1);
    await store.remove(TENANT, 'ckpt-1');
    await store.remove(TENANT, 'other');
    for (const [limit, forgotten] of [
      [1, 1],
      [9, 1],
      [9, 0],
    ] as const)
      equal(await store.forgetLines(-HOUR_MS, limit), forgotten);
    equal(await store.lineOf(TENANT, 'call-1'), undefined);
    equal(await store.put(checkpoint(2)), false);
    equal(await store.put(checkpoint(1)), true);
  });

  check(
    'STA-06.1 a state is kept while another that has not expired is stored as the difference from it',
    async (store) => {
      await store.put(checkpoint(1, { expiresAt: Date.now() - HOUR_MS }));
      await store.put(checkpoint(2, { parentId: 'ckpt-1' }));
      equal(await store.expire(HOUR_MS / 2, 10), 0);
      deepEqual(bytesOf(await store.find(TENANT, 'ckpt-1')), new Uint8Array(Buffer.from('{"step":1}')));
      await store.keepUntil(TENANT, 'ckpt-2', Date.now() - 1000);
      equal(await store.expire(2 * HOUR_MS, 10), 1);
      equal(await store.expire(2 * HOUR_MS, 10), 1);
      equal(bytesOf(await store.find(TENANT, 'ckpt-1')), undefined);
    },
  );

  check('STA-03.1 nothing is stored as the difference from a state that is not there any more', async (store) => {
    await store.put(checkpoint(1, { expiresAt: Date.now() - HOUR_MS }));
    equal(await store.put(checkpoint(2, { parentId: 'unknown' })), false);
    equal(await store.expire(2 * HOUR_MS, 10), 1);
    equal(await store.put(checkpoint(2, { parentId: 'ckpt-1' })), false);
    equal((await store.line(TENANT, 'call-1'))?.newest, 1);
    equal(await store.put(checkpoint(2)), true);
    equal(await store.put(checkpoint(3, { parentId: 'ckpt-2' })), true);
    equal(await store.remove(TENANT, 'ckpt-2'), true);
    equal(await store.put(checkpoint(4, { parentId: 'ckpt-2' })), false);
  });

  check('STA-01 PRM-10 what is done to a line leaves those of other tenants and lines as they are', async (store) => {
    const owner = { tenantId: 'other', agentDid: 'did:example:a' };
    const beside = (sequence: number) => ({ checkpointId: `beside-${sequence}`, lineId: 'line-2' });
    const milestone = { checkpointId: 'milestone', lineId: 'line-2', type: 'macro' } as const;
    await store.put(checkpoint(1));
    await store.put(checkpoint(1, { owner }));
    await store.put(checkpoint(1, beside(1)));
    const newest = async () =>
      Promise.all([store.line('other', 'call-1'), store.line(TENANT, 'line-2')]).then((lines) =>
        lines.map((line) => [line?.holder, line?.newest]),
      );
    await store.put(checkpoint(2, { parentId: 'ckpt-1' }));
    deepEqual(await newest(), [
      ['call-1', 1],
      ['call-1', 1],
    ]);
    await store.put(checkpoint(2, { owner, parentId: 'ckpt-1', checkpointId: 'milestone', type: 'macro' }));
    await store.put(checkpoint(2, milestone));
    await store.take(TENANT, 'call-1', 'call-1', 'call-2');
    deepEqual(await newest(), [
      ['call-1', 2],
      ['call-1', 2],
    ]);
    deepEqual(idsOf(await store.ancestors(TENANT, 'ckpt-2', 9)), ['ckpt-1']);
    deepEqual(await store.ancestors(TENANT, 'milestone', 9), []);
    await store.take('other', 'call-1', 'call-1', 'call-9');
    await store.put(checkpoint(3, { owner, invocationId: 'call-9' }));
    equal(await store.lineOf(TENANT, 'call-9'), undefined);
    await store.keepUntil(TENANT, 'ckpt-2', Date.now() - HOUR_MS);
    await store.lineEnded(TENANT, 'call-1', Date.now() + 1000);
    equal(await store.remove(TENANT, 'ckpt-2'), true);
    await store.keepUntil(TENANT, 'ckpt-1', Date.now() - HOUR_MS);
    equal(await store.expire(2 * HOUR_MS, 9), 1);
    equal(await store.remove(TENANT, 'ckpt-1'), true);
    await store.lineEnded(TENANT, 'call-1');
    deepEqual(await store.list(TENANT, 'call-1', 9), []);
    const [theirs, left] = [await store.list('other', 'call-1', 9), await store.list(TENANT, 'line-2', 9)];
    deepEqual(idsOf(theirs), ['ckpt-3', 'milestone', 'ckpt-1']);
    deepEqual(idsOf(left), ['milestone', 'beside-1']);
    for (const each of [theirs[1], left[0]]) equal((each?.expiresAt ?? 0) > Date.now() + HOUR_MS / 2, true);
    equal(await store.forgetLines(-HOUR_MS, 9), 1);
    equal(await store.line(TENANT, 'call-1'), undefined);
  });

  check('STA-06 a success ends the micro checkpoints of its line, a failure the milestones later', async (store) => {
    const { expiresAt: _expiresAt, ...named } = checkpoint(3, { type: 'named' });
    await store.put(checkpoint(1));
    await store.put(checkpoint(2, { type: 'macro', expiresAt: Date.now() + HOUR_MS }));
    await store.put(named);
    await store.lineEnded(TENANT, 'call-1', Date.now() + HOUR_MS / 2);
    deepEqual(idsOf(await store.list(TENANT, 'call-1', 9)), ['ckpt-3', 'ckpt-2', 'ckpt-1']);
    const sooner = (await store.find(TENANT, 'ckpt-2'))?.expiresAt ?? Number.POSITIVE_INFINITY;
    equal(sooner < Date.now() + HOUR_MS * 0.75, true);
    equal((await store.find(TENANT, 'ckpt-3'))?.expiresAt, undefined);
    await store.lineEnded(TENANT, 'call-1');
    deepEqual(idsOf(await store.list(TENANT, 'call-1', 9)), ['ckpt-3', 'ckpt-2']);
  });

  check('STA-03.1 the chain of a difference comes in one look, its parent first', async (store) => {
    await store.put(checkpoint(1));
    await store.put(checkpoint(2, { parentId: 'ckpt-1' }));
    await store.put(checkpoint(3, { parentId: 'ckpt-2' }));
    await store.put(checkpoint(4, { parentId: 'ckpt-gone' }));
    const chain = await store.ancestors(TENANT, 'ckpt-3', 9);
    deepEqual(
      chain.map(({ checkpointId, packed }) => [checkpointId, packed?.size]),
      [
        ['ckpt-2', 10],
        ['ckpt-1', 10],
      ],
    );
    deepEqual(idsOf(await store.ancestors(TENANT, 'ckpt-3', 1)), ['ckpt-2']);
    for (const id of ['ckpt-1', 'ckpt-4', 'ckpt-5']) deepEqual(await store.ancestors(TENANT, id, 9), []);
    deepEqual(await store.ancestors('other', 'ckpt-3', 9), []);
  });

  check('STA-01 one that is removed takes with it what is stored as the difference from it', async (store) => {
    await store.put(checkpoint(1));
    await store.put(checkpoint(2, { parentId: 'ckpt-1' }));
    await store.put(checkpoint(3, { parentId: 'ckpt-2' }));
    await store.put(checkpoint(4));
    equal(await store.remove('other', 'ckpt-1'), false);
    equal(await store.remove(TENANT, 'ckpt-1'), true);
    equal(await store.remove(TENANT, 'ckpt-1'), false);
    deepEqual(idsOf(await store.list(TENANT, 'call-1', 9)), ['ckpt-4']);
  });

  check(
    'STA-02.1 of changes that are taken back, the checkpoints that say they are made are removed',
    async (store) => {
      await store.put(checkpoint(1));
      await store.put(checkpoint(2, { afterChanges: true }));
      const { expiresAt: _expiresAt, ...named } = checkpoint(3, { type: 'named', afterChanges: true });
      await store.put(named);
      await store.take(TENANT, 'call-1', 'call-1', 'call-2');
      await store.put(checkpoint(4, { invocationId: 'call-2', afterChanges: true }));
      await store.removeAfterChanges('other', 'call-1');
      await store.removeAfterChanges(TENANT, 'line');
      deepEqual(idsOf(await store.list(TENANT, 'call-1', 9)), ['ckpt-4', 'ckpt-3', 'ckpt-2', 'ckpt-1']);
      await store.removeAfterChanges(TENANT, 'call-1');
      deepEqual(idsOf(await store.list(TENANT, 'call-1', 9)), ['ckpt-4', 'ckpt-1']);
      equal((await store.line(TENANT, 'call-1'))?.newest, 4);
    },
  );

  check('STA-04.1 an instance finds what it has not reported, in the order in which it was saved', async (store) => {
    const saved = (sequence: number, more: Partial<StoredCheckpoint> = {}) =>
      checkpoint(sequence, { savedAt: Date.now() + sequence, ...more });
    await store.put(saved(1), 'one');
    await store.put(saved(2), 'one');
    await store.put(saved(3));
    await store.put(saved(4), 'two');
    await store.put(saved(5), 'one');
    const earlier = {
      checkpointId: 'another',
      lineId: 'call-9',
      invocationId: 'call-9',
      savedAt: Date.now() - HOUR_MS,
    };
    await store.put(saved(1, earlier), 'one');
    deepEqual(idsOf(await store.unreported('one', 2)), ['another', 'ckpt-1']);
    await store.reported(TENANT, 'call-9', 1);
    deepEqual(idsOf(await store.unreported('one', 9)), ['ckpt-1', 'ckpt-2', 'ckpt-5']);
    await store.reported('other', 'call-1', 9);
    await store.reported(TENANT, 'call-1', 4);
    deepEqual(idsOf(await store.unreported('one', 9)), ['ckpt-5']);
    deepEqual(idsOf(await store.unreported('two', 9)), []);
  });
}
