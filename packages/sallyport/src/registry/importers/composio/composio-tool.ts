import { isObject } from '../../../domain/shape/is-object.ts';
import { plainCopy } from '../../foreign/plain-json.ts';

/** The used part of a tool as Composio lists it (`Tool` of its OpenAPI document). Everything in it is untrusted. */
export interface ComposioTool {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly toolkit: string;
  readonly parametersSchema: Record<string, unknown>;
  /** Composio's `output_parameters`, when it is an object. */
  readonly output: Readonly<Record<string, unknown>> | undefined;
  readonly version: string | undefined;
  readonly tags: readonly string[];
  readonly noAuth: boolean;
}

const SLUG = /^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$/;

/**
 * Parses one entry of the list.
 * @returns the reason, in words, when it is not a callable tool
 */
export function composioTool(value: unknown): ComposioTool | string {
  const copied = plainCopy(value);
  const [fault] = copied.faults;
  if (fault !== undefined) return `${fault.path} ${fault.message}`;
  if (!isObject(copied.value)) return 'it is no object';
  const entry = copied.value;
  const slug = entry['slug'];
  if (typeof slug !== 'string' || !SLUG.test(slug)) return 'its slug is no name that an address can hold';
  if (entry['is_deprecated'] === true) return 'Composio calls it deprecated';
  const schema = parametersOf(entry['input_parameters']);
  if (schema === undefined) return 'its input_parameters are no object';
  const output = entry['output_parameters'];
  const toolkit = isObject(entry['toolkit']) ? entry['toolkit']['slug'] : undefined;
  const tags = entry['tags'];
  return {
    slug,
    name: textOf(entry['name']) ?? slug,
    description: textOf(entry['description']) ?? slug,
    toolkit: textOf(toolkit) ?? '',
    parametersSchema: schema,
    output: isObject(output) ? output : undefined,
    version: textOf(entry['version']),
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    noAuth: entry['no_auth'] === true,
  };
}

/**
 * Accepts a JSON Schema, as the API returns it, and parameters by name with `required: true`, as its documentation
 * shows it.
 */
function parametersOf(given: unknown): Record<string, unknown> | undefined {
  if (given === undefined || given === null) return { type: 'object', properties: {} };
  if (!isObject(given)) return undefined;
  if (given['type'] === 'object' || isObject(given['properties'])) return { ...given, type: 'object' };
  const entries = Object.entries(given);
  if (!entries.every(([, schema]) => isObject(schema))) return undefined;
  const properties = entries.map(([name, schema]) => {
    const { required: _, ...rest } = schema as Record<string, unknown>;
    return [name, rest] as const;
  });
  const required = entries.filter(([, schema]) => (schema as Record<string, unknown>)['required'] === true);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required: required.map(([name]) => name) }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
