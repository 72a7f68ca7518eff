import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { DeprecationState } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { contentHash, type ToolVersion } from '../../domain/tool/tool-version.ts';
import type { StateMove, ToolStore, VersionKey, VersionLifecycle } from '../tool-store.port.ts';

/** Conformance of every ToolStore. `open` returns an empty store each time. */
export function toolStoreConformance(test: TestCase, adapter: string, open: OpenStore<ToolStore>): void {
  const check = casesOver(test, adapter, open);

  check('an empty store holds no versions', async (store) => {
    deepEqual(await all(store), []);
  });

  check('REG-07.1 REG-07.5 REG-03.1 several versions of a tool are kept side by side, whole', async (store) => {
    const versions = [version({ version: '1.0.0' }), version({ version: '2.0.0-rc.1' }), version({ version: '2.0.0' })];
    for (const added of versions) equal(await store.insert(added), 'created');
    deepEqual(sorted(await all(store)), sorted(versions));
  });

  check('REG-03 the same content again is a no-op', async (store) => {
    const first = version({});
    equal(await store.insert(first), 'created');
    equal(await store.insert({ ...first, registeredAt: '2027-01-01T00:00:00.000Z' }), 'unchanged');
    deepEqual(await all(store), [first]);
  });

  check('REG-03 another content under the same id and version is a conflict and changes nothing', async (store) => {
    const first = version({ description: 'one' });
    await store.insert(first);
    equal(await store.insert(version({ description: 'other' })), 'conflict');
    deepEqual(await all(store), [first]);
  });

  check('a tenant has its own tools', async (store) => {
    equal(await store.insert(version({ description: 'one' }, 'acme')), 'created');
    equal(await store.insert(version({ description: 'other' }, 'globex')), 'created');
    equal(await move(store, { ...KEY, tenantId: 'globex' }, 'active', { state: 'removed' }), true);
    const states = (await all(store)).map(({ tenantId, state }) => `${tenantId} ${state}`);
    deepEqual(states.sort(), ['acme active', 'globex removed']);
  });

  check('many at once are answered in their order, also when they repeat one another', async (store) => {
    const known = version({ tool_id: 'known' });
    await store.insert(known);
    const outcomes = await store.insertAll([
      version({ tool_id: 'zulu' }),
      known,
      version({ tool_id: 'alpha' }),
      version({ tool_id: 'zulu' }),
      version({ tool_id: 'zulu', description: 'other' }),
      version({ tool_id: 'known', description: 'other' }),
    ]);
    deepEqual(outcomes, ['created', 'unchanged', 'created', 'unchanged', 'conflict', 'conflict']);
    equal((await all(store)).length, 3);
    deepEqual(await store.insertAll([]), []);
  });

  check('a thousand at once are all kept', async (store) => {
    const versions = Array.from({ length: 1000 }, (_, at) => version({ tool_id: `tool-${at}` }));
    const outcomes = await store.insertAll([...versions, versions[0] ?? version({})]);
    equal(outcomes.filter((outcome) => outcome === 'created').length, 1000);
    equal(outcomes.at(-1), 'unchanged');
    equal((await all(store)).length, 1000);
  });

  check('of writers at the same time exactly one creates', async (store) => {
    const tools = Array.from({ length: 20 }, (_, at) => version({ tool_id: `tool-${at}` }));
    const writers = Array.from({ length: 8 }, (_, at) => store.insertAll(at % 2 === 0 ? tools : tools.toReversed()));
    const outcomes = (await Promise.all(writers)).flat();
    equal(outcomes.filter((outcome) => outcome === 'created').length, tools.length);
    equal(outcomes.filter((outcome) => outcome === 'unchanged').length, 7 * tools.length);
  });

  check('REG-04 a version moves in its lifecycle, and what was said before is replaced', async (store) => {
    await store.insert(version({}));
    const stateChanges = [{ state: 'deprecated', at: AT, by: 'did:a:\0', reason: "it's old \0 🙂" }] as const;
    const deprecated = { state: 'deprecated', deprecatedInFavorOf: '2.0.0', migrationGuide: 'Rename \0 it.' } as const;
    const dates = { deprecatedAt: AT, removableAt: '2026-04-02T03:04:05.678Z' };
    equal(await move(store, KEY, 'active', { ...deprecated, ...dates, stateChanges }), true);
    deepEqual(await all(store), [{ ...version({}), ...deprecated, ...dates, stateChanges }]);
    equal(await move(store, KEY, 'deprecated', { state: 'active' }), true);
    deepEqual(await all(store), [version({})]);
  });

  check('REG-04 a version moves only from the state that is expected, and only when it is there', async (store) => {
    await store.insert(version({}));
    equal(await move(store, KEY, 'deprecated', { state: 'sunset' }), false);
    for (const other of [{ version: '9.9.9' }, { toolId: 'other' }, { tenantId: 'globex' }]) {
      equal(await move(store, { ...KEY, ...other }, 'active', { state: 'removed' }), false);
    }
    deepEqual(await all(store), [version({})]);
  });

  check('REG-04 of several that move a version at the same time exactly one does', async (store) => {
    await store.insert(version({}));
    const moves = Array.from({ length: 8 }, () => move(store, KEY, 'active', { state: 'deprecated' }));
    equal((await Promise.all(moves)).filter(Boolean).length, 1);
  });

  check('REG-04 many versions move at once, each answered in its place', async (store) => {
    const tools = Array.from({ length: 1100 }, (_, at) => version({ tool_id: `tool-${at}` }));
    await store.insertAll(tools);
    const moves = tools.map(({ manifest: { tool_id } }, at): StateMove => {
      const expected = at % 2 === 0 ? 'active' : 'sunset';
      return { key: { ...KEY, toolId: tool_id }, expected, lifecycle: { state: 'removed', removableAt: AT } };
    });
    deepEqual(await store.changeStates([]), []);
    deepEqual(
      await store.changeStates(moves),
      moves.map((_, at) => at % 2 === 0),
    );
    const left = (await all(store)).filter(({ state, removableAt }) => state === 'removed' && removableAt === AT);
    equal(left.length, 550);
  });

  check('writers that move the same versions in opposite order do not wait for one another', async (store) => {
    const tools = Array.from({ length: 50 }, (_, at) => version({ tool_id: `tool-${at}` }));
    await store.insertAll(tools);
    const moves = tools.map(
      ({ manifest: { tool_id } }): StateMove => ({
        key: { ...KEY, toolId: tool_id },
        expected: 'active',
        lifecycle: { state: 'deprecated' },
      }),
    );
    const writers = Array.from({ length: 8 }, (_, at) => store.changeStates(at % 2 === 0 ? moves : moves.toReversed()));
    equal((await Promise.all(writers)).flat().filter(Boolean).length, tools.length);
  });

  check('AUD-01 what was written and not yet marked as recorded is reported, to every later asker', async (store) => {
    const later = (): number => Date.now() + 60_000;
    const ids = async (before: number): Promise<string[]> =>
      (await store.unrecorded(before)).map(({ manifest }) => manifest.version).sort();
    await store.insertAll([version({}), version({ version: '1.1.0' })]);
    deepEqual(await ids(later()), ['1.0.0', '1.1.0']);
    deepEqual(await ids(Date.now() - 60_000), []);
    const { revision } = await store.changedSince(0);
    await store.markRecorded([KEY, { ...KEY, version: '9.9.9' }]);
    deepEqual(await ids(later()), ['1.1.0']);
    deepEqual((await store.changedSince(revision)).versions, []);
    await store.insert(version({}));
    await move(store, KEY, 'sunset', { state: 'removed' });
    deepEqual(await ids(later()), ['1.1.0']);
    await move(store, KEY, 'active', { state: 'deprecated' });
    const found = await store.unrecorded(later());
    deepEqual(found.map(({ state }) => state).sort(), ['active', 'deprecated']);
    await store.markRecorded([KEY, { ...KEY, version: '1.1.0' }]);
    deepEqual(await store.unrecorded(later()), []);
    await store.markRecorded([]);
  });

  check('AUD-01 PRM-10 marks and uses are those of one version of one tool of one tenant', async (store) => {
    const others = [
      version({ version: '1.1.0' }),
      version({ version: '0.9.0' }),
      version({ tool_id: 'other' }),
      version({}, 'globex'),
    ];
    for (const each of [...others, version({})]) await store.insert(each);
    await store.markRecorded([KEY]);
    deepEqual(await store.unrecorded(Date.now() + 60_000), others);
    await store.noteUses([{ ...KEY, lastUsedAt: AT }]);
    const uses = [new Map([['1.0.0', AT]]), new Map(), new Map()];
    const places = [KEY, { ...KEY, toolId: 'other' }, { ...KEY, tenantId: 'globex' }];
    for (const [at, { tenantId, toolId }] of places.entries())
      deepEqual(await store.lastUses(tenantId, toolId), uses[at]);
    await store.noteUses([{ ...KEY, toolId: 'other', lastUsedAt: '2026-02-01T00:00:00.000Z' }]);
    deepEqual(await store.lastUses('acme', 'weather'), uses[0]);
  });

  check('what changed since a revision is what was added or moved after it', async (store) => {
    await store.insert(version({}));
    const first = await store.changedSince(0);
    equal(first.versions.length, 1);
    deepEqual(await store.changedSince(first.revision), { versions: [], revision: first.revision });
    await store.insertAll([version({}), version({ version: '1.1.0' }), version({ version: '1.2.0' })]);
    const second = await store.changedSince(first.revision);
    deepEqual(second.versions.map(({ manifest }) => manifest.version).sort(), ['1.1.0', '1.2.0']);
    await move(store, KEY, 'active', { state: 'deprecated' });
    const third = await store.changedSince(second.revision);
    deepEqual(third.versions, [{ ...version({}), state: 'deprecated' }]);
    equal((await all(store)).length, 3);
  });

  check('whoever follows the revisions of many writers misses nothing', async (store) => {
    const seen = new Set<string>();
    let revision = 0;
    let writing = true;
    const follow = async (): Promise<void> => {
      for (let last = false; !last; ) {
        last = !writing;
        const changed = await store.changedSince(revision);
        revision = changed.revision;
        for (const { manifest } of changed.versions) seen.add(manifest.tool_id);
      }
    };
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let at = 0; at < 20; at += 1) await store.insert(version({ tool_id: `tool-${writer}-${at}` }));
    });
    const following = follow();
    await Promise.all(writers);
    writing = false;
    await following;
    equal(seen.size, 120);
  });

  check('when a version was last called is kept, never set back, and no change', async (store) => {
    await store.insert(version({}));
    const { revision } = await store.changedSince(0);
    deepEqual(await store.lastUses('acme', 'weather'), new Map());
    const later = '2026-02-01T00:00:00.000Z';
    await store.noteUses([{ ...KEY, lastUsedAt: later }]);
    await store.noteUses([
      { ...KEY, lastUsedAt: AT },
      { ...KEY, version: '9.9.9', lastUsedAt: AT },
      { ...KEY, tenantId: 'globex', lastUsedAt: AT },
    ]);
    await store.noteUses([]);
    deepEqual(await store.lastUses('acme', 'weather'), new Map([['1.0.0', later]]));
    deepEqual(await store.lastUses('globex', 'weather'), new Map());
    deepEqual((await store.changedSince(revision)).versions, []);
    deepEqual(await all(store), [{ ...version({}), lastUsedAt: later }]);
    await move(store, KEY, 'active', { state: 'deprecated' });
    deepEqual(await store.lastUses('acme', 'weather'), new Map([['1.0.0', later]]));
  });

  check('who registered a version is kept', async (store) => {
    await store.insert({ ...version({}), registeredBy: 'did:web:a' });
    deepEqual(await all(store), [{ ...version({}), registeredBy: 'did:web:a' }]);
  });

  check('hostile text comes back as it was, and no two tenants fall into one', async (store) => {
    const description = `nul \0, quote ' " \\, lone \ud800, ${'{"a":1}'}, 🙂`;
    const tenants = ['a\0', 'a\uFFFD', 'a\ud800', 'json:"a"', 'a', "'; drop table x; --"];
    for (const tenant of tenants) equal(await store.insert(version({ description }, tenant)), 'created');
    const loaded = await all(store);
    deepEqual(loaded.map(({ tenantId }) => tenantId).sort(), tenants.sort());
    for (const { manifest } of loaded) equal(manifest.description, description);
    equal(await move(store, { ...KEY, tenantId: 'a\0' }, 'active', { state: 'removed' }), true);
    equal((await all(store)).filter(({ state }) => state === 'removed').length, 1);
  });

  check('what was given and what was got are copies', async (store) => {
    const given = structuredClone(version({ tags: ['one'] }));
    await store.insert(given);
    given.manifest.tags?.push('two');
    (await all(store))[0]?.manifest.tags?.push('three');
    deepEqual((await all(store))[0]?.manifest.tags, ['one']);
  });
}

async function move(
  store: ToolStore,
  key: VersionKey,
  expected: DeprecationState,
  lifecycle: VersionLifecycle,
): Promise<boolean | undefined> {
  const [moved] = await store.changeStates([{ key, expected, lifecycle }]);
  return moved;
}

const KEY = { tenantId: 'acme', toolId: 'weather', version: '1.0.0' };
const AT = '2026-01-02T03:04:05.678Z';

const all = async (store: ToolStore): Promise<readonly ToolVersion[]> => (await store.changedSince(0)).versions;

function version(changes: Partial<ToolManifest>, tenantId = 'acme'): ToolVersion {
  const manifest: ToolManifest = {
    tool_id: 'weather',
    tool_name: 'Weather',
    version: '1.0.0',
    description: 'Tells the weather.',
    parameters_schema: { type: 'object', properties: { limit: { type: 'number', maximum: 1e21, minimum: -0.1 } } },
    executor: { kind: 'native' },
    ...changes,
  };
  return { tenantId, manifest, contentHash: contentHash(manifest), state: 'active', registeredAt: AT };
}

const sorted = (versions: readonly ToolVersion[]): ToolVersion[] =>
  [...versions].sort((one, other) => (one.manifest.version < other.manifest.version ? -1 : 1));
