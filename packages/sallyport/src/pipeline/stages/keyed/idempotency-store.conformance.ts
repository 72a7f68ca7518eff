import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { MiB } from '@sallyport/std/bytes';
import type { IdempotencyClaim, IdempotencyStore } from '../../idempotency-store.port.ts';

const DAY_MS = 86_400_000;

/** Requirements of every IdempotencyStore. `open` gives an empty store each time, on the machine's clock. */
export function idempotencyStoreConformance(test: TestCase, adapter: string, open: OpenStore<IdempotencyStore>): void {
  const check = casesOver(test, adapter, open);

  check('PIPE-09 a free key is claimed, and a second claim is answered with the first', async (store) => {
    const first = claim({});
    deepEqual(await store.claim(first, DAY_MS), first);
    deepEqual(await store.claim(claim({ invocationId: 'other', requestHash: 'other' }), DAY_MS), first);
    deepEqual(await store.claim(first, DAY_MS), first);
  });

  check('PIPE-09 keys are of one tenant', async (store) => {
    const tenants = ['acme', 'globex', 'a\0', 'a\uFFFD', 'a\ud800', 'json:"a\\u0000"'];
    for (const tenantId of tenants) {
      const own = claim({ tenantId, invocationId: `of-${tenants.indexOf(tenantId)}` });
      deepEqual(await store.claim(own, DAY_MS), own);
    }
  });

  check('PIPE-09 an expired key is free', async (store) => {
    await store.claim(claim({}), -1);
    const second = claim({ invocationId: 'second', requestHash: 'other' });
    deepEqual(await store.claim(second, DAY_MS), second);
    deepEqual(await store.claim(claim({ invocationId: 'third' }), DAY_MS), second);
  });

  check('PIPE-09 a released key is free', async (store) => {
    await store.claim(claim({}), DAY_MS);
    await store.release('acme', 'key', 'first');
    const second = claim({ invocationId: 'second' });
    deepEqual(await store.claim(second, DAY_MS), second);
  });

  check('VIS-04 a claim takes the place of one that is named, and of no other', async (store) => {
    const first = claim({ instanceId: 'one' });
    await store.claim(first, DAY_MS);
    const second = claim({ invocationId: 'second', instanceId: 'two' });
    deepEqual(await store.takeOver(second, 'another', DAY_MS), first);
    deepEqual(await store.takeOver(second, 'first', DAY_MS), second);
    deepEqual(await store.takeOver(claim({ invocationId: 'third' }), 'first', DAY_MS), second);
    await store.release('acme', 'key', 'second');
    const third = claim({ invocationId: 'third' });
    deepEqual(await store.takeOver(third, 'second', DAY_MS), third);
  });

  check('VIS-04 of those that take one claim over at the same time one stands', async (store) => {
    await store.claim(claim({}), DAY_MS);
    const takers = Array.from({ length: 16 }, (_, at) =>
      store.takeOver(claim({ invocationId: `caller-${at}` }), 'first', DAY_MS),
    );
    const standing = new Set((await Promise.all(takers)).map(({ invocationId }) => invocationId));
    equal(standing.size, 1);
    equal(standing.has('first'), false);
  });

  check('PIPE-09 the claim that stands is found until it is released or expired', async (store) => {
    equal(await store.find('acme', 'key'), undefined);
    const first = claim({});
    await store.claim(first, DAY_MS);
    deepEqual(await store.find('acme', 'key'), first);
    equal(await store.find('globex', 'key'), undefined);
    await store.release('acme', 'key', 'first');
    equal(await store.find('acme', 'key'), undefined);
    await store.claim(first, -1);
    equal(await store.find('acme', 'key'), undefined);
  });

  check('PIPE-09 a claim is of the call with its nonce, and of no other call that names the same id', async (store) => {
    const first = claim({});
    const second = claim({ nonce: 'second' });
    await store.claim(first, DAY_MS);
    deepEqual(await store.claim(second, DAY_MS), first);
    await store.release('acme', 'key', 'second');
    deepEqual(await store.takeOver(second, 'second', DAY_MS), first);
    await store.release('acme', 'key', 'first');
    deepEqual(await store.claim(second, DAY_MS), second);
  });

  check('nobody releases the key of another invocation or tenant', async (store) => {
    const first = claim({});
    await store.claim(first, DAY_MS);
    await store.release('acme', 'key', 'second');
    await store.release('globex', 'key', 'first');
    await store.release('acme', 'other', 'first');
    deepEqual(await store.claim(claim({ invocationId: 'second' }), DAY_MS), first);
  });

  check('PIPE-09 of claims at the same time one stands and all are answered with it', async (store) => {
    for (let round = 0; round < 5; round += 1) {
      const claims = Array.from({ length: 32 }, (_, at) =>
        store.claim(claim({ key: `round-${round}`, invocationId: `caller-${at}` }), DAY_MS),
      );
      equal(new Set((await Promise.all(claims)).map(({ invocationId }) => invocationId)).size, 1);
    }
  });

  check('PIPE-09 an expired key is taken over by one of the claims at the same time', async (store) => {
    await store.claim(claim({}), -1);
    const claims = Array.from({ length: 32 }, (_, at) => store.claim(claim({ invocationId: `caller-${at}` }), DAY_MS));
    const standing = new Set((await Promise.all(claims)).map(({ invocationId }) => invocationId));
    equal(standing.size, 1);
    equal(standing.has('first'), false);
  });

  check('keys of any length and any characters are kept apart', async (store) => {
    const long = '🙂'.repeat(256);
    const vast = 'v'.repeat(MiB);
    const keys = [long, `${long}x`, vast, `${vast}x`, 'a\0', 'a\uFFFD', 'a\ud800', 'a', "'; drop table x; --", ' '];
    for (const [at, key] of keys.entries()) {
      const own = claim({ tenantId: '🙂'.repeat(127), key, invocationId: `of-${at}` });
      deepEqual(await store.claim(own, DAY_MS), own);
    }
  });

  check('expired keys do not stand in the way of new ones', async (store) => {
    for (let at = 0; at < 20; at += 1) await store.claim(claim({ key: `old-${at}` }), -1);
    const claims = Array.from({ length: 20 }, (_, at) => claim({ key: `new-${at}`, invocationId: `caller-${at}` }));
    deepEqual(await Promise.all(claims.map((each) => store.claim(each, DAY_MS))), claims);
  });
}

/** A claim whose nonce equals its invocation id, unless the changes name one. */
function claim(changes: Partial<IdempotencyClaim>): IdempotencyClaim {
  const nonce = changes.invocationId ?? 'first';
  return { tenantId: 'acme', key: 'key', requestHash: 'hash', invocationId: 'first', nonce, ...changes };
}
