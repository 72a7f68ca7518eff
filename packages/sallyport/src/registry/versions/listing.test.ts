import { describe, expect, test } from 'vitest';
import { memoryToolStore } from '../../../test/stores/memory-tool-store.ts';
import { silentLog } from '../../telemetry/log.ts';
import { chosen, manifest, registryOver, withVersions } from './registry.fixture.ts';

const open = (store = memoryToolStore(), log = silentLog): Registry => registryOver(store, { log });

import type { Registry, RegistryChange, VersionMove } from '../registry.ts';

const WEATHER = { tenantId: 'acme', toolId: 'weather' } as const;

describe('removing', () => {
  test('a removed version is refused, and the next one is chosen', async () => {
    const registry = await withVersions(open(), '1.0.0', '1.1.0');
    await registry.move({ ...WEATHER, version: '1.1.0', to: 'removed', force: true });
    expect(chosen(registry)).toBe('1.0.0');
    expect(chosen(registry, '1.1.0')).toBe('E3004');
    await registry.removeAll('acme', ['weather']);
    expect(chosen(registry)).toBe('E3004');
    expect(registry.list('acme', {}, { page: 1, pageSize: 50 })).toEqual({ tools: [], total: 0 });
  });

  test('unknown things are not removed', async () => {
    const registry = await withVersions(open(), '1.0.0');
    const remove = (more: Partial<VersionMove>) => registry.move({ ...WEATHER, to: 'removed', force: true, ...more });
    await expect(remove({ toolId: 'wheather' })).rejects.toMatchObject({ code: 'E3001' });
    await expect(remove({ version: '9.0.0' })).rejects.toMatchObject({ code: 'E3002' });
    await expect(remove({ tenantId: 'globex' })).rejects.toMatchObject({ code: 'E3001' });
    expect(chosen(registry)).toBe('1.0.0');
  });

  test('many tools leave at once with all their versions, and what is not there is passed over', async () => {
    const registry = await withVersions(open(), '1.0.0', '1.1.0');
    await registry.register('acme', manifest('1.0.0', { tool_id: 'other' }));
    await registry.register('acme', manifest('1.0.0', { tool_id: 'stays' }));
    const left = await registry.removeAll('acme', ['weather', 'other', 'nowhere']);
    expect(left.map(({ manifest: { tool_id, version }, state }) => [tool_id, version, state])).toEqual([
      ['weather', '1.1.0', 'removed'],
      ['weather', '1.0.0', 'removed'],
      ['other', '1.0.0', 'removed'],
    ]);
    expect(registry.list('acme', {}, { page: 1, pageSize: 50 }).tools.map(({ tool_id }) => tool_id)).toEqual(['stays']);
    expect(await registry.removeAll('acme', ['weather'])).toEqual([]);
  });

  test('the same content brings a removed version back, also after a restart', async () => {
    const store = memoryToolStore();
    const registry = open(store);
    await registry.register('acme', manifest('1.0.0'));
    await registry.removeAll('acme', ['weather']);
    expect((await registry.register('acme', manifest('1.0.0'))).outcome).toBe('created');
    expect(chosen(registry)).toBe('1.0.0');
    const later = open(store);
    await later.load();
    expect(chosen(later)).toBe('1.0.0');
  });
});

