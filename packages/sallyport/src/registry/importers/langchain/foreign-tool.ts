import { membersIn } from '../../foreign/schemas/standard-schema.ts';

/** The understood part of a LangChain tool, an object of a program or JSON. */
export interface ForeignTool {
  readonly name: string;
  readonly description: string;
  /** Any description of the arguments; undefined when there is none. */
  readonly schema: unknown;
  /** Distinguishes tools of one name. */
  readonly className: string | undefined;
  readonly version: string | undefined;
  readonly tags: readonly string[];
  /** True when the tool answers with a text for the model and a separate value. */
  readonly withArtifact: boolean;
}

/** Members that may hold the schema of the arguments, in order of preference. */
const SCHEMAS = ['schema', 'parameters', 'args_schema', 'input_schema', 'inputSchema', 'parameters_schema'] as const;
/** Generic classes, which say nothing about the tool. */
const EVERYBODYS = new Set([
  'Object',
  'Function',
  'Tool',
  'StructuredTool',
  'DynamicTool',
  'DynamicStructuredTool',
]).add('RunnableToolLike');

/** The tool in a value, or the reason why it is none. */
export function foreignTool(value: unknown, nameGiven?: string): ForeignTool | string {
  const outer = membersIn(value);
  if (outer === undefined || Array.isArray(value)) return 'it is no object';
  // OpenAI's form keeps the tool under `function`, LangChain's own serialisation under `kwargs`.
  const inner = typeof outer['function'] === 'object' ? outer['function'] : outer['kwargs'];
  const members = membersIn(inner) ?? outer;
  const name = textOf(members['name']) ?? textOf(outer['name']) ?? nameGiven;
  if (name === undefined) return 'it has no name';
  const schema = schemaOf(members);
  const description = textOf(members['description']) ?? textOf(membersIn(schema)?.['description']);
  return {
    name,
    description: description ?? name,
    schema,
    className: classOf(value, outer),
    version: textOf(members['version']),
    tags: listOf(members['tags']),
    withArtifact: (members['responseFormat'] ?? members['response_format']) === 'content_and_artifact',
  };
}

function schemaOf(members: Record<string, unknown>): unknown {
  const found = SCHEMAS.map((member) => members[member]).find((schema) => schema !== undefined && schema !== null);
  if (found !== undefined) return found;
  // `tool.args` of LangChain for Python contains only the properties.
  const properties = membersIn(members['args']);
  return properties === undefined ? undefined : { type: 'object', properties };
}

function classOf(value: unknown, { class: given, id }: Record<string, unknown>): string | undefined {
  const said = textOf(given) ?? (Array.isArray(id) ? textOf(id.at(-1)) : undefined);
  if (said !== undefined) return EVERYBODYS.has(said) ? undefined : said;
  const made = membersIn(value)?.['constructor'];
  const name = typeof made === 'function' ? made.name : undefined;
  return name === undefined || name === '' || EVERYBODYS.has(name) ? undefined : name;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

const listOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => textOf(item) !== undefined) : [];
