import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { givesCallResult } from '../../../domain/tool/call-result.ts';
import { taskSupportOf } from '../../../domain/tool/task-support.ts';
import { sideEffectOf } from '../../../domain/tool/tool-version.ts';
import type { Params } from '../../json-rpc.ts';
import type { Era } from '../../mcp-protocol.ts';

/**
 * A manifest as an MCP tool. An MCP server's own statements about its tool are passed on; for other tools they are
 * derived.
 * @param hasTasks true when clients may ask for tasks: then for every tool whose calls may be asynchronous
 * @param name under which the client calls it
 */
export function toolView(
  manifest: ToolManifest,
  era: Era,
  hasTasks = false,
  name = manifest.tool_id,
): Record<string, unknown> {
  const listed = manifest.executor.kind === 'mcp' ? (manifest.executor.config ?? {}) : undefined;
  const { title, output_schema, annotations, icons, _meta, execution } = listed ?? ownMembers(manifest);
  return {
    name,
    ...(typeof title === 'string' ? { title } : {}),
    ...(isUndescribed(manifest, listed) ? {} : { description: manifest.description }),
    inputSchema: inputSchemaOf(manifest.parameters_schema),
    ...(isObject(output_schema) && isKnownIn(era, output_schema) ? { outputSchema: output_schema } : {}),
    ...(isObject(annotations) ? { annotations } : {}),
    ...(Array.isArray(icons) ? { icons } : {}),
    ...(isObject(_meta) ? { _meta } : {}),
    // 2026-07-28 has no such member.
    ...(era === 'legacy' ? executionMember(manifest, execution, hasTasks) : {}),
  };
}

function executionMember(manifest: ToolManifest, listed: unknown, hasTasks: boolean): { readonly execution?: Params } {
  const { taskSupport: _theirs, ...others } = isObject(listed) ? listed : {};
  if (hasTasks) return { execution: { ...others, taskSupport: taskSupportOf(manifest) ?? 'optional' } };
  return Object.keys(others).length === 0 ? {} : { execution: others };
}

function ownMembers(manifest: ToolManifest): Record<string, unknown> {
  // The schema of a CallToolResult is not that of its structured content.
  const schema = givesCallResult(manifest) ? undefined : manifest.result_schema;
  return { title: manifest.tool_name, output_schema: schema, annotations: annotationsOf(manifest) };
}

/**
 * True when the description is only a filler: a manifest always has one, and without the server's it is the title or
 * name, which clients see anyway.
 */
function isUndescribed({ description, tool_name }: ToolManifest, listed: Params | undefined): boolean {
  return listed?.['undescribed'] === true && description === tool_name;
}

/** 2025-11-25 allows output schemas of objects only. */
function isKnownIn(era: Era, outputSchema: Params): boolean {
  return era === 'modern' || outputSchema['type'] === 'object';
}

/** MCP requires a schema of type object; a schema without a type accepts only objects here too. */
function inputSchemaOf(schema: Readonly<Record<string, unknown>>): unknown {
  const plain = withoutHeaderMarks(schema);
  return isObject(plain) ? { type: 'object', ...plain } : { type: 'object' };
}

/**
 * Removes `x-mcp-header`: it asks clients to repeat arguments in HTTP headers, for the upstream's own front end. Here
 * the headers would have to be compared with the body at each call, with no benefit.
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