describe('listing', () => {
  async function filled(): Promise<Registry> {
    const registry = open();
    await registry.registerAll('acme', [
      manifest('2.0.0', {
        tool_id: 'b_mail',
        description: 'Sends Mail',
        tags: ['mail', 'out'],
        category: 'external_api',
      }),
      manifest('1.0.0', { tool_id: 'b_mail', description: 'old' }),
      manifest('1.0.0', { tool_id: 'a_sum', description: 'Adds numbers', category: 'computation' }),
      manifest('1.0.0', {
        tool_id: 'c_read',
        description: 'Reads mail',
        tags: ['mail'],
        execution_config: { requires_approval: true },
      }),
    ]);
    return registry;
  }
  const ids = (registry: Registry, filter: Parameters<Registry['list']>[1], page = 1, pageSize = 50): string[] =>
    registry.list('acme', filter, { page, pageSize }).tools.map(({ tool_id }) => tool_id);

  test('tools come in the order of their ids, page by page', async () => {
    const registry = await filled();
    expect(ids(registry, {}, 1, 2)).toEqual(['a_sum', 'b_mail']);
    expect(ids(registry, {}, 2, 2)).toEqual(['c_read']);
    expect(ids(registry, {}, 3, 2)).toEqual([]);
    expect(registry.list('acme', {}, { page: 9, pageSize: 2 }).total).toBe(3);
    expect(registry.list('globex', {}, { page: 1, pageSize: 2 })).toEqual({ tools: [], total: 0 });
    expect(registry.manifests('acme').map(({ manifest: { tool_id, version } }) => `${tool_id} ${version}`)).toEqual([
      'a_sum 1.0.0',
      'b_mail 2.0.0',
      'c_read 1.0.0',
    ]);
  });

  test('filters narrow the list, each by its own member', async () => {
    const registry = await filled();
    expect(ids(registry, { category: 'computation' })).toEqual(['a_sum']);
    expect(ids(registry, { tags: ['mail'] })).toEqual(['b_mail', 'c_read']);
    expect(ids(registry, { tags: ['mail', 'out'] })).toEqual(['b_mail']);
    expect(ids(registry, { executor: 'http' })).toEqual([]);
    expect(ids(registry, { capability_query: ' MAIL  reads ' })).toEqual(['c_read']);
    expect(ids(registry, { capability_query: '' })).toHaveLength(3);
    expect(ids(registry, { visible: ({ manifest: { tool_id } }) => tool_id !== 'b_mail' })).toEqual([
      'a_sum',
      'c_read',
    ]);
  });

  test('a summary shows the newest version and names the others', async () => {
    const registry = await filled();
    const { tools } = registry.list('acme', { tags: ['out'] }, { page: 1, pageSize: 1 });
    expect(tools).toEqual([
      {
        tool_id: 'b_mail',
        tool_name: 'Weather',
        description: 'Sends Mail',
        category: 'external_api',
        versions: ['2.0.0', '1.0.0'],
        latest_version: '2.0.0',
        tags: ['mail', 'out'],
        requires_approval: false,
        executor: 'native',
        state: 'active',
      },
    ]);
    expect(
      registry.list('acme', { capability_query: 'c_read' }, { page: 1, pageSize: 1 }).tools[0]?.requires_approval,
    ).toBe(true);
    expect(registry.versions('acme', 'b_mail').map(({ manifest: { version } }) => version)).toEqual(['2.0.0', '1.0.0']);
    expect(registry.versions('acme', 'nothing')).toEqual([]);
  });
});

describe('telling of changes', () => {
  test('each change is told once, until the handle is disposed', async () => {
    const registry = open();
    const told: RegistryChange[] = [];
    const handle = registry.onChanged((change) => told.push(change));
    await registry.registerAll('acme', [manifest('1.0.0'), manifest('1.1.0'), manifest('1.0.0', { tool_id: 'other' })]);
    await registry.register('acme', manifest('1.0.0'));
    await registry.move({ ...WEATHER, version: '1.0.0', to: 'removed', force: true });
    await registry.removeAll('acme', ['nothing']);
    handle[Symbol.dispose]();
    await registry.register('acme', manifest('3.0.0'));
    expect(told).toEqual([
      { tenantId: 'acme', toolIds: ['weather', 'other'] },
      { tenantId: 'acme', toolIds: ['weather'] },
    ]);
  });

  test('a listener that throws stops neither the registration nor the others', async () => {
    const logged: string[] = [];
    const registry = open(memoryToolStore(), { ...silentLog, error: (event) => void logged.push(event) });
    const told: string[] = [];
    registry.onChanged(() => {
      throw new Error('listener');
    });
    registry.onChanged(({ tenantId }) => told.push(tenantId));
    expect((await registry.register('acme', manifest('1.0.0'))).outcome).toBe('created');
    expect(told).toEqual(['acme']);
    expect(logged).toEqual(['registry-listener-failed']);
  });
});
