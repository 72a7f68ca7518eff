import { coerce, valid } from 'semver';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { ToolOverride } from '../../../../api/schemas/upstream.ts';
import { isServerMethod, nameInUpstream } from '../../../domain/tool/server-methods.ts';
import { fittingSchema } from '../../foreign/property-names/rename-properties.ts';
import { importedId } from '../../foreign/tool-ids.ts';
import type { ImportedTools, ListedMcpTool, McpImporter, McpSource } from '../../importer.port.ts';
import { listedMembers } from './listed-members.ts';
import { resultSchemaOf } from './result-schema.ts';

/** Limits of the parts taken from a server, equal to those of a manifest. */
const TITLE_CHARS_MAX = 255;
const DESCRIPTION_CHARS_MAX = 65_536;
const VERSION_CHARS_MAX = 64;
const PLACE_CHARS_MAX = 200;
/** Version of a server whose own version is no SemVer. */
const VERSION_UNKNOWN = '1.0.0';
/** Tag of a tool whose server calls it read-only, unverified. */
const READ_ONLY_CLAIMED = 'read-only-claimed';

/**
 * Manifests for the tools of an MCP server, named `<upstream>__<tool>`. Whatever its annotations say, a tool counts as
 * irreversible until an operator says otherwise (REG-02); reading a resource and the like count as pure. Of two tools with one id the holder, else the first, keeps it
 * and the other is skipped, so that a name never leads to another tool.
 */
export const importMcpTools: McpImporter = (tools, source): ImportedTools => {
  const version = semVerOf(source.version);
  const manifests = new Map<string, ToolManifest>();
  const skipped: { place: string; reason: string }[] = [];
  for (const tool of tools) {
    const id = source.idOf?.(tool.name) ?? toolIdOf(source.name, tool.name);
    const holder = source.holderOf?.(id) ?? manifests.get(id)?.executor.config?.['tool'];
    if (!manifests.has(id) && (holder === undefined || holder === tool.name)) {
      manifests.set(id, manifestOf(tool, id, version, source));
    } else {
      const reason = `The id ${id} belongs to the tool ${quoted(holder)} of the same server; rename one of the two there.`;
      skipped.push({ place: tool.name.slice(0, PLACE_CHARS_MAX), reason });
    }
  }
  return { source: source.name, manifests: [...manifests.values()], skipped };
};

/** Id for a new tool of an upstream: one that every client and provider accepts as a name. */
function toolIdOf(upstream: string, tool: string): string {
  const own = nameInUpstream(tool);
  return importedId(upstream, own, `${upstream}__${own}`);
}

function manifestOf(tool: ListedMcpTool, id: string, version: string, source: McpSource): ToolManifest {
  const said = overrideOf(source, tool.name);
  const { schema, binding } = fittingSchema(tool.inputSchema);
  const title = stringOf(tool.title) ?? stringOf(tool.annotations?.['title']);
  return {
    tool_id: id,
    tool_name: cut(title ?? tool.name, TITLE_CHARS_MAX),
    version,
    description: cut(tool.description ?? title ?? tool.name, DESCRIPTION_CHARS_MAX),
    category: 'external_api',
    tags: [
      ...new Set([
        'mcp',
        source.name,
        ...(tool.annotations?.['readOnlyHint'] === true ? [READ_ONLY_CLAIMED] : []),
        ...(said.tags ?? []),
      ]),
    ],
    parameters_schema: schema,
    ...(tool.outputSchema === undefined ? {} : { result_schema: resultSchemaOf(tool.outputSchema) }),
    side_effect_policy: said.side_effect_policy ?? (isServerMethod(tool.name) ? 'pure' : 'irreversible'),
    ...(said.requires_confirmation === undefined ? {} : { requires_confirmation: said.requires_confirmation }),
    ...executionOf(said),
    ...permissionsOf(source),
    executor: {
      kind: 'mcp',
      ...binding,
      config: {
        upstream: source.name,
        tool: tool.name,
        ...listedMembers(tool),
        ...(tool.title === undefined ? {} : { title: cut(tool.title, TITLE_CHARS_MAX) }),
      },
    },
  };
}

/** The operator's statements about a tool: those about all, overridden by those about this one. */
function overrideOf({ overrides = {} }: McpSource, tool: string): ToolOverride {
  const all = Object.hasOwn(overrides, '*') ? overrides['*'] : undefined;
  const one = tool !== '*' && Object.hasOwn(overrides, tool) ? overrides[tool] : undefined;
  const tags = [...(all?.tags ?? []), ...(one?.tags ?? [])];
  const content = { ...all?.argument_content, ...one?.argument_content };
  return {
    ...all,
    ...one,
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.keys(content).length === 0 ? {} : { argument_content: content }),
  };
}

function executionOf(said: ToolOverride): Pick<ToolManifest, 'execution_config'> {
  const { requires_approval, timeout_seconds, task_support, argument_content } = said;
  const config = {
    ...(timeout_seconds === undefined ? {} : { default_timeout_seconds: timeout_seconds }),
    ...(requires_approval === undefined ? {} : { requires_approval }),
    ...(task_support === undefined ? {} : { task_support }),
    ...(argument_content === undefined ? {} : { argument_content }),
  };
  return Object.keys(config).length === 0 ? {} : { execution_config: config };
}

function permissionsOf({ credentials = [] }: McpSource): Pick<ToolManifest, 'permissions'> {
  return credentials.length === 0 ? {} : { permissions: { credentials: [...credentials] } };
}

function semVerOf(version: string): string {
  const found = valid(version) ?? coerce(version)?.version ?? VERSION_UNKNOWN;
  return found.length <= VERSION_CHARS_MAX ? found : VERSION_UNKNOWN;
}

/** Cuts a text to a number of characters, never within one. */
function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function quoted(value: unknown): string {
  return JSON.stringify(String(value).slice(0, PLACE_CHARS_MAX));
}
