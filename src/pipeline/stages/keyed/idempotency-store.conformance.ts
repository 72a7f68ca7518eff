import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '../../../std/adapter-cases.ts';
import { MiB } from '../../../std/bytes.ts';
import type { IdempotencyClaim, IdempotencyStore } from '../../idempotency-store.port.ts';

const DAY_MS = 86_400_000;

/** What every IdempotencyStore does. `open` gives an empty store each time, on the machine's clock. */
export function idempotencyStoreConformance(test: TestCase, adapter: string, open: OpenStore<IdempotencyStore>): void {
  const check = casesOver(test, adapter, open);

  check('PIPE-09 a free key is claimed, and a second claim is answered with the first', async (store) => {
    const first = claim({});
    deepEqual(await store.claim(first), first);
    deepEqual(await store.claim(claim({ invocationId: 'other', requestHash: 'other' })), first);
    deepEqual(await store.claim(first), first);
  });

  check('PIPE-09 keys are of one tenant', async (store) => {
    const tenants = ['acme', 'globex', 'a\0', 'a\uFFFD', 'a\ud800', 'json:"a\\u0000"'];
    for (const tenantId of tenants) {
      const own = claim({ tenantId, invocationId: `of-${tenants.indexOf(tenantId)}` });
      deepEqual(await store.claim(own), own);
    }
  });

  check('PIPE-09 an expired key is free', async (store) => {
    await store.claim(claim({ expiresAt: Date.now() - 1 }));
    const second = claim({ invocationId: 'second', requestHash: 'other' });
    deepEqual(await store.claim(second), second);
    deepEqual(await store.claim(claim({ invocationId: 'third' })), second);
  });

  check('PIPE-09 a released key is free', async (store) => {
    await store.claim(claim({}));
    await store.release('acme', 'key', 'first');
    const second = claim({ invocationId: 'second' });
    deepEqual(await store.claim(second), second);
  });

  check('VIS-04 a claim takes the place of one that is named, and of no other', async (store) => {
    const first = claim({ instanceId: 'one' });
    await store.claim(first);
    const second = claim({ invocationId: 'second', instanceId: 'two' });
    deepEqual(await store.takeOver(second, 'another'), first);
    deepEqual(await store.takeOver(second, 'first'), second);
    deepEqual(await store.takeOver(claim({ invocationId: 'third' }), 'first'), second);
    await store.release('acme', 'key', 'second');
    const third = claim({ invocationId: 'third' });
    deepEqual(await store.takeOver(third, 'second'), third);
  });

  check('VIS-04 of those that take one claim over at the same time one stands', async (store) => {
    await store.claim(claim({}));
    const takers = Array.from({ length: 16 }, (_, at) =>
      store.takeOver(claim({ invocationId: `caller-${at}` }), 'first'),
    );
    const standing = new Set((await Promise.all(takers)).map(({ invocationId }) => invocationId));
    equal(standing.size, 1);
    equal(standing.has('first'), false);
  });

  check('nobody releases the key of another invocation or tenant', async (store) => {
    const first = claim({});
    await store.claim(first);
    await store.release('acme', 'key', 'second');
    await store.release('globex', 'key', 'first');
    await store.release('acme', 'other', 'first');
    deepEqual(await store.claim(claim({ invocationId: 'second' })), first);
  });

  check('PIPE-09 of claims at the same time one stands and all are answered with it', async (store) => {
    for (let round = 0; round < 5; round += 1) {
      const claims = Array.from({ length: 32 }, (_, at) =>
        store.claim(claim({ key: `round-${round}`, invocationId: `caller-${at}` })),
      );
      equal(new Set((await Promise.all(claims)).map(({ invocationId }) => invocationId)).size, 1);
    }
  });

  check('PIPE-09 an expired key is taken over by one of the claims at the same time', async (store) => {
    await store.claim(claim({ expiresAt: Date.now() - 1 }));
    const claims = Array.from({ length: 32 }, (_, at) => store.claim(claim({ invocationId: `caller-${at}` })));
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
      deepEqual(await store.claim(own), own);
    }
  });

  check('expired keys do not stand in the way of new ones', async (store) => {
    for (let at = 0; at < 20; at += 1) await store.claim(claim({ key: `old-${at}`, expiresAt: Date.now() - 1 }));
    const claims = Array.from({ length: 20 }, (_, at) => claim({ key: `new-${at}`, invocationId: `caller-${at}` }));
    deepEqual(await Promise.all(claims.map((each) => store.claim(each))), claims);
  });
}

function claim(changes: Partial<IdempotencyClaim>): IdempotencyClaim {
  const expiresAt = Date.now() + DAY_MS;
  return { tenantId: 'acme', key: 'key', requestHash: 'hash', invocationId: 'first', expiresAt, ...changes };
}
