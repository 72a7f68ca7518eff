import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import { shownManifest, withDefaults } from './shown-tool.ts';
import { toolVersion } from './tools.fixture.ts';

const { manifest } = toolVersion('gmail__send', {
  parameters_schema: {
    type: 'object',
    properties: { to: { type: 'string', description: 'Whom.' }, from: { type: 'string' }, text: true },
    required: ['to', 'from'],
    additionalProperties: false,
  },
});

test('without a view and an activation the manifest is the very same', () => {
  expect(shownManifest(manifest, {})).toBe(manifest);
  expect(shownManifest(manifest, { name: 'gmail__send' })).toBe(manifest);
});

test('REG-13 name, description and default arguments are those of the view; the manifest itself stays as it is', () => {
  const before = structuredClone(manifest);
  const rule = {
    tool: 'send',
    description: 'Writes to support.',
    default_arguments: { to: 'support@example.com', text: '' },
  };
  const shown = shownManifest(manifest, { name: 'mail', rule });
  expect(shown).toMatchObject({ tool_id: 'mail', description: 'Writes to support.', version: '1.0.0' });
  expect(shown.parameters_schema).toEqual({
    type: 'object',
    properties: {
      to: { type: 'string', description: 'Whom.', default: 'support@example.com' },
      from: { type: 'string' },
      text: { default: '' },
    },
    required: ['from'],
    additionalProperties: false,
  });
  expect(manifest).toEqual(before);
  const fits = new Ajv2020({ strict: false }).compile(shown.parameters_schema);
  expect([fits({ from: 'me' }), fits({})]).toEqual([true, false]);
});

test.each([
  ['a member named __proto__', { type: 'object' }, JSON.parse('{"__proto__":1}')],
  ['no properties at all', {}, { a: 1 }],
  ['properties that are no object', { properties: [] }, { a: 1 }],
])('defaults of a schema with %s stay members of their own', (_name, schema, defaults) => {
  const { properties } = withDefaults(schema, defaults);
  expect(Object.keys(properties as object)).toEqual(Object.keys(defaults));
  expect(({} as Record<string, unknown>)['default']).toBeUndefined();
});

describe('VIS-01 overrides of an activation', () => {
  const shown = (
    own: Partial<ToolManifest>,
    overrides: NonNullable<Parameters<typeof shownManifest>[1]['overrides']>,
  ) => shownManifest(toolVersion('t', own).manifest, { overrides });

  test('a confirmation may be asked for or taken away, with its prompt', () => {
    expect(shown({}, { requires_confirmation: true, confirmation_prompt: 'Sure?' })).toMatchObject({
      requires_confirmation: true,
      confirmation_prompt: 'Sure?',
    });
    expect(shown({ requires_confirmation: true }, { requires_confirmation: false }).requires_confirmation).toBe(false);
  });

  test('an approval is only added', () => {
    expect(shown({}, { requires_approval: true }).execution_config).toEqual({ requires_approval: true });
    const own = { execution_config: { requires_approval: true } };
    expect(shown(own, { timeout_seconds_max: 5 }).execution_config?.requires_approval).toBe(true);
  });

  test.each([
    [60, 10, 10],
    [5, 10, 5],
    [undefined, 10, 10],
    [undefined, 600, 30],
  ])('a timeout of %s with at most %s becomes %s', (own, max, expected) => {
    const config = own === undefined ? {} : { execution_config: { default_timeout_seconds: own } };
    expect(shown(config, { timeout_seconds_max: max }).execution_config?.default_timeout_seconds).toBe(expected);
  });

  test('a rate only becomes lower', () => {
    const own = { execution_config: { rate_limit: { per_minute: 10, burst: 5 } } };
    expect(shown(own, { rate_limit: { per_minute: 100, burst: 1 } }).execution_config?.rate_limit).toEqual({
      per_minute: 10,
      burst: 1,
    });
    const leaky = { per_minute: 20, algorithm: 'leaky_bucket' } as const;
    expect(shown({}, { rate_limit: leaky }).execution_config?.rate_limit).toEqual(leaky);
    expect(shown(own, { rate_limit: leaky }).execution_config?.rate_limit).toEqual({
      ...leaky,
      per_minute: 10,
      burst: 5,
    });
  });
});
