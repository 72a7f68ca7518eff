import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { ToolOverride } from '../../api/schemas/upstream.ts';

/** Knowledge of registered ids: a registered tool keeps its id, even when it is longer than imports make today. */
export interface KnownIds {
  readonly isRegistered?: (toolId: string) => boolean;
  /** Method and path of the request that a registered tool sends: `GET /a`; undefined for other tools and free ids. */
  readonly operationOf?: (toolId: string) => string | undefined;
}

/**
 * Result of importing a foreign document. Nothing is lost silently: entries without a manifest are listed with the
 * reason.
 */
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
  options: KnownIds & { readonly name?: string; readonly baseUrl?: string; readonly source?: string },
) => Promise<ImportedTools>;

/** A tool as an MCP server lists it. Everything in it is untrusted. */
export interface ListedMcpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
  readonly annotations?: Record<string, unknown>;
  readonly icons?: readonly unknown[];
  readonly _meta?: Record<string, unknown>;
  readonly execution?: Record<string, unknown>;
}

/** Source of a list of tools, and the operator's statements about it. */
export interface McpSource {
  /** Name of the upstream; prefix of the ids. */
  readonly name: string;
  /** The server's version as it states it; empty when it states none. */
  readonly version: string;
  /** By the server's name for a tool; `*` for all. Statements about one tool win. */
  readonly overrides?: Readonly<Record<string, ToolOverride>>;
  /** Credentials that every call needs, because its connection is made with them; default none. */
  readonly credentials?: readonly string[];
  /** The server's name for the tool that owns an id; undefined for a free id. */
  readonly holderOf?: (toolId: string) => string | undefined;
  /** The existing id of a tool, by the server's name; the tool keeps it. */
  readonly idOf?: (tool: string) => string | undefined;
}

/**
 * Turns the tool list of an MCP server into manifests. Annotations are hints, never trusted upwards (REG-02); what the
 * operator states in `overrides` holds.
 */
export type McpImporter = (tools: readonly ListedMcpTool[], source: McpSource) => ImportedTools;

/**
 * Turns serialised LangChain tools (parsed JSON) into manifests of kind `native`. Anything else is listed as skipped;
 * `name` is the prefix of the tool ids, default `langchain`.
 */
export type LangChainImporter = (
  tools: unknown,
  options?: KnownIds & { readonly name?: string; readonly version?: string },
) => ImportedTools;

/** A request for Composio's tools, and its means. */
export interface ComposioListing {
  /** A `fetch` that reaches the service, with limited connections and targets. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** The project's key, from the secret store. It is removed from the service's texts. */
  readonly apiKey: string;
  /** Default `https://backend.composio.dev/api/v3`. */
  readonly baseUrl?: string;
  /** Only tools of this toolkit, as `github`. */
  readonly toolkit?: string;
  /** Only these tools; the other filters are then ignored. */
  readonly slugs?: readonly string[];
  /** Words to look for. */
  readonly search?: string;
  readonly signal: AbortSignal;
}

/**
 * Asks Composio for its tools, page by page (`GET /tools`), in their latest versions. At most 10 000 tools.
 * @throws ToolLayerError E3303 429, E3304 5xx, E3307 401 and 403, E3308 unreadable, E3309 any other refusal, E3310 not reachable, the
 *   reason of the signal
 */
export type ComposioLister = (listing: ComposioListing) => Promise<readonly unknown[]>;

/** An operator's statements about Composio's tools. */
export interface ComposioSource extends KnownIds {
  /** Prefix of the tool ids; default `composio`. */
  readonly name?: string;
  /** URL up to the version of the API; default `https://backend.composio.dev/api/v3`. */
  readonly baseUrl?: string;
  /** Name of the secret with the API key; default `composio_api_key`. */
  readonly secret?: string;
  /** The account that the tools use: one of these. Default: the calling agent is the user. */
  readonly connectedAccountId?: string;
  readonly userId?: string;
  readonly userFrom?: 'agent' | 'tenant';
}

/**
 * Turns tools as Composio lists them into manifests of kind `composio`. Whatever their tags say, a tool counts as
 * irreversible until an operator says otherwise (REG-02). Of two tools with one id the first keeps it and the other is
 * skipped.
 */
export type ComposioImporter = (tools: readonly unknown[], source?: ComposioSource) => ImportedTools;

/** A manifest of kind `native` and the function that runs it. */
export interface FunctionTool<Context> {
  readonly manifest: ToolManifest;
  readonly run: (parameters: Readonly<Record<string, unknown>>, context: Context) => unknown;
}

/** One file of a skill. */
export interface SkillFile {
  /** Relative to the folder, with slashes. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable?: boolean;
}

/**
 * Turns the files of one skill, or of a folder of skills, into manifests of kind `skill`; `name` is the prefix of the
 * tool ids, default `skill`.
 * @throws ToolLayerError E3008 with every fault and its place when the files contain no readable skill
 */
export type SkillImporter = (
  files: readonly SkillFile[],
  options?: KnownIds & { readonly name?: string },
) => ImportedTools;
