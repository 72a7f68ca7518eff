import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

/** A function of this program as a tool. */
export const ADD: ToolManifest = {
  tool_id: 'add',
  tool_name: 'Add',
  version: '1.0.0',
  description: 'Adds two numbers.',
  category: 'computation',
  tags: ['example'],
  side_effect_policy: 'pure',
  deterministic: true,
  parameters_schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      a: { type: 'number', description: 'First number.' },
      b: { type: 'number', description: 'Second number.' },
    },
    required: ['a', 'b'],
    additionalProperties: false,
  },
  result_schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { sum: { type: 'number', description: 'a + b.' } },
    required: ['sum'],
    additionalProperties: false,
  },
  executor: { kind: 'native' },
};

/** The function itself; its arguments were checked by the schema above. */
export function add({ a, b }: Readonly<Record<string, unknown>>): { sum: number } {
  return { sum: Number(a) + Number(b) };
}
