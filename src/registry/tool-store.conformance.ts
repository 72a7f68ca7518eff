import { deepEqual, equal } from 'node:assert/strict';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import { contentHash, type ToolVersion } from '../domain/tool/tool-version.ts';
import type { ToolStore } from './tool-store.port.ts';

/** What every ToolStore does. `open` gives an empty store each time. */
export function toolStoreConformance(
  test: (name: string, run: () => Promise<void>) => void,
  adapter: string,
  open: () => Promise<{ readonly store: ToolStore; close(): Promise<void> }>,
): void {
  const check = (name: string, run: (store: ToolStore) => Promise<void>): void =>
    test(`${name} (${adapter})`, async () => {
      const { store, close } = await open();
      try {
        await run(store);
      } finally {
        await close();
      }
    });

  check('an empty store holds no versions', async (store) => {
    deepEqual(await store.loadAll(), []);
  });

  check('REG-03 several versions of a tool are kept side by side, whole', async (store) => {
    const versions = [version({ version: '1.0.0' }), version({ version: '2.0.0-rc.1' }), version({ version: '2.0.0' })];
    for (const added of versions) equal(await store.insert(added), 'created');
    deepEqual(sorted(await store.loadAll()), sorted(versions));
  });

  check('REG-03 the same content again is a no-op', async (store) => {
    const first = version({});
    equal(await store.insert(first), 'created');
    equal(await store.insert({ ...first, registeredAt: '2027-01-01T00:00:00.000Z' }), 'unchanged');
    deepEqual(await store.loadAll(), [first]);
  });

  check('REG-03 another content under the same id and version is a conflict and changes nothing', async (store) => {
    const first = version({ description: 'one' });
    await store.insert(first);
    equal(await store.insert(version({ description: 'other' })), 'conflict');
    deepEqual(await store.loadAll(), [first]);
  });

  check('a tenant has its own tools', async (store) => {
    equal(await store.insert(version({ description: 'one' }, 'acme')), 'created');
    equal(await store.insert(version({ description: 'other' }, 'globex')), 'created');
    equal(await store.setState('globex', 'weather', '1.0.0', 'removed'), true);
    const states = (await store.loadAll()).map(({ tenantId, state }) => `${tenantId} ${state}`);
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
    equal((await store.loadAll()).length, 3);
    deepEqual(await store.insertAll([]), []);
  });

  check('a thousand at once are all kept', async (store) => {
    const versions = Array.from({ length: 1000 }, (_, at) => version({ tool_id: `tool-${at}` }));
    const outcomes = await store.insertAll([...versions, versions[0] ?? version({})]);
    equal(outcomes.filter((outcome) => outcome === 'created').length, 1000);
    equal(outcomes.at(-1), 'unchanged');
    equal((await store.loadAll()).length, 1000);
  });

  check('of writers at the same time exactly one creates', async (store) => {
    const tools = Array.from({ length: 20 }, (_, at) => version({ tool_id: `tool-${at}` }));
    const writers = Array.from({ length: 8 }, (_, at) => store.insertAll(at % 2 === 0 ? tools : tools.toReversed()));
    const outcomes = (await Promise.all(writers)).flat();
    equal(outcomes.filter((outcome) => outcome === 'created').length, tools.length);
    equal(outcomes.filter((outcome) => outcome === 'unchanged').length, 7 * tools.length);
  });

  check('a version moves in its deprecation lifecycle and keeps its successor', async (store) => {
    await store.insert(version({}));
    equal(await store.setState('acme', 'weather', '1.0.0', 'deprecated', '2.0.0'), true);
    equal(await store.setState('acme', 'weather', '1.0.0', 'sunset'), true);
    deepEqual(await store.loadAll(), [{ ...version({}), state: 'sunset', deprecatedInFavorOf: '2.0.0' }]);
  });

  check('the state of a version that does not exist cannot be set', async (store) => {
    await store.insert(version({}));
    equal(await store.setState('acme', 'weather', '9.9.9', 'removed'), false);
    equal(await store.setState('acme', 'other', '1.0.0', 'removed'), false);
    equal(await store.setState('globex', 'weather', '1.0.0', 'removed'), false);
  });

  check('hostile text comes back as it was, and no two tenants fall into one', async (store) => {
    const description = `nul \0, quote ' " \\, lone \ud800, ${'{"a":1}'}, 🙂`;
    const tenants = ['a\0', 'a\uFFFD', 'a\ud800', 'json:"a"', 'a', "'; drop table x; --"];
    for (const tenant of tenants) equal(await store.insert(version({ description }, tenant)), 'created');
    const loaded = await store.loadAll();
    deepEqual(loaded.map(({ tenantId }) => tenantId).sort(), tenants.sort());
    for (const { manifest } of loaded) equal(manifest.description, description);
    equal(await store.setState('a\0', 'weather', '1.0.0', 'removed'), true);
    equal((await store.loadAll()).filter(({ state }) => state === 'removed').length, 1);
  });

  check('what was given and what was got are copies', async (store) => {
    const given = structuredClone(version({ tags: ['one'] }));
    await store.insert(given);
    given.manifest.tags?.push('two');
    (await store.loadAll())[0]?.manifest.tags?.push('three');
    deepEqual((await store.loadAll())[0]?.manifest.tags, ['one']);
  });
}

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
  const registeredAt = '2026-01-02T03:04:05.678Z';
  return { tenantId, manifest, contentHash: contentHash(manifest), state: 'active', registeredAt };
}

const sorted = (versions: readonly ToolVersion[]): ToolVersion[] =>
  [...versions].sort((one, other) => (one.manifest.version < other.manifest.version ? -1 : 1));
