import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { sideEffectOf } from '../../../domain/tool/tool-version.ts';
import { isObject } from '../../json-rpc.ts';

/** A manifest as an MCP tool. What an MCP server says of its own tool is passed on; for others it is worked out. */
export function toolView(manifest: ToolManifest): Record<string, unknown> {
  const config = manifest.executor.kind === 'mcp' ? (manifest.executor.config ?? {}) : undefined;
  const output = config === undefined ? manifest.result_schema : config['output_schema'];
  const title = config === undefined ? manifest.tool_name : config['title'];
  const annotations = config === undefined ? annotationsOf(manifest) : config['annotations'];
  return {
    name: manifest.tool_id,
    ...(typeof title === 'string' ? { title } : {}),
    description: manifest.description,
    inputSchema: inputSchemaOf(manifest.parameters_schema),
    // 2025-11-25 knows output schemas of objects only.
    ...(isObject(output) && output['type'] === 'object' ? { outputSchema: output } : {}),
    ...(isObject(annotations) ? { annotations } : {}),
  };
}

/** MCP asks for a schema of type object; one that is silent on the type takes objects only here too. */
function inputSchemaOf(schema: Readonly<Record<string, unknown>>): unknown {
  const plain = withoutHeaderMarks(schema);
  return isObject(plain) ? { type: 'object', ...plain } : { type: 'object' };
}

/**
 * Without `x-mcp-header`: it asks clients to repeat arguments in HTTP headers, which the upstream wanted for its own
 * front; here the headers would have to be compared with the body at each call, for nobody's use.
 */
function withoutHeaderMarks(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const properties = schema['properties'];
  const { 'x-mcp-header': _mark, ...rest } = schema;
  if (!isObject(properties)) return rest;
  const plain = Object.entries(properties).map(([name, inner]) => [name, withoutHeaderMarks(inner)] as const);
  return { ...rest, properties: Object.fromEntries(plain) };
}

function annotationsOf(manifest: ToolManifest): Record<string, boolean> {
  const effect = sideEffectOf(manifest);
  return {
    readOnlyHint: effect === 'pure',
    idempotentHint: effect === 'pure' || effect === 'idempotent',
    openWorldHint: (manifest.permissions?.network?.length ?? 0) > 0,
  };
}
