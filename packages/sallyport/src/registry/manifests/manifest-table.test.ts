import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ExecutionConfig, RetryPolicy, ToolManifest, ToolPermissions } from '../../../api/schemas/tool-manifest.ts';

test('REG-01 every member of a manifest is documented with its default', () => {
  const table = readFileSync(new URL('../../../../../docs/tools/registry.md', import.meta.url), 'utf8');
  const { permissions: _p, execution_config: _e, executor: _x, ...members } = ToolManifest.properties;
  const { retry_policy: _r, ...execution } = ExecutionConfig.properties;
  const names = [
    ...Object.keys(members),
    ...Object.keys(ToolPermissions.properties).map((name) => `permissions.${name}`),
    ...Object.keys(execution).map((name) => `execution_config.${name}`),
    ...Object.keys(RetryPolicy.properties).map((name) => `execution_config.retry_policy.${name}`),
    'executor.kind',
    'executor.config',
  ];
  const rows = [...table.matchAll(/^\| `([a-z_.]+)` \| (.+?) \| .+ \|$/gm)].map(([, name]) => name);
  const listed = rows.filter(
    (name) => name !== undefined && !['active', 'deprecated', 'sunset', 'removed'].includes(name),
  );
  expect(listed.toSorted()).toEqual(names.toSorted());
});
