import type { EmbeddedToolLayer } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

/** A schema of an object that holds these members and no other. */
const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  properties,
  required,
  additionalProperties: false,
});
const words = (description: string) => ({ type: 'string', description });

type Described = Pick<ToolManifest, 'tool_id' | 'description' | 'side_effect_policy' | 'parameters_schema'>;

const manifestOf = (described: Described, more: Partial<ToolManifest> = {}): ToolManifest => ({
  tool_name: described.tool_id,
  version: '1.0.0',
  category: 'computation',
  executor: { kind: 'native' },
  ...described,
  ...more,
});

type StoryTool = readonly [ToolManifest, (given: Readonly<Record<string, unknown>>) => unknown];

/** What each tool is, and what it does. */
const TOOLS: readonly StoryTool[] = [
  [
    manifestOf({
      tool_id: 'shout',
      description: 'Writes a text in capitals.',
      side_effect_policy: 'pure',
      parameters_schema: object({ text: words('The text.') }),
    }),
    ({ text }) => String(text).toUpperCase(),
  ],
  [
    manifestOf({
      tool_id: 'delete-page',
      description: 'Deletes a page for good.',
      side_effect_policy: 'irreversible',
      parameters_schema: object({ page: words('Name of the page.') }),
    }),
    ({ page }) => `${page} is gone`,
  ],
  [
    manifestOf({
      tool_id: 'post-message',
      description: 'Posts a message on the wall.',
      side_effect_policy: 'irreversible',
      parameters_schema: object({ text: words('The message.') }),
    }),
    ({ text }) => `posted: ${text}`,
  ],
  [
    manifestOf({
      tool_id: 'order',
      description: 'Works out what an order costs.',
      side_effect_policy: 'pure',
      parameters_schema: object(
        {
          article: { ...words('What is ordered.'), enum: ['pencil', 'paper', 'eraser'] },
          pieces: { type: 'integer', minimum: 1, maximum: 100, description: 'How many.' },
          lines: {
            type: 'array',
            description: 'What is written on it.',
            items: object({ text: words('A line.'), bold: { type: 'boolean', description: 'In bold.' } }, ['text']),
          },
        },
        ['article', 'pieces'],
      ),
    }),
    ({ article, pieces }) => ({ article, pieces }),
  ],
  [
    manifestOf({
      tool_id: 'find-rows',
      description: 'Finds rows of a table.',
      side_effect_policy: 'pure',
      parameters_schema: object(
        { name: words('Name that is looked for.'), statement: { ...words('A SQL statement.'), 'x-content': 'sql' } },
        [],
      ),
    }),
    ({ name = '', statement = '' }) => `${name}${statement}`,
  ],
];

/** Writes notes, but in one folder. */
const noteTool = (notes: string): StoryTool => [
  manifestOf(
    {
      tool_id: 'save-note',
      description: 'Writes a note into a file.',
      side_effect_policy: 'idempotent',
      parameters_schema: object({ path: { ...words('Absolute path.'), 'x-path': 'rw' }, text: words('The note.') }),
    },
    { permissions: { filesystem: [{ path: notes, mode: 'rw' }] } },
  ),
  ({ path, text }) => `${text} > ${path}`,
];

/**
 * Registers the story's tools.
 * @returns how often each has run since
 */
export async function registerTools(layer: EmbeddedToolLayer, notes: string): Promise<(tool: string) => number> {
  const runs = new Map<string, number>();
  for (const [manifest, run] of [...TOOLS, noteTool(notes)]) {
    await layer.registerFunction(manifest, (given) => {
      runs.set(manifest.tool_id, (runs.get(manifest.tool_id) ?? 0) + 1);
      return run(given);
    });
  }
  return (tool) => runs.get(tool) ?? 0;
}
