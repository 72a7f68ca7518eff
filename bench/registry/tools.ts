import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

const CATEGORIES = ['data_access', 'computation', 'external_api', 'file_system', 'llm_interaction'] as const;
const KINDS = ['native', 'http', 'mcp', 'shell'] as const;
/** Tags that tools share; each carries two of them. */
const TAGS = 200;
const WORDS = ['weather', 'invoice', 'customer', 'report', 'ticket', 'calendar', 'stock', 'message', 'branch', 'image'];

/** A manifest of middling size: six described parameters, one of them an object, and a result of three members. */
export function toolOf(at: number, version = '1.0.0'): ToolManifest {
  const noun = WORDS[at % WORDS.length] ?? 'thing';
  return {
    tool_id: `source${at % 97}__${noun}-${at}`,
    tool_name: `Work with ${noun} ${at}`,
    version,
    description: `Finds and changes one ${noun} by its number, with filters for time and owner. Number ${at} of the catalogue.`,
    category: CATEGORIES[at % CATEGORIES.length] ?? 'computation',
    tags: [`tag${at % TAGS}`, `tag${(at * 7 + 3) % TAGS}`],
    side_effect_policy: 'idempotent',
    parameters_schema: parametersOf(noun, version === '1.0.0' ? 100 : 200),
    result_schema: RESULT,
    permissions: { network: [{ host: 'api.example.com', port: 443 }] },
    execution_config: { default_timeout_seconds: 10 },
    executor: { kind: KINDS[at % KINDS.length] ?? 'native' },
  };
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const parametersOf = (noun: string, maximum: number): ToolManifest['parameters_schema'] => ({
  $schema: DIALECT,
  type: 'object',
  properties: {
    id: { type: 'string', description: `Number of the ${noun}.`, minLength: 1, maxLength: 64 },
    limit: { type: 'integer', description: 'Entries at most.', minimum: 1, maximum, default: 10 },
    since: { type: 'string', description: 'Only newer than this.', format: 'date-time' },
    order: { enum: ['newest', 'oldest', 'name'], description: 'How the answer is sorted.' },
    fields: { type: 'array', items: { type: 'string' }, description: 'Members to answer with.', maxItems: 32 },
    owner: {
      type: 'object',
      description: 'Whose they are.',
      properties: { name: { type: 'string', description: 'Name.' }, team: { type: 'string', description: 'Team.' } },
      required: ['name'],
      additionalProperties: false,
    },
  },
  required: ['id'],
  additionalProperties: false,
});

const RESULT: ToolManifest['parameters_schema'] = {
  $schema: DIALECT,
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Number.' },
    title: { type: 'string', description: 'Title.' },
    changed: { type: 'boolean', description: 'Whether something changed.' },
  },
  required: ['id'],
  additionalProperties: false,
};
