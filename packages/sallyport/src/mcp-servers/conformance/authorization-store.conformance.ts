import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { AuthorizationPlace, AuthorizationStore } from '../authorization-store.port.ts';

/** Longer than any test. */
const LONG_MS = 600_000;

/** Conformance of every AuthorizationStore. `open` returns an empty store each time. */
export function authorizationStoreConformance(
  test: TestCase,
  adapter: string,
  open: OpenStore<AuthorizationStore>,
): void {
  const check = casesOver(test, adapter, open);

  check('an empty store holds no authorization', async (store) => {
    equal(await store.read(place('layer')), undefined);
    equal(await store.claim(place('layer'), 0, LONG_MS), false);
    equal(await store.remove('acme', 'notes'), false);
  });

  check('a text is kept with its revision, each part for itself', async (store) => {
    const first = await written(store, place('layer'), 'one', 0);
    const other = await written(store, place('user ada'), 'two', 0);
    deepEqual(await store.read(place('layer')), { text: 'one', revision: first });
    deepEqual(await store.read(place('user ada')), { text: 'two', revision: other });
    equal(await store.read({ ...place('layer'), tenantId: 'globex' }), undefined);
  });

  check('the revisions of several places are read together', async (store) => {
    deepEqual(await store.revisions([]), []);
    const hostile = { tenantId: 'a\0 \ud800', upstream: 'notes', part: `user "' \\ \0` };
    const [first, other] = [await written(store, place('layer'), 'one', 0), await written(store, hostile, 'two', 0)];
    const asked = [hostile, place('user ada'), place('layer'), { ...place('layer'), tenantId: 'globex' }];
    deepEqual(await store.revisions(asked), [other, undefined, first, undefined]);
    await store.remove('acme', 'notes');
    deepEqual(await store.revisions(asked), [other, undefined, undefined, undefined]);
  });

  check('only the version that was read is replaced', async (store) => {
    const first = await written(store, place('layer'), 'one', 0);
    equal(await store.replace(place('layer'), 'late', 0), undefined);
    const second = await written(store, place('layer'), 'two', first);
    equal(await store.replace(place('layer'), 'late', first), undefined);
    deepEqual(await store.read(place('layer')), { text: 'two', revision: second });
  });

  check('of writers of one version at the same time one is first', async (store) => {
    const first = await written(store, place('layer'), 'one', 0);
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, at) => store.replace(place('layer'), `n ${at}`, first)),
    );
    equal(all.filter((revision) => revision !== undefined).length, 1);
  });

  check('a version is claimed once, until it is replaced', async (store) => {
    const first = await written(store, place('layer'), 'one', 0);
    const claims = await Promise.all(Array.from({ length: 8 }, () => store.claim(place('layer'), first, LONG_MS)));
    equal(claims.filter(Boolean).length, 1);
    const second = await written(store, place('layer'), 'two', first);
    equal(await store.claim(place('layer'), first, LONG_MS), false);
    equal(await store.claim(place('layer'), second, LONG_MS), true);
  });

  check('a claim that has ended is claimed again', async (store) => {
    const first = await written(store, place('layer'), 'one', 0);
    equal(await store.claim(place('layer'), first, 0), true);
    equal(await store.claim(place('layer'), first, LONG_MS), true);
    equal(await store.claim(place('layer'), first, LONG_MS), false);
  });

  check('a part is removed alone, and an upstream with all its parts', async (store) => {
    for (const part of ['upstream', 'layer', 'user ada']) await written(store, place(part), part, 0);
    const foreign = { ...place('layer'), tenantId: 'globex' };
    await written(store, foreign, 'foreign', 0);
    equal(await store.remove('acme', 'notes', 'user ada'), true);
    equal(await store.remove('acme', 'notes', 'user ada'), false);
    equal((await store.read(place('layer')))?.text, 'layer');
    equal(await store.remove('acme', 'notes'), true);
    equal(await store.read(place('layer')), undefined);
    equal((await store.read(foreign))?.text, 'foreign');
  });

  check(
    'PRM-11 what is done to one place leaves those of other tenants, upstreams and parts as they are',
    async (store) => {
      const others = [
        { ...place('layer'), tenantId: 'globex' },
        { ...place('layer'), upstream: 'mail' },
        place('user ada'),
      ];
      for (const other of others) await written(store, other, 'other', 0);
      const own = await written(store, place('layer'), 'one', 0);
      for (const other of others) {
        equal(await store.claim(other, own, LONG_MS), false);
        equal(await store.replace(other, 'late', own), undefined);
      }
      deepEqual(await store.read(place('layer')), { text: 'one', revision: own });
      equal(await store.remove('acme', 'notes', 'layer'), true);
      for (const other of others) equal((await store.read(other))?.text, 'other');
      equal(await store.remove('acme', 'notes'), true);
      for (const other of others.slice(0, 2)) equal((await store.read(other))?.text, 'other');
    },
  );

  check('a version that was removed does not come back under its revision', async (store) => {
    const first = await written(store, place('layer'), 'one', 0);
    await store.remove('acme', 'notes');
    const next = await written(store, place('layer'), 'again', 0);
    notEqual(next, first);
    equal(await store.replace(place('layer'), 'late', first), undefined);
  });

  check('hostile text comes back as it was', async (store) => {
    const hostile = { tenantId: 'a\0 \ud800', upstream: 'notes', part: `user "' \\ \0` };
    await written(store, hostile, `quote ' " \\, 🙂`, 0);
    equal((await store.read(hostile))?.text, `quote ' " \\, 🙂`);
    equal(await store.remove('a\uFFFD \ud800', 'notes'), false);
    equal(await store.remove('a\0 \ud800', 'notes'), true);
  });
}

const place = (part: string): AuthorizationPlace => ({ tenantId: 'acme', upstream: 'notes', part });

async function written(
  store: AuthorizationStore,
  at: AuthorizationPlace,
  text: string,
  revision: number,
): Promise<number> {
  const next = await store.replace(at, text, revision);
  notEqual(next, undefined);
  return next as number;
}
