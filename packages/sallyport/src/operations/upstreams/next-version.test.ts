import { expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { changeLevel, nextVersion, patchAfter, sameButVersion, sameDefinition } from './next-version.ts';

const manifest = (version: string, more: Partial<ToolManifest> = {}): ToolManifest => ({
  ...{ tool_id: 'up__a', tool_name: 'a', version, description: 'Does a.' },
  parameters_schema: { type: 'object', properties: { x: { type: 'string' } } },
  executor: { kind: 'mcp', config: { upstream: 'up', tool: 'a' } },
  ...more,
});
const live = (...versions: string[]): ToolVersion[] =>
  versions.map((version) => ({
    ...{ tenantId: 'acme', contentHash: version, state: 'active', registeredAt: '' },
    manifest: manifest(version),
  }));

test.each([
  ['1.0.0', [], 'patch', '1.0.0', undefined],
  ['2.0.0', ['1.9.9', '1.0.0'], 'patch', '2.0.0', undefined],
  ['1.0.0', ['1.0.0'], 'patch', '1.0.1', '1.0.0'],
  ['1.0.0', ['1.4.2'], 'minor', '1.5.0', '1.0.0'],
  ['1.0.0', ['1.4.2'], 'major', '2.0.0', '1.0.0'],
  ['2.0.0-rc.1', ['2.0.0'], 'patch', '2.0.1', '2.0.0-rc.1'],
  ['1.0.0', ['2.0.0-rc.1'], 'patch', '2.0.0', '1.0.0'],
] as const)('%s after %j, a %s change, becomes %s', (served, before, level, expected, kept) => {
  const next = nextVersion(manifest(served), live(...before), level);
  expect(next.version).toBe(expected);
  expect(next.executor.config?.['server_version']).toBe(kept);
  expect(sameButVersion(next, manifest(served))).toBe(true);
});

test('a number that was used up is passed over, and the version of the server stays known', () => {
  const next = patchAfter(patchAfter(manifest('1.0.0')));
  expect(next.version).toBe('1.0.2');
  expect(next.executor.config?.['server_version']).toBe('1.0.0');
});

const parameters = (properties: object, more: object = {}): Partial<ToolManifest> => ({
  parameters_schema: { type: 'object', properties, ...more },
});
test.each([
  [{ description: 'Other words.' }, 'patch'],
  [parameters({ x: { type: 'string' }, y: {} }), 'minor'],
  [parameters({ x: { type: 'number' } }), 'major'],
  [parameters({}), 'minor'],
  [parameters({ x: { type: 'string' } }, { required: ['x'] }), 'major'],
  [parameters({ x: { type: 'string' } }, { additionalProperties: false }), 'major'],
  [{ result_schema: { type: 'object' } }, 'minor'],
  [{ side_effect_policy: 'pure' }, 'patch'],
] as const)('%j is a %s change', (more, level) => {
  expect(changeLevel(manifest('1.0.0'), manifest('1.0.0', more))).toBe(level);
});

test('what an operator says beside a definition is no part of it', () => {
  const stated = manifest('1.0.0', { side_effect_policy: 'pure', tags: ['ours'] });
  expect(sameDefinition(manifest('3.0.0'), stated)).toBe(true);
  expect(sameButVersion(manifest('3.0.0'), stated)).toBe(false);
  expect(sameDefinition(manifest('1.0.0'), manifest('1.0.0', { description: 'x' }))).toBe(false);
});
