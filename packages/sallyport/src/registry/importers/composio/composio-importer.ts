import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { fittingSchema } from '../../foreign/property-names/rename-properties.ts';
import { cutText, releaseOf, toolIdOf } from '../../foreign/tool-ids.ts';
import type { ComposioImporter, ComposioSource, ImportedTools } from '../../importer.port.ts';
import { type ComposioTool, composioTool } from './composio-tool.ts';
import { COMPOSIO_BASE_URL } from './list-tools.ts';
import { resultSchemaOf } from './result-schema.ts';

/** Default prefix of the tool ids. */
export const COMPOSIO_SOURCE = 'composio';
/** Most tools of one import; the rest is listed as skipped. */
const TOOLS_MAX = 5000;
const NAME_CHARS_MAX = 255;
const DESCRIPTION_CHARS_MAX = 65_536;
const PLACE_CHARS_MAX = 200;
const TAGS_MAX = 64;
const TAG_CHARS_MAX = 64;
/** Tag of a tool whose maker calls it read-only, unverified. */
const READ_ONLY_CLAIMED = 'read-only-claimed';

/** Turns tools as Composio lists them into manifests of kind `composio`; see {@link ComposioImporter}. */
export const importComposioTools: ComposioImporter = (tools, source = {}): ImportedTools => {
  const manifests = new Map<string, ToolManifest>();
  const skipped: { place: string; reason: string }[] = [];
  for (const [index, value] of tools.entries()) {
    const tool =
      index < TOOLS_MAX ? composioTool(value) : `there are more than ${TOOLS_MAX} tools; import them in parts`;
    if (typeof tool === 'string') {
      skipped.push({ place: `tool ${index}`, reason: tool });
      continue;
    }
    const manifest = manifestOf(tool, source);
    const holder = manifests.get(manifest.tool_id)?.executor.config?.['tool'];
    if (holder === undefined) {
      manifests.set(manifest.tool_id, manifest);
    } else {
      const reason = `The id ${manifest.tool_id} belongs to the tool ${JSON.stringify(holder)} of the same list.`;
      skipped.push({ place: tool.slug.slice(0, PLACE_CHARS_MAX), reason });
    }
  }
  return { source: source.name ?? COMPOSIO_SOURCE, manifests: [...manifests.values()], skipped };
};

function manifestOf(tool: ComposioTool, source: ComposioSource): ToolManifest {
  const { name = COMPOSIO_SOURCE, baseUrl = COMPOSIO_BASE_URL, secret = 'composio_api_key' } = source;
  const url = new URL(baseUrl);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const resultSchema = resultSchemaOf(tool.output);
  const { schema, binding } = fittingSchema(tool.parametersSchema);
  const own = tool.tags.includes('readOnlyHint') ? [READ_ONLY_CLAIMED] : [];
  const tags = [COMPOSIO_SOURCE, tool.toolkit, ...own, ...tool.tags].filter(
    (tag) => tag !== '' && tag.length <= TAG_CHARS_MAX,
  );
  return {
    tool_id: toolIdOf(name, tool.slug, source.isRegistered),
    tool_name: cutText(tool.name, NAME_CHARS_MAX),
    version: versionOf(tool.version),
    description: cutText(tool.description, DESCRIPTION_CHARS_MAX),
    category: 'external_api',
    tags: [...new Set(tags)].slice(0, TAGS_MAX),
    parameters_schema: schema,
    ...(resultSchema === undefined ? {} : { result_schema: resultSchema }),
    side_effect_policy: 'irreversible',
    permissions: { network: [{ host: url.hostname.replace(/^\[|\]$/g, ''), port }], credentials: [secret] },
    executor: {
      kind: 'composio',
      ...binding,
      config: {
        tool: tool.slug,
        ...(tool.version === undefined ? {} : { version: tool.version.slice(0, TAG_CHARS_MAX) }),
        base_url: baseUrl,
        secret,
        ...accountOf(tool, source),
      },
    },
  };
}

function accountOf({ noAuth }: ComposioTool, { connectedAccountId, userId, userFrom }: ComposioSource): object {
  if (noAuth) return { no_auth: true };
  const isNamed = connectedAccountId !== undefined || userId !== undefined;
  const from = userFrom ?? (isNamed ? undefined : 'agent');
  return {
    ...(connectedAccountId === undefined ? {} : { connected_account_id: connectedAccountId }),
    ...(userId === undefined ? {} : { user_id: userId }),
    ...(from === undefined ? {} : { user_from: from }),
  };
}

/** Composio's versions are a date and a number within the day, as 20250905_01. */
function versionOf(version: string | undefined): string {
  const dated = /^(\d{8})_(\d{1,4})$/.exec(version ?? '');
  return dated === null ? releaseOf(version ?? '') : `${Number(dated[1])}.${Number(dated[2])}.0`;
}
