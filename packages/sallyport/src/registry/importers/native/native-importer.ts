import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Static } from 'typebox';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import type { SideEffectPolicy, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { fittingSchema } from '../../foreign/property-names/rename-properties.ts';
import { jsonSchemaOf } from '../../foreign/schemas/json-schema-of.ts';
import { type SchemaSide, type StandardSchema, validateOf } from '../../foreign/schemas/standard-schema.ts';
import { betweenSchemas } from '../../foreign/standard-run.ts';
import { cutText, toolIdOf } from '../../foreign/tool-ids.ts';
import type { FunctionTool } from '../../importer.port.ts';

const NAME_CHARS_MAX = 255;
/** Version of a function that states none. */
const FIRST_VERSION = '1.0.0';

/**
 * A function described by its author; the manifest is derived from this. Schemas are TypeBox, zod 3 or 4, anything that
 * follows Standard Schema, or plain JSON Schema; a schema that cannot be converted to JSON Schema needs one beside it.
 */
export interface FunctionDefinition<Input = unknown, Output = unknown> {
  /** Name for people; default source of the tool id. */
  readonly name: string;
  readonly description: string;
  /** Default: the name with every run of other characters than letters, digits, dash and underscore as one underscore. */
  readonly toolId?: string;
  /** SemVer; default 1.0.0. */
  readonly version?: string;
  /** Schema of the arguments: one object. Default: no arguments. */
  readonly input?: Input;
  /** JSON Schema of the arguments, for an `input` without a conversion. */
  readonly inputJsonSchema?: JsonSchemaObject;
  /** Schema of the result; absent: unchecked. */
  readonly output?: Output;
  /** JSON Schema of the result, for an `output` without a conversion. */
  readonly outputJsonSchema?: JsonSchemaObject;
  /** Side effect of a call; default irreversible, since nobody vouches for less. */
  readonly sideEffect?: SideEffectPolicy;
  /** Members of the manifest that have no place above: permissions, execution_config, tags, … */
  readonly manifest?: Omit<Partial<ToolManifest>, 'executor' | 'parameters_schema' | 'result_schema'>;
}

/** The value that a function is called with: the arguments as converted by its schema. */
export type FunctionInput<Input> =
  Input extends StandardSchema<unknown, infer Value>
    ? Value
    : Input extends { readonly '~kind': string }
      ? Static<Input>
      : Readonly<Record<string, unknown>>;

/**
 * Makes a tool of a function (REG-02). With a library's schema, the library also validates each call, so that
 * refinements and transforms apply: the function gets the converted arguments.
 * @throws ToolLayerError E3008 with every fault in `details.faults`, for missing members and for schemas without JSON
 *   Schema
 */
export function nativeTool<Input, Output, Context>(
  definition: FunctionDefinition<Input, Output>,
  run: (input: FunctionInput<Input>, context: Context) => unknown,
): FunctionTool<Context> {
  const { name, description, input, output, version = FIRST_VERSION, sideEffect = 'irreversible' } = definition;
  const faults = [...textFaults('/name', name, 1), ...textFaults('/description', description, 0)];
  const parameters =
    input === undefined && definition.inputJsonSchema === undefined
      ? { type: 'object', properties: {}, additionalProperties: false }
      : derived(faults, 'input', input, definition.inputJsonSchema);
  const result =
    output === undefined && definition.outputJsonSchema === undefined
      ? undefined
      : derived(faults, 'output', output, definition.outputJsonSchema);
  if (faults.length > 0) throw refused(name, faults);
  const { schema, binding } = fittingSchema(parameters);
  return {
    manifest: {
      tool_id: definition.toolId ?? toolIdOf(undefined, name),
      tool_name: cutText(name, NAME_CHARS_MAX),
      version,
      description,
      side_effect_policy: sideEffect,
      ...definition.manifest,
      parameters_schema: schema,
      ...(result === undefined ? {} : { result_schema: result }),
      executor: { kind: 'native', ...binding },
    },
    run: betweenSchemas(run as (input: never, context: Context) => unknown, {
      input: validateOf(input),
      output: validateOf(output),
    }),
  };
}

/** The given JSON Schema, or else the schema's own conversion. */
function derived(faults: Fault[], side: SchemaSide, schema: unknown, beside: JsonSchemaObject | undefined) {
  const made = jsonSchemaOf(beside ?? schema, side);
  if (made.faults === undefined) return made.schema;
  const member = `/${side}${beside === undefined ? '' : 'JsonSchema'}`;
  faults.push(
    ...made.faults.map((fault) => ({ ...fault, path: member + fault.path, ...hintFor(fault, side, beside) })),
  );
  return {};
}

/** Names the member of the definition that supplies what the library lacks. */
function hintFor({ hint }: Fault, side: SchemaSide, beside: unknown): { hint?: string } {
  if (hint === undefined || beside !== undefined) return {};
  return { hint: `${hint} Its place is ${side}JsonSchema.` };
}

function textFaults(path: string, value: unknown, charsMin: number): Fault[] {
  if (typeof value === 'string' && value.trim().length >= charsMin) return [];
  return [
    {
      path,
      code: 'E3008',
      keyword: 'type',
      message: charsMin > 0 ? 'must be a text that is not empty' : 'must be a text',
    },
  ];
}

function refused(name: unknown, faults: readonly Fault[]): ToolLayerError {
  const [first] = faults;
  const whose = typeof name === 'string' ? ` ${JSON.stringify(name.slice(0, 128))}` : '';
  const hint = first?.hint === undefined ? '' : ` ${first.hint}`;
  return new ToolLayerError(
    'E3008',
    `The function${whose} cannot be a tool: ${first?.path} ${first?.message}.${hint}`,
    {
      details: { faults },
    },
  );
}
