import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

/** A pure function with a schema on both sides, as small as a real tool gets. */
export const PURE_TOOL: ToolManifest = {
  tool_id: 'bench-add',
  tool_name: 'Add',
  version: '1.0.0',
  description: 'Adds two numbers.',
  category: 'computation',
  side_effect_policy: 'pure',
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

/** The same function under a manifest that claims nothing: two synchronous commits a call. */
export const IRREVERSIBLE_TOOL: ToolManifest = {
  ...PURE_TOOL,
  tool_id: 'bench-add-irreversible',
  side_effect_policy: 'irreversible',
};

/** The function of both. */
export function add({ a, b }: Readonly<Record<string, unknown>>): { readonly sum: number } {
  return { sum: Number(a) + Number(b) };
}
