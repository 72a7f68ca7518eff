import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../api/schemas/error.ts';
import { memoryToolStore } from '../../../test/stores/memory-tool-store.ts';
import { silentLog } from '../../telemetry/log.ts';
import { chosen, manifest, registryOver, withVersions } from './registry.fixture.ts';

const open = (store = memoryToolStore(), log = silentLog): Registry => registryOver(store, { log });

import type { Registry } from '../registry.ts';

const warnings = (registry: Registry, range?: string): string[] => {
  const found = registry.find('acme', 'weather', range);
  return isFailure(found) ? [] : found.warnings.map(({ code }) => code);
};

describe('finding a version', () => {
  test('REG-03.1 REG-03.2 REG-03.3 versions live side by side, and the highest compatible one wins', async () => {
    const registry = await withVersions(open(), '1.2.0', '2.0.0', '1.10.0', '1.9.3');
    expect(chosen(registry)).toBe('2.0.0');
    expect(chosen(registry, 'latest')).toBe('2.0.0');
    expect(chosen(registry, '^1.2.0')).toBe('1.10.0');
    expect(chosen(registry, '~1.9')).toBe('1.9.3');
    expect(chosen(registry, '1.2.0')).toBe('1.2.0');
    expect(chosen(registry, '>=1.2.0 <1.9.0 || >=3')).toBe('1.2.0');
  });

  test('REG-03.4 a pre-release is chosen only when asked for', async () => {
    const registry = await withVersions(open(), '1.0.0', '2.0.0-beta.2', '2.0.0-beta.10');
    expect(chosen(registry)).toBe('1.0.0');
    expect(chosen(registry, '>=1.0.0')).toBe('1.0.0');
    expect(chosen(registry, '>=2.0.0-beta.1')).toBe('2.0.0-beta.10');
    expect(chosen(registry, '2.0.0-beta.2')).toBe('2.0.0-beta.2');
    expect(chosen(await withVersions(open(), '1.0.0-rc.1'))).toBe('E3006');
  });

  test('REG-03.5 a range that excluded a newer release says so', async () => {
    const registry = await withVersions(open(), '1.0.0', '1.1.0', '2.0.0', '3.0.0-rc.1');
    expect(warnings(registry)).toEqual([]);
    expect(warnings(registry, '2.0.0')).toEqual([]);
    expect(warnings(registry, '^1.0.0')).toEqual(['newer_version_excluded']);
    expect(warnings(registry, '1.1.0')).toEqual(['newer_version_excluded']);
    expect(registry.find('acme', 'weather', '^1.0.0')).toMatchObject({ warnings: [{ details: { newest: '2.0.0' } }] });
  });

  test('REG-03.6 unknown tool, unknown version and an empty range have codes of their own', async () => {
    const registry = await withVersions(open(), '1.0.0');
    expect(registry.find('acme', 'wheather')).toMatchObject({ failed: true, code: 'E3001' });
    expect(registry.find('globex', 'weather')).toMatchObject({ code: 'E3001' });
    expect(chosen(registry, '1.0.1')).toBe('E3002');
    expect(chosen(registry, '^2.0.0')).toBe('E3006');
    expect(chosen(registry, 'newest please')).toBe('E3006');
    expect(chosen(registry, `^1${' '.repeat(200)}`)).toBe('E3006');
  });

  test('an answer given before changes with the versions', async () => {
    const registry = await withVersions(open(), '1.0.0');
    expect(chosen(registry, '^1.0.0')).toBe('1.0.0');
    const before = registry.find('acme', 'weather', '^1.0.0');
    expect(registry.find('acme', 'weather', '^1.0.0')).toBe(before);
    await registry.register('acme', manifest('1.1.0'));
    expect(chosen(registry, '^1.0.0')).toBe('1.1.0');
  });

  test('many different ranges are answered without being kept', async () => {
    const registry = await withVersions(open(), '1.0.0');
    for (let minor = 0; minor < 500; minor += 1) expect(chosen(registry, `>=0.${minor}.0`)).toBe('1.0.0');
  });
});

