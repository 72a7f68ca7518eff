import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import { changedWithEvents, unchangedWithoutEvents } from '../../domain/event/events-of.conformance.ts';
import type { StoredUpstream, UpstreamStore } from '../upstream-store.port.ts';

/** Conformance of every UpstreamStore. `open` returns an empty store each time. */
export function upstreamStoreConformance(test: TestCase, adapter: string, open: OpenStore<UpstreamStore>): void {
  const check = casesOver(test, adapter, open);

  check('an empty store holds no upstreams', async (store) => {
    deepEqual(await store.loadAll(), []);
    equal(await store.remove('acme', 'files'), false);
  });

  check('an upstream is kept whole', async (store) => {
    const both = [upstream('acme', 'files', 'node'), remote('acme', 'search')];
    for (const added of both) await store.put(added);
    deepEqual(sorted(await store.loadAll()), both);
  });

  check('an upstream of the same tenant and name is replaced', async (store) => {
    await store.put(upstream('acme', 'files', 'node'));
    await store.put(upstream('acme', 'files', 'python3'));
    deepEqual(await store.loadAll(), [upstream('acme', 'files', 'python3')]);
  });

  check('an upstream is removed once, and only for its tenant', async (store) => {
    await store.put(upstream('acme', 'files', 'node'));
    await store.put(upstream('globex', 'files', 'node'));
    equal(await store.remove('acme', 'other'), false);
    equal(await store.remove('acme', 'files'), true);
    equal(await store.remove('acme', 'files'), false);
    deepEqual(await store.loadAll(), [upstream('globex', 'files', 'node')]);
  });

  check('AUD-07.5 no upstream is kept or removed without its events', async (store) => {
    const state = () => store.loadAll();
    await changedWithEvents((events) => store.put(upstream('acme', 'files', 'node'), events), state);
    await changedWithEvents((events) => store.remove('acme', 'files', events), state);
    await unchangedWithoutEvents((events) => store.remove('acme', 'files', events));
  });

  check('one upstream is found by tenant and name', async (store) => {
    await store.put(upstream('acme', 'files', 'node'));
    deepEqual(await store.find('acme', 'files'), upstream('acme', 'files', 'node').definition);
    equal(await store.find('globex', 'files'), undefined);
    equal(await store.find('acme', 'other'), undefined);
  });

  check('each change of an upstream gives another print of it, and of no other, and a look none', async (store) => {
    const changes: readonly (readonly [place: string, change: () => Promise<unknown>])[] = [
      ['acme files', () => store.put(upstream('acme', 'files', 'node'))],
      ['acme files', () => store.put(upstream('acme', 'files', 'python3'))],
      ['globex files', () => store.put(upstream('globex', 'files', 'node'))],
      ['globex files', () => store.remove('globex', 'files')],
      ['acme files', () => store.remove('acme', 'files')],
    ];
    const prints = async () =>
      new Map((await store.prints()).map(({ tenantId, name, print }) => [`${tenantId} ${name}`, print]));
    for (const [place, change] of changes) {
      const before = await prints();
      deepEqual(await prints(), before);
      await change();
      const after = await prints();
      notEqual(after.get(place), before.get(place));
      for (const known of [before, after]) known.delete(place);
      deepEqual(after, before);
    }
  });

  check('writers of one upstream at the same time leave one', async (store) => {
    await Promise.all(Array.from({ length: 16 }, (_, at) => store.put(upstream('acme', 'files', `command-${at}`))));
    equal((await store.loadAll()).length, 1);
  });

  check('hostile text comes back as it was', async (store) => {
    const hostile = upstream('a\0 \ud800', 'files', `nul \0, quote ' " \\, lone \ud800, 🙂`);
    await store.put(hostile);
    deepEqual(await store.loadAll(), [hostile]);
    equal(await store.remove('a\uFFFD \ud800', 'files'), false);
    equal(await store.remove('a\0 \ud800', 'files'), true);
  });
}

const upstream = (tenantId: string, name: string, command: string): StoredUpstream => ({
  tenantId,
  definition: { name, transport: { type: 'stdio', command, args: ['--root', '/data'], env: { MODE: 'test' } } },
});

const remote = (tenantId: string, name: string): StoredUpstream => ({
  tenantId,
  definition: {
    name,
    transport: { type: 'http', url: 'https://example.com/mcp' },
    request_timeout_ms: 5000,
    disabled: true,
  },
});

const sorted = (upstreams: readonly StoredUpstream[]): StoredUpstream[] =>
  [...upstreams].sort((one, other) => (one.definition.name < other.definition.name ? -1 : 1));
