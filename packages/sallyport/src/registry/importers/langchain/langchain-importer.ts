import type { SideEffectPolicy, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { fittingSchema } from '../../foreign/property-names/rename-properties.ts';
import { cutText, type IsRegistered, releaseOf, toolIdOf } from '../../foreign/tool-ids.ts';
import type { ImportedTools, LangChainImporter } from '../../importer.port.ts';
import { argumentSchema } from './argument-schema.ts';
import { type ForeignTool, foreignTool } from './foreign-tool.ts';

/** Default prefix of the tool ids. */
export const LANGCHAIN_SOURCE = 'langchain';
/** Most tools of one import; the rest is listed as skipped. */
const TOOLS_MAX = 5000;
const NAME_CHARS_MAX = 255;
const DESCRIPTION_CHARS_MAX = 65_536;
const TAGS_MAX = 64;
const TAG_CHARS_MAX = 64;

/** Options for all tools of one import. */
export interface LangChainOptions {
  /** Prefix of the tool ids; default `langchain`. */
  readonly name?: string;
  /** Version of tools that state none; default 1.0.0. */
  readonly version?: string;
  /** True when a tool is registered under an id; it then keeps that id. */
  readonly isRegistered?: IsRegistered;
  /** Side effect of a call; default irreversible, since a LangChain tool does not state it. */
  readonly sideEffect?: SideEffectPolicy;
}

/** One tool with its manifest; the tool itself is kept for callers that can run it. */
export interface LangChainTool {
  readonly manifest: ToolManifest;
  readonly value: unknown;
  readonly foreign: ForeignTool;
  /** True when the tool takes the value of the single argument, not the object. */
  readonly single: boolean;
}

/**
 * Turns serialised LangChain tools into manifests of kind `native`: a list, an object with the list under `tools`, tools
 * by name, or one tool; also in OpenAI's form and in LangChain's own. The function of each is bound by a program.
 */
export const importLangChain: LangChainImporter = (given, options = {}): ImportedTools => {
  const { tools, skipped } = langChainTools(listOf(given), options);
  return { source: options.name ?? LANGCHAIN_SOURCE, manifests: tools.map(({ manifest }) => manifest), skipped };
};

type Listed = readonly [nameGiven: string | undefined, value: unknown];
type Skipped = ImportedTools['skipped'][number];

/**
 * Manifests for tools, objects or JSON. Of two tools with one id the first keeps it and the other is skipped, so that a
 * name never leads to another tool; different classes distinguish tools of one name.
 */
export function langChainTools(
  listed: readonly Listed[],
  options: LangChainOptions,
): { readonly tools: readonly LangChainTool[]; readonly skipped: readonly Skipped[] } {
  const skipped: Skipped[] = listed.slice(TOOLS_MAX).map((_, index) => ({
    place: `tool ${TOOLS_MAX + index}`,
    reason: `there are more than ${TOOLS_MAX} tools; import them in parts`,
  }));
  const read = listed
    .slice(0, TOOLS_MAX)
    .map(([name, value], index) => ({ index, value, tool: readTool(value, name) }));
  const idOf = idsFor(
    read.map(({ tool }) => tool),
    options.name ?? LANGCHAIN_SOURCE,
    options.isRegistered,
  );
  const tools = new Map<string, LangChainTool>();
  for (const { index, value, tool } of read) {
    const made = typeof tool === 'string' ? tool : manifestOf(tool, idOf(tool), options);
    if (typeof tool === 'string' || typeof made === 'string')
      skipped.push({ place: placeOf(index, tool), reason: String(made) });
    else if (tools.has(made.manifest.tool_id))
      skipped.push({ place: placeOf(index, tool), reason: takenBy(tools, made) });
    else tools.set(made.manifest.tool_id, { ...made, value, foreign: tool });
  }
  return { tools: [...tools.values()], skipped };
}

/** A getter of a foreign object may throw. */
function readTool(value: unknown, name: string | undefined): ForeignTool | string {
  try {
    return foreignTool(value, name);
  } catch {
    return 'one of its members cannot be read';
  }
}

/** Tools with the same id get their class, if any, before the name. */
function idsFor(
  tools: readonly (ForeignTool | string)[],
  source: string,
  isRegistered: IsRegistered | undefined,
): (tool: ForeignTool) => string {
  const idFor = (name: string): string => toolIdOf(source, name, isRegistered);
  const counts = new Map<string, number>();
  for (const tool of tools) {
    if (typeof tool === 'string') continue;
    const id = idFor(tool.name);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return (tool) => {
    const id = idFor(tool.name);
    const alone = counts.get(id) === 1 || tool.className === undefined;
    return alone ? id : idFor(`${tool.className}_${tool.name}`);
  };
}

function manifestOf(
  tool: ForeignTool,
  toolId: string,
  { version, sideEffect = 'irreversible' }: LangChainOptions,
): Omit<LangChainTool, 'value' | 'foreign'> | string {
  const derived = argumentSchema(tool.schema);
  if (!('schema' in derived)) {
    const [first] = derived;
    return `its schema cannot be used: ${first?.path === '' ? 'it' : first?.path} ${first?.message}`;
  }
  const tags = [...new Set(['langchain', ...tool.tags])]
    .filter((tag) => tag.length <= TAG_CHARS_MAX)
    .slice(0, TAGS_MAX);
  const { schema, binding } = fittingSchema(derived.schema);
  const manifest: ToolManifest = {
    tool_id: toolId,
    tool_name: cutText(tool.name, NAME_CHARS_MAX),
    version: tool.version === undefined ? (version ?? '1.0.0') : releaseOf(tool.version),
    description: cutText(tool.description.trim(), DESCRIPTION_CHARS_MAX),
    tags,
    parameters_schema: schema,
    ...(tool.withArtifact ? { result_schema: CONTENT_AND_ARTIFACT } : {}),
    side_effect_policy: sideEffect,
    executor: { kind: 'native', ...binding },
  };
  return { manifest, single: derived.single };
}

/** Result schema of a tool that answers with a text for the model and a separate value. */
const CONTENT_AND_ARTIFACT = {
  type: 'object',
  properties: { content: { description: 'For the model.' }, artifact: { description: 'For the program.' } },
  required: ['content'],
} as const;

function listOf(given: unknown): Listed[] {
  if (Array.isArray(given)) return given.map((value) => [undefined, value]);
  if (typeof given !== 'object' || given === null) return [];
  const { tools } = given as { tools?: unknown };
  if (Array.isArray(tools)) return listOf(tools);
  const isOne = 'function' in given || 'kwargs' in given || typeof (given as { name?: unknown }).name === 'string';
  return isOne ? [[undefined, given]] : Object.entries(given);
}

const placeOf = (index: number, tool: ForeignTool | string): string =>
  typeof tool === 'string' ? `tool ${index}` : `tool ${index} (${tool.name.slice(0, 200)})`;

function takenBy(tools: ReadonlyMap<string, LangChainTool>, { manifest }: { manifest: ToolManifest }): string {
  const holder = JSON.stringify(tools.get(manifest.tool_id)?.foreign.name.slice(0, 200));
  return `The id ${manifest.tool_id} belongs to the tool ${holder} of the same list; rename one of the two.`;
}
