import { expect, test } from 'vitest';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { compareManifests } from '../../compare-manifests.ts';

const BASE: ToolManifest = {
  tool_id: 'weather',
  tool_name: 'Weather',
  version: '1.0.0',
  description: 'Says how the weather is.',
  side_effect_policy: 'idempotent',
  parameters_schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  result_schema: { type: 'object', properties: { temperature: { type: 'number' } }, required: ['temperature'] },
  permissions: { network: [{ host: 'api.example.com', port: 443 }], filesystem: [{ path: '/srv/data', mode: 'ro' }] },
  execution_config: { default_timeout_seconds: 10 },
  executor: { kind: 'http', config: { url: 'https://api.example.com' } },
};
const change = (more: Partial<ToolManifest>) => compareManifests(BASE, { ...BASE, version: '1.1.0', ...more });
const kinds = (more: Partial<ToolManifest>): string[] =>
  change(more).changes.map(
    ({ severity, kind, path, needs_review }) => `${severity} ${kind} ${path}${needs_review === true ? ' !' : ''}`,
  );

test('the same manifest under another version has no changes', () => {
  expect(change({})).toEqual({
    changes: [],
    breaking: false,
    needsReview: false,
    step: 'minor',
    stepHonoured: true,
    complete: true,
  });
});

test('a break under a minor version is not honoured, under a major one it is', () => {
  const parameters_schema = { ...BASE.parameters_schema, required: ['city', 'unit'] };
  expect(change({ parameters_schema })).toMatchObject({ breaking: true, step: 'minor', stepHonoured: false });
  expect(change({ parameters_schema, version: '2.0.0' })).toMatchObject({
    breaking: true,
    step: 'major',
    stepHonoured: true,
  });
});

test.each([
  ['1.0.0', '1.0.1', 'patch', false],
  ['1.0.0', '1.0.1-rc.1', 'patch', false],
  ['1.0.0', '2.0.0-rc.1', 'major', true],
  ['2.0.0-rc.1', '2.0.0-rc.2', 'prerelease', true],
  ['2.0.0-rc.1', '2.0.0', 'major', true],
  ['0.3.1', '0.3.2', 'patch', false],
  ['0.3.1', '0.4.0', 'minor', true],
  ['0.0.3', '0.0.4', 'patch', true],
  ['1.1.0', '1.0.0', 'back', true],
  ['1.0.0', '1.0.0+b', 'none', false],
])('a break from %s to %s is a %s step, honoured: %s', (from, to, step, honoured) => {
  const other = { ...BASE, version: to, parameters_schema: { type: 'object', required: ['x'] } };
  expect(compareManifests({ ...BASE, version: from }, other)).toMatchObject({ step, stepHonoured: honoured });
});

test('what a tool asks for beyond before needs review; less does not', () => {
  expect(
    kinds({
      permissions: {
        network: [
          { host: 'API.example.com', port: 443 },
          { host: 'evil.example.com', port: 443 },
        ],
        filesystem: [
          { path: '/srv/data/sub', mode: 'ro' },
          { path: '/srv/data', mode: 'rw' },
        ],
        credentials: ['KEY'],
      },
    }),
  ).toEqual([
    'notable permission-added /permissions/network/1 !',
    'notable permission-added /permissions/credentials/0 !',
    'notable permission-added /permissions/filesystem/1 !',
  ]);
  expect(kinds({ permissions: {} })).toEqual([
    'compatible permission-removed /permissions/network/0',
    'compatible permission-removed /permissions/filesystem/0',
  ]);
});

test('side effects that become graver break; milder ones need a look, for they are only claimed', () => {
  expect(kinds({ side_effect_policy: 'irreversible' })).toEqual(['breaking side-effects-graver /side_effect_policy !']);
  expect(kinds({ side_effect_policy: 'pure' })).toEqual(['notable side-effects-milder /side_effect_policy !']);
  const { side_effect_policy: _, ...silent } = BASE;
  expect(compareManifests(BASE, silent).changes[0]).toMatchObject({
    message: 'A call was idempotent and is now irreversible.',
  });
});

test('executor, limits, confirmations, promises and dependencies are compared', () => {
  expect(kinds({ executor: { kind: 'shell' } })).toEqual(['notable executor-changed /executor/kind !']);
  expect(kinds({ executor: { kind: 'http', config: {} } })).toEqual([
    'notable executor-config-changed /executor/config !',
  ]);
  expect(kinds({ execution_config: { default_timeout_seconds: 5 } })).toEqual([
    'notable limit-lowered /execution_config/default_timeout_seconds',
  ]);
  expect(kinds({ execution_config: { default_timeout_seconds: 20, rate_limit: { per_minute: 1, burst: 1 } } })).toEqual(
    [
      'notable rate_limit-changed /execution_config/rate_limit',
      'compatible limit-raised /execution_config/default_timeout_seconds',
    ],
  );
  expect(kinds({ requires_confirmation: true })).toEqual(['notable confirmation-added /requires_confirmation']);
  const asking = { ...BASE, requires_confirmation: true };
  expect(compareManifests(asking, BASE).changes).toMatchObject([{ kind: 'confirmation-removed', needs_review: true }]);
  expect(kinds({ idempotent: true })).toEqual(['compatible idempotent-promised /idempotent']);
  expect(compareManifests({ ...BASE, idempotent: true }, BASE).breaking).toBe(true);
  expect(kinds({ requires: ['login'] })).toEqual(['breaking requirement-added /requires']);
  expect(kinds({ description: 'Else.', tags: ['x'] })).toEqual([
    'notable description-changed /description',
    'compatible tags-changed /tags',
  ]);
  expect(kinds({ tool_id: 'other' })).toEqual(['breaking tool-id-changed /tool_id']);
});

test('results are read, not sent: what is promised may only grow', () => {
  const { result_schema: _, ...silent } = BASE;
  expect(compareManifests(BASE, silent).breaking).toBe(true);
  expect(compareManifests(silent, BASE).breaking).toBe(false);
  const result_schema = {
    type: 'object',
    properties: { temperature: { type: ['number', 'null'] } },
    required: ['temperature'],
  };
  expect(kinds({ result_schema })).toEqual(['breaking type-widened /result_schema/properties/temperature']);
});

test('breaking changes come first', () => {
  const { changes } = change({
    tags: ['x'],
    description: 'Else.',
    parameters_schema: { type: 'object', required: ['a'] },
  });
  const ranks = changes.map(({ severity }) => ['breaking', 'notable', 'compatible'].indexOf(severity));
  expect(ranks).toEqual(ranks.toSorted());
  expect(changes[0]?.severity).toBe('breaking');
});
