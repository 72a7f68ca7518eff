import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';

type Node = Readonly<Record<string, unknown>>;

/** Members of a schema that contain the targets of its references. */
const DEFINITIONS = ['$defs', 'definitions'] as const;

/**
 * Schema of a tool's result, from Composio's `output_parameters`. Its documentation describes the data there; its SDKs
 * describe the whole answer with `data` and `successful`: then the schema of `data` counts, since the executor returns
 * the data.
 * @returns undefined when nothing is stated, or when a reference leads into an omitted part
 */
export function resultSchemaOf(output: Node | undefined): JsonSchemaObject | undefined {
  const properties = output === undefined ? undefined : asNode(output['properties']);
  if (output === undefined || properties === undefined || Object.keys(properties).length === 0) return undefined;
  const isWhole = 'data' in properties && ('successful' in properties || 'successfull' in properties);
  const schema = isWhole ? asNode(properties['data']) : { ...output, type: 'object' };
  if (schema === undefined || Object.keys(schema).length === 0) return undefined;
  const carried = isWhole ? { ...definitionsOf(output), ...schema } : schema;
  return referencesHold(carried, carried) ? carried : undefined;
}

function definitionsOf(output: Node): Node {
  return Object.fromEntries(DEFINITIONS.filter((name) => name in output).map((name) => [name, output[name]]));
}

/** True when each reference leads to an existing definition. */
function referencesHold(value: unknown, root: Node): boolean {
  if (Array.isArray(value)) return value.every((one) => referencesHold(one, root));
  const node = asNode(value);
  if (node === undefined) return true;
  const reference = node['$ref'];
  if (typeof reference === 'string' && !isThere(reference, root)) return false;
  return Object.values(node).every((one) => referencesHold(one, root));
}

function isThere(reference: string, root: Node): boolean {
  const found = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(reference);
  const [, place = '', name = ''] = found ?? [];
  return Object.hasOwn(asNode(root[place]) ?? {}, name);
}

function asNode(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : undefined;
}
