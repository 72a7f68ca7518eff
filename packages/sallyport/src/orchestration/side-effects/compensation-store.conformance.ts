import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { changedWithEvents, unchangedWithoutEvents } from '../../domain/event/events-of.conformance.ts';
import type { Compensation, CompensationStore } from '../compensation-store.port.ts';

/** Requirements of every CompensationStore. `open` gives an empty store each time. */
export function compensationStoreConformance(
  test: TestCase,
  adapter: string,
  open: OpenStore<CompensationStore>,
): void {
  const check = casesOver(test, adapter, open);

  check('VIS-03 a row is written once, and changed only from where it stands', async (store) => {
    const first = row({});
    equal(await store.change(first, undefined), true);
    equal(await store.change(row({ by: 'other' }), undefined), false);
    equal(await store.change(row({ state: 'compensated' }), { attempt: 2, state: 'compensating' }), false);
    equal(await store.change(row({ state: 'compensated' }), { attempt: 1, state: 'failed' }), false);
    deepEqual(await store.find('acme', ['call-1']), [first]);
    const done = row({ state: 'compensated', endedAt: 9 });
    equal(await store.change(done, { attempt: 1, state: 'compensating' }), true);
    deepEqual(await store.find('acme', ['call-1', 'call-2']), [done]);
    equal(await store.change(row({ attempt: 2 }), { attempt: 2, state: 'compensating' }), false);
  });

  check('AUD-07.5 no compensation begins or ends without its events', async (store) => {
    const state = () => store.find('acme', ['call-1']);
    await changedWithEvents((events) => store.change(row({}), undefined, events), state);
    await unchangedWithoutEvents((events) => store.change(row({ by: 'other' }), undefined, events));
    const from = { attempt: 1, state: 'compensating' } as const;
    await changedWithEvents((events) => store.change(row({ state: 'compensated' }), from, events), state);
    await unchangedWithoutEvents((events) => store.change(row({ state: 'failed' }), from, events));
  });

  check('VIS-03 of changes at the same time one is made', async (store) => {
    const firsts = Array.from({ length: 16 }, (_, at) => store.change(row({ compensationId: `c-${at}` }), undefined));
    equal((await Promise.all(firsts)).filter(Boolean).length, 1);
    const [standing] = await store.find('acme', ['call-1']);
    const ends = Array.from({ length: 16 }, () =>
      store.change(row({ ...standing, state: 'compensated' }), { attempt: 1, state: 'compensating' }),
    );
    equal((await Promise.all(ends)).filter(Boolean).length, 1);
  });

  check('VIS-03 a row is removed only from where it stands, and may be written anew', async (store) => {
    await store.change(row({}), undefined);
    equal(await store.remove('acme', 'call-1', { attempt: 1, state: 'failed' }), false);
    equal(await store.remove('globex', 'call-1', { attempt: 1, state: 'compensating' }), false);
    equal(await store.remove('acme', 'call-1', { attempt: 1, state: 'compensating' }), true);
    deepEqual(await store.find('acme', ['call-1']), []);
    equal(await store.change(row({}), undefined), true);
  });

  check('VIS-03 what is compensating is listed, the oldest first', async (store) => {
    for (const [at, invocationId] of ['c', 'a', 'b'].entries()) {
      await store.change(row({ invocationId, startedAt: 1_000 * (3 - at) }), undefined);
    }
    await store.change(row({ invocationId: 'a', state: 'failed', errorCode: 'E3109' }), {
      attempt: 1,
      state: 'compensating',
    });
    deepEqual(
      (await store.open(10)).map(({ invocationId }) => invocationId),
      ['b', 'c'],
    );
    equal((await store.open(1)).length, 1);
  });

  check('rows are of one tenant, whatever its name', async (store) => {
    const tenants = ['acme', 'globex', 'a\0', 'a\uFFFD', 'a\ud800', 'json:"a"'];
    for (const tenantId of tenants) equal(await store.change(row({ tenantId, by: tenantId }), undefined), true);
    for (const tenantId of tenants) {
      deepEqual(await store.find(tenantId, ['call-1']), [row({ tenantId, by: tenantId })]);
    }
    deepEqual(await store.find('nobody', ['call-1']), []);
    deepEqual(await store.find('acme', []), []);
  });
}

const row = (changes: Partial<Compensation>): Compensation => ({
  tenantId: 'acme',
  invocationId: 'call-1',
  attempt: 1,
  state: 'compensating',
  toolId: 'refund',
  compensationId: 'call-9',
  by: 'did:web:one',
  startedAt: 1_000,
  ...changes,
});