describe('registering', () => {
  test('REG-03.7 the same content again is a no-op, another content a conflict', async () => {
    const registry = open();
    const first = await registry.register('acme', manifest('1.0.0'));
    expect(first).toMatchObject({
      outcome: 'created',
      version: { state: 'active', registeredAt: '2026-01-01T12:00:00.000Z' },
    });
    const again = await registry.register('acme', manifest('1.0.0'));
    expect(again.outcome).toBe('unchanged');
    expect(again.version).toBe(first.version);
    await expect(registry.register('acme', manifest('1.0.0', { description: 'Else.' }))).rejects.toMatchObject({
      code: 'E3007',
    });
    expect((await registry.register('globex', manifest('1.0.0', { description: 'Else.' }))).outcome).toBe('created');
  });

  test('REG-08.1 every fault is told at once, with its place', async () => {
    const bad = { ...manifest('1.0'), tool_id: '-x', extra: 1, executor: { kind: 'magic' }, description: undefined };
    const refused = await open()
      .register('acme', bad)
      .catch((thrown) => thrown.failure);
    expect(refused.code).toBe('E3008');
    const places = (refused.details.faults as Fault[]).map(({ path }) => path).sort();
    expect(places).toEqual(['/description', '/executor/kind', '/extra', '/tool_id', '/version']);
  });

  test('schemas, permissions, ranges and the executor configuration are judged too', async () => {
    const bad = manifest('1.0.0', {
      parameters_schema: { minimum: 'bad' },
      result_schema: { minimum: 'bad' },
      compatibility_range: 'x.y',
      permissions: {
        filesystem: [
          { path: '/srv/../etc', mode: 'ro' },
          { path: '/srv/data', mode: 'rw' },
        ],
        network: [
          { host: '*.example.com', port: 443 },
          { host: '::1', port: 80 },
        ],
      },
      executor: { kind: 'native', config: { broken: true } },
    });
    const refused = await open()
      .register('acme', bad)
      .catch((thrown) => thrown.failure);
    expect((refused.details.faults as Fault[]).map(({ path }) => path).sort()).toEqual([
      '/compatibility_range',
      '/executor/config/broken',
      '/parameters_schema/minimum',
      '/parameters_schema/type',
      '/permissions/filesystem/0/path',
      '/permissions/network/0/host',
      '/result_schema/minimum',
    ]);
  });

  test('what is no JSON, too large, too deep or hides a prototype is refused', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const deep = JSON.parse(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`);
    const polluted = JSON.parse(JSON.stringify(manifest('1.0.0')).replace('{', '{"__proto__":{"polluted":true},'));
    for (const bad of [
      undefined,
      null,
      'text',
      [],
      circular,
      { ...manifest('1.0.0'), description: 1n },
      manifest('1.0.0', { parameters_schema: { type: 'object', not: deep } }),
      manifest('1.0.0', { parameters_schema: { type: 'object', $comment: 'x'.repeat(2 ** 20) } }),
      polluted,
    ]) {
      await expect(open().register('acme', bad)).rejects.toMatchObject({ code: 'E3008' });
    }
    expect({}).not.toHaveProperty('polluted');
  });

  test('a manifest cannot be changed from outside after it was registered', async () => {
    const registry = open();
    const given = manifest('1.0.0');
    await registry.register('acme', given);
    given['description'] = 'Send me your password.';
    expect(registry.find('acme', 'weather')).toMatchObject({
      tool: { manifest: { description: 'Says how the weather is.' } },
    });
  });

  test('one bad manifest of many stops none of the others', async () => {
    const registry = open();
    const answers = await registry.registerAll('acme', [
      manifest('1.0.0'),
      { tool_id: 'x' },
      manifest('1.0.0', { description: 'Else.' }),
      manifest('1.1.0'),
    ]);
    const outcomes = answers.map((answer) => (isFailure(answer) ? answer.code : answer.outcome));
    expect(outcomes).toEqual(['created', 'E3008', 'E3007', 'created']);
    expect(registry.manifests('acme')).toHaveLength(1);
    expect(registry.versions('acme', 'weather')).toHaveLength(2);
  });

  test('nothing shows in memory when the durable write fails', async () => {
    const store = memoryToolStore();
    const registry = open({ ...store, insert: () => Promise.reject(new Error('disk full')) });
    await expect(registry.register('acme', manifest('1.0.0'))).rejects.toThrow('disk full');
    expect(chosen(registry)).toBe('E3001');
  });

  test('a registry opened later on the same store has the same tools', async () => {
    const store = memoryToolStore();
    await open(store).registerAll('acme', [manifest('1.0.0'), manifest('2.0.0')]);
    const later = open(store);
    expect(chosen(later)).toBe('E3001');
    await later.load();
    expect(chosen(later)).toBe('2.0.0');
  });

  test('a row that cannot be read is left out and logged, the rest is there', async () => {
    const store = memoryToolStore();
    await open(store).registerAll('acme', [manifest('1.0.0')]);
    const kept = await store.changedSince(0);
    const versions = [...kept.versions, { tenantId: 'acme' } as never];
    const logged: string[] = [];
    const later = open(
      { ...store, changedSince: async () => ({ ...kept, versions }) },
      { ...silentLog, warn: (event) => void logged.push(event) },
    );
    await later.load();
    expect(chosen(later)).toBe('1.0.0');
    expect(logged).toEqual(['registry-row-unreadable']);
  });
});
