import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { memoryToolStore } from '../../../../test/stores/memory-tool-store.ts';
import type { Registry } from '../../registry.ts';
import { chosen, clockAtNoon, manifest, registryOver, withVersions } from '../registry.fixture.ts';
import { DAY_MS } from './retention.ts';

const ACME = { tenantId: 'acme', toolId: 'weather' } as const;
const BY = 'did:web:operator';

const stateOf = async (registry: Registry, version: string): Promise<string | undefined> =>
  (await registry.history('acme', 'weather')).find((entry) => entry.version.manifest.version === version)?.version
    .state;

async function opened(...versions: string[]) {
  const clock = clockAtNoon();
  const store = memoryToolStore();
  return { clock, store, registry: await withVersions(registryOver(store, { clock }), ...versions) };
}

test('REG-04.2 REG-04.4 a deprecated version works with a warning that says what to use and how to move', async () => {
  const { registry } = await opened('1.0.0', '2.0.0');
  const [moved] = await registry.move({
    ...ACME,
    ...{ version: '1.0.0', to: 'deprecated', by: BY, reason: 'Slow' },
    ...{ inFavorOf: '2.0.0', migrationGuide: 'Rename city to place.' },
  });
  expect(moved).toMatchObject({ state: 'deprecated', deprecatedAt: '2026-01-01T12:00:00.000Z' });
  expect(registry.find('acme', 'weather', '1.0.0')).toMatchObject({
    tool: { state: 'deprecated' },
    warnings: [
      {
        code: 'E3003',
        message: 'weather 1.0.0 is deprecated. Use 2.0.0 instead.',
        details: {
          state: 'deprecated',
          removable_at: '2026-04-01T12:00:00.000Z',
          deprecated_in_favor_of: '2.0.0',
          migration_guide: 'Rename city to place.',
          reason: 'Slow',
        },
      },
      { code: 'newer_version_excluded' },
    ],
  });
  const found = registry.find('acme', 'weather');
  expect(isFailure(found) ? found : found.warnings).toEqual([]);
});

test('REG-04.3 REG-04.4 a sunset version works with a warning, and the guide of the manifest counts where none was given', async () => {
  const { registry } = await opened();
  await registry.register('acme', manifest('1.0.0', { migration_guide: 'Ask for place.' }));
  await registry.move({ ...ACME, to: 'deprecated' });
  await registry.move({ ...ACME, to: 'sunset' });
  expect(registry.find('acme', 'weather')).toMatchObject({
    warnings: [{ code: 'E3003', details: { state: 'sunset', migration_guide: 'Ask for place.' } }],
  });
});

test('REG-04.6 REG-04.5 a version is removed when its days of warning are over, and not a moment before', async () => {
  const { registry, clock } = await opened('1.0.0', '1.1.0');
  const remove = { ...ACME, version: '1.0.0', to: 'removed' } as const;
  await expect(registry.move(remove)).rejects.toMatchObject({
    code: 'E3814',
    message: expect.stringMatching(/active.*90 days/),
  });
  await registry.move({ ...ACME, version: '1.0.0', to: 'deprecated', inFavorOf: '1.1.0' });
  clock.past = 90 * DAY_MS - 1;
  await expect(registry.move(remove)).rejects.toMatchObject({
    code: 'E3814',
    message: expect.stringContaining('from 2026-04-01T12'),
  });
  expect(chosen(registry, '1.0.0')).toBe('1.0.0');
  clock.past = 90 * DAY_MS;
  const [removed] = await registry.move(remove);
  expect(removed?.stateChanges?.map(({ state }) => state)).toEqual(['deprecated', 'sunset', 'removed']);
  expect(registry.find('acme', 'weather', '1.0.0')).toMatchObject({
    code: 'E3004',
    details: { deprecated_in_favor_of: '1.1.0' },
  });
  await expect(registry.move(remove)).rejects.toMatchObject({ code: 'E3814' });
});

test('REG-04 a successor that was removed itself is not named, and of several removed versions the newest is', async () => {
  const { registry } = await opened('1.0.0', '1.1.0', '2.0.0');
  await registry.move({ ...ACME, version: '1.0.0', to: 'deprecated', inFavorOf: '1.1.0' });
  await registry.move({ ...ACME, version: '1.1.0', to: 'removed', force: true });
  const warned = registry.find('acme', 'weather', '1.0.0');
  expect(isFailure(warned) ? warned : warned.warnings[0]?.message).toBe('weather 1.0.0 is deprecated.');
  expect(JSON.stringify(warned)).not.toContain('deprecated_in_favor_of');
  await registry.move({ ...ACME, version: '1.0.0', to: 'removed', force: true });
  expect(registry.find('acme', 'weather', '1.0.0')).toMatchObject({
    code: 'E3004',
    message: 'weather 1.0.0 was removed.',
    details: {},
  });
  expect(registry.find('acme', 'weather', '^1.0.0')).toMatchObject({ message: 'weather 1.1.0 was removed.' });
});

