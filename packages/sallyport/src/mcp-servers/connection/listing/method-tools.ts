import type { ServerMethod } from '../../../domain/tool/server-methods.ts';
import type { ListedMcpTool } from '../../../registry/importer.port.ts';

/** Capability by which a server says that it answers a request. */
const CAPABILITIES: Readonly<Record<ServerMethod, string>> = {
  'resources/read': 'resources',
  'prompts/get': 'prompts',
  'completion/complete': 'completions',
};

/** The requests that a server with these capabilities answers, as tools of the layer's own (API-03). */
export function methodTools(capabilities: Readonly<Record<string, unknown>>): readonly ListedMcpTool[] {
  return TOOLS.filter(({ name }) => capabilities[CAPABILITIES[name]] !== undefined);
}

const text = (description: string) => ({ type: 'string', description }) as const;
const texts = (description: string) => ({
  type: 'object',
  description,
  additionalProperties: { type: 'string' },
});
const object = (properties: Readonly<Record<string, unknown>>, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const TOOLS: readonly (ListedMcpTool & { readonly name: ServerMethod })[] = [
  {
    name: 'resources/read',
    title: 'Read a resource',
    description: 'Reads a resource of this MCP server.',
    inputSchema: object({ uri: text('URI of the resource, as the server gives it.') }, ['uri']),
  },
  {
    name: 'prompts/get',
    title: 'Get a prompt',
    description: 'Gives the messages of a prompt of this MCP server.',
    inputSchema: object(
      { name: text('Name of the prompt, as the server gives it.'), arguments: texts('Values of its arguments.') },
      ['name'],
    ),
  },
  {
    name: 'completion/complete',
    title: 'Complete an argument',
    description: 'Suggests values for an argument of a prompt or resource template of this MCP server.',
    inputSchema: object(
      {
        ref: {
          type: 'object',
          description: 'The prompt (type ref/prompt, with its name) or the template (type ref/resource, with its uri).',
          properties: {
            type: { enum: ['ref/prompt', 'ref/resource'], description: 'What the argument belongs to.' },
            name: text('Name of the prompt.'),
            title: text('Title of the prompt.'),
            uri: text('The URI template.'),
          },
          required: ['type'],
          additionalProperties: false,
        },
        argument: {
          description: 'The argument.',
          ...object({ name: text('Its name.'), value: text('The text so far.') }, ['name', 'value']),
        },
        context: {
          type: 'object',
          description: 'What is known of the other arguments.',
          properties: { arguments: texts('Their values.') },
          additionalProperties: false,
        },
      },
      ['ref', 'argument'],
    ),
  },
];
