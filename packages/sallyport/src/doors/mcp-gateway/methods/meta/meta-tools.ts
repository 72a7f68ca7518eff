import { Category, SideEffectPolicy } from '../../../../../api/schemas/tool-manifest.ts';

/** One argument of a meta-tool: the subset of JSON Schema that the meta-tools need. */
export type ArgumentSchema =
  | {
      readonly type: 'string';
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly enum?: readonly string[];
    }
  | { readonly type: 'integer'; readonly minimum: number; readonly maximum: number }
  | { readonly type: 'array'; readonly items: { readonly type: 'string' }; readonly maxItems: number }
  | { readonly type: 'object' };

/** Arguments of a meta-tool. */
export interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ArgumentSchema & { readonly description: string }>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** A tool of the gateway itself, as MCP lists it. */
export interface OwnTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ArgumentsSchema;
  readonly annotations: Readonly<Record<string, boolean>>;
}

/** Names of the meta-tools (MOD-11). */
export type MetaToolName = 'find_tools' | 'describe_tool' | 'call_tool';

/** A meta-tool as MCP lists it. */
export interface MetaTool extends OwnTool {
  readonly name: MetaToolName;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

/** Most tools that find_tools returns, and its default. */
export const FOUND_MAX = 50;
export const FOUND_DEFAULT = 10;

const READS = { readOnlyHint: true, openWorldHint: false };
const NAME = { type: 'string', minLength: 1, maxLength: 128 } as const;
const VERSION = { type: 'string', minLength: 1, maxLength: 128 } as const;

const FIND: MetaTool = {
  name: 'find_tools',
  title: 'Find tools',
  description:
    'Finds tools by what they do. Gives the name of each, one line on what it does, what a call may leave behind ' +
    '(side_effect) and whether a person must confirm it. Then describe_tool gives the arguments, and call_tool calls it.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 4096, description: 'What the tool should do, in words.' },
      category: { type: 'string', enum: [...Category.enum], description: 'Only tools of this category.' },
      tags: {
        type: 'array',
        items: { type: 'string' },
        maxItems: 64,
        description: 'Only tools that carry every one of these.',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: FOUND_MAX,
        description: `Tools to give at most; ${FOUND_DEFAULT} when absent.`,
      },
    },
    required: ['query'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      tools: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            description: { type: 'string' },
            side_effect: { type: 'string', enum: [...SideEffectPolicy.enum] },
            needs_confirmation: { type: 'boolean' },
          },
          required: ['name', 'description', 'side_effect', 'needs_confirmation'],
        },
      },
      total: { type: 'integer', description: 'Tools that were found; only the first are given.' },
    },
    required: ['tools', 'total'],
  },
  annotations: READS,
};

const DESCRIBE: MetaTool = {
  name: 'describe_tool',
  title: 'Describe a tool',
  description: 'Gives the whole description of one tool, its input schema, its versions and what to beware of.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { ...NAME, description: 'Name of the tool, as find_tools gives it.' },
      version: { ...VERSION, description: 'Exact version, range such as ^2.1.0, or latest; the newest when absent.' },
    },
    required: ['name'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      version: { type: 'string' },
      description: { type: 'string' },
      input_schema: { type: 'object' },
      side_effect: { type: 'string', enum: [...SideEffectPolicy.enum] },
      needs_confirmation: { type: 'boolean' },
      warnings: { type: 'array', items: { type: 'object' } },
    },
    required: ['name', 'version', 'description', 'input_schema', 'side_effect', 'needs_confirmation', 'warnings'],
  },
  annotations: READS,
};

const CALL: MetaTool = {
  name: 'call_tool',
  title: 'Call a tool',
  description:
    'Calls one tool and gives its result as it is. The call is checked, bounded and recorded like any other. ' +
    'describe_tool says which arguments the tool takes.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { ...NAME, description: 'Name of the tool, as find_tools gives it.' },
      arguments: { type: 'object', description: "The tool's own arguments, as its input schema wants them." },
      version: { ...VERSION, description: 'Exact version, range such as ^2.1.0, or latest; the newest when absent.' },
    },
    required: ['name'],
    additionalProperties: false,
  },
  // It may be any tool, so the hints assume the worst.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

/** The meta-tools by name, in the order of their use. */
export const META_TOOLS: ReadonlyMap<string, MetaTool> = new Map(
  [FIND, DESCRIBE, CALL].map((tool) => [tool.name, tool]),
);
