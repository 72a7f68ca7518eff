import { expect, test } from 'vitest';
import { memoryToolStore } from '../../../../test/stores/memory-tool-store.ts';
import type { Registry, RegistryParts } from '../../registry.ts';
import { clockAtNoon, manifest, registryOver, withVersions } from '../registry.fixture.ts';
import { DAY_MS } from './retention.ts';

const FIVE = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0'];

async function opened(versions: readonly string[], retention: Partial<RegistryParts['retention']> = {}) {
  const clock = clockAtNoon();
  const store = memoryToolStore();
  const registry = registryOver(store, { clock, retention });
  return { clock, store, registry: await withVersions(registry, ...versions) };
}

async function states(registry: Registry): Promise<string> {
  const history = await registry.history('acme', 'weather');
  return history.map(({ version }) => `${version.manifest.version} ${version.state}`).join(', ');
}

const versionOf = (registry: Registry, version: string) => {
  const found = registry.versions('acme', 'weather').find((one) => one.manifest.version === version);
  if (found === undefined) throw new Error(`${version} is not there`);
  return found;
};

test('REG-04.7 the sixth version makes the oldest leave, with a warning in the registration', async () => {
  const { registry } = await opened(FIVE);
  expect(await states(registry)).not.toContain('deprecated');
  const { warnings, retired } = await registry.register('acme', manifest('1.5.0'));
  expect(retired.map(({ manifest: { version }, state }) => `${version} ${state}`)).toEqual(['1.0.0 deprecated']);
  expect(retired[0]).toMatchObject({
    deprecatedInFavorOf: '1.5.0',
    stateChanges: [{ reason: 'More than 5 versions' }],
  });
  expect(warnings).toContainEqual(
    expect.objectContaining({ code: 'version_retired', details: expect.objectContaining({ version: '1.0.0' }) }),
  );
  expect(registry.find('acme', 'weather', '1.0.0')).toMatchObject({ warnings: [{ code: 'E3003' }, {}] });
});

test('REG-04.8 a version in use stays and the next oldest leaves', async () => {
  const { registry } = await opened(FIVE);
  registry.noteUse(versionOf(registry, '1.0.0'));
  const { retired } = await registry.register('acme', manifest('1.5.0'));
  expect(retired.map(({ manifest: { version } }) => version)).toEqual(['1.1.0']);
});

test('REG-04.8 in use means called within the window, to the day', async () => {
  for (const [days, leaves] of [
    [30, '1.0.0'],
    [29.999, '1.1.0'],
  ] as const) {
    const { registry, clock } = await opened(FIVE);
    registry.noteUse(versionOf(registry, '1.0.0'));
    clock.past = days * DAY_MS;
    const { retired } = await registry.register('acme', manifest('1.5.0'));
    expect(retired[0]?.manifest.version).toBe(leaves);
  }
});

test('REG-04.8 a use that another instance noted counts too', async () => {
  const { registry, store, clock } = await opened(FIVE);
  const other = registryOver(store, { clock });
  await other.load();
  other.noteUse(versionOf(other, '1.0.0'));
  await other.follow(60_000)[Symbol.asyncDispose]();
  const { retired } = await registry.register('acme', manifest('1.5.0'));
  expect(retired.map(({ manifest: { version } }) => version)).toEqual(['1.1.0']);
});

test('REG-04 a use that was noted counts after the version moved', async () => {
  const { registry } = await opened(FIVE);
  registry.noteUse(versionOf(registry, '1.0.0'));
  await registry.move({ tenantId: 'acme', toolId: 'weather', version: '1.0.0', to: 'deprecated' });
  expect((await registry.history('acme', 'weather')).at(-1)).toMatchObject({
    inUse: true,
    lastUsedAt: '2026-01-01T12:00:00.000Z',
  });
});

test('REG-04 a version that another one names as its successor stays', async () => {
  const { registry } = await opened(FIVE);
  await registry.move({ tenantId: 'acme', toolId: 'weather', version: '1.2.0', to: 'deprecated', inFavorOf: '1.0.0' });
  const { retired } = await registry.register('acme', manifest('1.5.0'));
  // 1.0.0 is a successor.
  expect(retired.map(({ manifest: { version } }) => version)).toEqual(['1.1.0']);
});

test('REG-04 the newest and the one that was just registered stay, whatever the bound', async () => {
  const { registry } = await opened(['2.0.0'], { versionsPerToolMax: 1 });
  const { retired } = await registry.register('acme', manifest('1.0.0'));
  expect(retired).toEqual([]);
  expect(await states(registry)).toBe('2.0.0 active, 1.0.0 active');
  await registry.register('acme', manifest('3.0.0'));
  expect(await states(registry)).toBe('3.0.0 active, 2.0.0 deprecated, 1.0.0 deprecated');
});

test('REG-04.8 when all are in use nothing leaves', async () => {
  const { registry } = await opened(FIVE);
  for (const version of FIVE) registry.noteUse(versionOf(registry, version));
  expect((await registry.register('acme', manifest('1.5.0'))).retired).toEqual([]);
});

test('REG-04 a retired version is removed by a later registration, after its days of warning', async () => {
  const { registry, clock } = await opened([...FIVE, '1.5.0']);
  clock.past = 90 * DAY_MS - 1;
  expect((await registry.register('acme', manifest('1.6.0'))).retired.map(({ state }) => state)).toEqual([
    'deprecated',
  ]);
  clock.past = 90 * DAY_MS;
  const { retired, warnings } = await registry.register('acme', manifest('1.7.0'));
  expect(retired.map(({ manifest: { version }, state }) => `${version} ${state}`)).toEqual([
    '1.0.0 removed',
    '1.2.0 deprecated',
  ]);
  expect(warnings.filter(({ code }) => code === 'version_retired')).toHaveLength(2);
});

test('a note that cannot be written is kept for the next time', async () => {
  const { registry, store, clock } = await opened(['1.0.0']);
  let broken = true;
  const flaky = registryOver(
    { ...store, noteUses: (uses) => (broken ? Promise.reject(new Error('down')) : store.noteUses(uses)) },
    { clock },
  );
  await flaky.load();
  flaky.noteUse(versionOf(flaky, '1.0.0'));
  await flaky.follow(60_000)[Symbol.asyncDispose]();
  expect(await store.lastUses('acme', 'weather')).toEqual(new Map());
  broken = false;
  await flaky.follow(60_000)[Symbol.asyncDispose]();
  expect((await registry.history('acme', 'weather'))[0]?.lastUsedAt).toBe('2026-01-01T12:00:00.000Z');
});
