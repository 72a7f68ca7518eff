import { membersIn } from '../../foreign/schemas/standard-schema.ts';

/** A LangChain tool, an object of a program or a piece of JSON, as far as it is understood. */
export interface ForeignTool {
  readonly name: string;
  readonly description: string;
  /** Whatever describes the arguments; undefined when nothing does. */
  readonly schema: unknown;
  /** Tells tools of one name apart. */
  readonly className: string | undefined;
  readonly version: string | undefined;
  readonly tags: readonly string[];
  /** The tool answers with a text for the model and a value beside it. */
  readonly withArtifact: boolean;
}

/** Members that hold the schema of the arguments, in the order in which they are looked for. */
const SCHEMAS = ['schema', 'parameters', 'args_schema', 'input_schema', 'inputSchema', 'parameters_schema'] as const;
/** Classes that say nothing of the tool: everybody's tools are of them. */
const EVERYBODYS = new Set([
  'Object',
  'Function',
  'Tool',
  'StructuredTool',
  'DynamicTool',
  'DynamicStructuredTool',
]).add('RunnableToolLike');

/** What the value says of itself, or the words for why it is no tool. */
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
  // `tool.args` of LangChain for Python: the properties alone.
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