test('REG-04.1 force removes at once, through every state, and all of it is kept', async () => {
  const { registry, store } = await opened('1.0.0');
  await registry.move({ ...ACME, to: 'removed', force: true, by: BY, reason: 'Leaks' });
  expect(chosen(registry)).toBe('E3004');
  const [kept] = (await store.changedSince(0)).versions;
  const said = { at: '2026-01-01T12:00:00.000Z', by: BY, reason: 'Leaks' };
  expect(kept?.stateChanges).toEqual([
    { state: 'deprecated', ...said },
    { state: 'sunset', ...said },
    { state: 'removed', ...said },
  ]);
});

test.each([
  ['active', 'sunset'],
  ['active', 'active'],
  ['deprecated', 'deprecated'],
  ['sunset', 'sunset'],
  ['sunset', 'deprecated'],
  ['removed', 'deprecated'],
  ['removed', 'sunset'],
] as const)('REG-04.1 from %s to %s is refused, and nothing moves', async (from, to) => {
  const { registry } = await opened('1.0.0');
  if (from !== 'active') await registry.move({ ...ACME, to: 'deprecated' });
  if (from === 'sunset') await registry.move({ ...ACME, to: 'sunset' });
  if (from === 'removed') await registry.move({ ...ACME, to: 'removed', force: true });
  await expect(registry.move({ ...ACME, version: '1.0.0', to })).rejects.toMatchObject({ code: 'E3814' });
  expect(await stateOf(registry, '1.0.0')).toBe(from);
});

test.each(['deprecated', 'sunset', 'removed'] as const)(
  'REG-04 a %s version is restored without its past warnings',
  async (from) => {
    const { registry } = await opened('1.0.0', '2.0.0');
    await registry.move({ ...ACME, version: '1.0.0', to: 'deprecated', inFavorOf: '2.0.0' });
    if (from === 'sunset') await registry.move({ ...ACME, version: '1.0.0', to: 'sunset' });
    if (from === 'removed') await registry.move({ ...ACME, version: '1.0.0', to: 'removed', force: true });
    const [back] = await registry.move({ ...ACME, version: '1.0.0', to: 'active' });
    expect(back).toMatchObject({ state: 'active' });
    for (const gone of ['deprecatedAt', 'removableAt', 'deprecatedInFavorOf']) expect(back).not.toHaveProperty(gone);
    expect(back?.stateChanges?.at(-1)?.state).toBe('active');
    expect(chosen(registry, '1.0.0')).toBe('1.0.0');
  },
);

test('REG-04 without a version each that can go goes; when none can, it is said', async () => {
  const { registry } = await opened('1.0.0', '1.1.0', '2.0.0');
  await registry.move({ ...ACME, version: '1.0.0', to: 'deprecated' });
  const moved = await registry.move({ ...ACME, to: 'deprecated' });
  expect(moved.map(({ manifest: { version } }) => version)).toEqual(['2.0.0', '1.1.0']);
  await expect(registry.move({ ...ACME, to: 'deprecated' })).rejects.toMatchObject({ code: 'E3814' });
  await expect(registry.move({ ...ACME, to: 'removed' })).rejects.toMatchObject({ code: 'E3814' });
});

test('REG-04 what is not there is neither moved nor a successor', async () => {
  const { registry } = await opened('1.0.0');
  const to = 'deprecated';
  await expect(registry.move({ ...ACME, toolId: 'wheather', to })).rejects.toMatchObject({ code: 'E3001' });
  await expect(registry.move({ ...ACME, version: '9.0.0', to })).rejects.toMatchObject({ code: 'E3002' });
  await expect(registry.move({ ...ACME, tenantId: 'globex', to })).rejects.toMatchObject({ code: 'E3001' });
  await expect(registry.move({ ...ACME, to, inFavorOf: '9.0.0' })).rejects.toMatchObject({ code: 'E3002' });
  await expect(registry.move({ ...ACME, to, inFavorOf: 'forecast' })).rejects.toMatchObject({ code: 'E3001' });
  await expect(registry.move({ ...ACME, to, inFavorOf: '1.0.0' })).rejects.toMatchObject({ code: 'E3814' });
  await registry.register('acme', manifest('1.0.0', { tool_id: 'forecast' }));
  expect((await registry.move({ ...ACME, to, inFavorOf: 'forecast' }))[0]?.deprecatedInFavorOf).toBe('forecast');
});

test('a version that goes back and forth keeps its newest steps', async () => {
  const { registry } = await opened('1.0.0');
  for (let round = 0; round < 40; round += 1) {
    await registry.move({ ...ACME, version: '1.0.0', to: 'deprecated' });
    await registry.move({ ...ACME, version: '1.0.0', to: 'active' });
  }
  expect((await registry.history('acme', 'weather'))[0]?.version.stateChanges).toHaveLength(32);
});

test('the history shows every version, newest first, with who registered it and when', async () => {
  const { registry } = await opened('1.0.0');
  await registry.register('acme', manifest('1.10.0'), BY);
  await registry.move({ ...ACME, version: '1.0.0', to: 'removed', force: true });
  const history = await registry.history('acme', 'weather');
  expect(history.map(({ version }) => [version.manifest.version, version.state])).toEqual([
    ['1.10.0', 'active'],
    ['1.0.0', 'removed'],
  ]);
  expect(history[0]).toMatchObject({ inUse: false, version: { registeredBy: BY } });
  expect(await registry.history('acme', 'wheather')).toEqual([]);
});
