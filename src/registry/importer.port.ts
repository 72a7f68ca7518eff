import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';

/** What an importer made of a foreign document. Nothing is lost silently: what has no manifest is listed with its reason. */
export interface ImportedTools {
  /** Prefix of the tool ids. */
  readonly source: string;
  readonly manifests: readonly ToolManifest[];
  readonly skipped: readonly { readonly place: string; readonly reason: string }[];
}

/**
 * Turns an OpenAPI document (text, JSON or YAML) into manifests, one for each operation.
 * @throws E3008 when the document cannot be read, with every fault and its place in `details.faults`
 */
export type OpenApiImporter = (
  document: string,
  options: { readonly name?: string; readonly baseUrl?: string; readonly source?: string },
) => Promise<ImportedTools>;

/** A tool as an MCP server lists it. Everything in it is untrusted. */
export interface ListedMcpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
  readonly annotations?: Record<string, unknown>;
}

/** Turns the tool list of an MCP server into manifests. Annotations are hints, never trusted upwards (REG-02). */
export type McpImporter = (
  tools: readonly ListedMcpTool[],
  upstream: { readonly name: string; readonly version: string },
) => ImportedTools;
