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
/** For a function that says no version. */
const FIRST_VERSION = '1.0.0';

/**
 * A function as its author describes it; the manifest is derived from this. Schemas are TypeBox, zod 3 or 4, anything
 * that follows Standard Schema, or plain JSON Schema; one that gives no JSON Schema needs it beside it.
 */
export interface FunctionDefinition<Input = unknown, Output = unknown> {
  /** Name for people; the tool id is made of it where `toolId` is absent. */
  readonly name: string;
  readonly description: string;
  /** Default: the name with every run of other characters than letters, digits, dash and underscore as one underscore. */
  readonly toolId?: string;
  /** SemVer; default 1.0.0. */
  readonly version?: string;
  /** What the arguments must be: one object. No arguments when absent. */
  readonly input?: Input;
  /** JSON Schema of the arguments, for an `input` that cannot tell it. */
  readonly inputJsonSchema?: JsonSchemaObject;
  /** What the result is; unchecked when absent. */
  readonly output?: Output;
  /** JSON Schema of the result, for an `output` that cannot tell it. */
  readonly outputJsonSchema?: JsonSchemaObject;
  /** What a call may leave behind; default irreversible, since nobody vouches for less. */
  readonly sideEffect?: SideEffectPolicy;
  /** Members of the manifest that have no place above: permissions, execution_config, tags, … */
  readonly manifest?: Omit<Partial<ToolManifest>, 'executor' | 'parameters_schema' | 'result_schema'>;
}

/** What a function is called with: what its schema makes of the arguments. */
export type FunctionInput<Input> =
  Input extends StandardSchema<unknown, infer Value>
    ? Value
    : Input extends { readonly '~kind': string }
      ? Static<Input>
      : Readonly<Record<string, unknown>>;

/**
 * Makes a tool of a function (REG-02). Where a schema belongs to a library, the library judges each call too, so that
 * refinements and transforms hold: the function gets what the schema made of the arguments.
 * @throws ToolLayerError E3008 with every fault in `details.faults`, for what is missing and for schemas without JSON Schema
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

/** The JSON Schema that stands beside, or else what the schema itself says. */
function derived(faults: Fault[], side: SchemaSide, schema: unknown, beside: JsonSchemaObject | undefined) {
  const made = jsonSchemaOf(beside ?? schema, side);
  if (made.faults === undefined) return made.schema;
  const member = `/${side}${beside === undefined ? '' : 'JsonSchema'}`;
  faults.push(
    ...made.faults.map((fault) => ({ ...fault, path: member + fault.path, ...hintFor(fault, side, beside) })),
  );
  return {};
}

/** The member of the definition that takes what the library does not tell. */
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
