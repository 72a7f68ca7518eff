import type { TaskSupport, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { givesCallResult } from '../../../domain/tool/call-result.ts';
import { isServerMethod } from '../../../domain/tool/server-methods.ts';
import { serverToolOf } from '../../../domain/tool/server-tool.ts';
import { taskSupportOf } from '../../../domain/tool/task-support.ts';
import type { ServerUri } from '../servers/qualified-uri.ts';
import { READ_OVERFLOW } from './meta/read-overflow.ts';
import { type PageEntry, type Pages, pagesOf } from './pages.ts';
import { isForAppsOnly, withUiUri } from './tool-ui.ts';
import { toolView } from './tool-view.ts';

/** Tools as they are listed to clients with and without user interfaces of tools (MCP Apps). */
export interface ListedTools {
  /** @param showsUi the client shows such interfaces; others do not see the tools that only an interface calls */
  pages(showsUi: boolean): Pages;
}

/** The tools of one upstream, under the names that its server gives them. */
export interface ServerTools extends ListedTools {
  /** By the server's name. */
  readonly toolIds: ReadonlyMap<string, string>;
}

/** What a call has to know of its tool. */
export interface ToolFacts {
  /** Whether its results are CallToolResults of MCP. */
  readonly givesCallResult: boolean;
  /** Whether calls may, or must, be tasks; undefined when the tool does not say. */
  readonly taskSupport: TaskSupport | undefined;
}

/** The tools that one token may see. */
export interface ToolList extends ListedTools {
  /** By id. */
  readonly facts: ReadonlyMap<string, ToolFacts>;
  /** The tools of an upstream; undefined when the token sees none of it. */
  ofServer(upstream: string): ServerTools | undefined;
}

/** The layer's own tools for other requests of servers are left out: clients see resources and prompts instead. */
export function toolListOf(
  manifests: readonly ToolManifest[],
  { pageSize, shownUri, hasTasks, listsOverflow }: Listing,
): ToolList {
  const withOverflow = (of: readonly ToolManifest[], entries: readonly ToolEntry[]): readonly ToolEntry[] =>
    listsOverflow || of.some(cutsSooner) ? [...entries, OVERFLOW_ENTRY] : entries;
  const tools = manifests.filter((manifest) => !isServerMethod(serverToolOf(manifest)?.tool));
  const servers = new Map<string, ServerTools>();
  const qualified = tools.map((manifest) => {
    const upstream = serverToolOf(manifest)?.upstream;
    const shown = upstream === undefined ? manifest : withUiUri(manifest, (uri) => shownUri({ upstream, uri }));
    return entryOf(shown, manifest.tool_id, hasTasks);
  });
  return {
    pages: listedTools(withOverflow(manifests, qualified), pageSize),
    facts: new Map(tools.map((manifest) => [manifest.tool_id, factsIn(manifest)])),
    ofServer(upstream) {
      const known = servers.get(upstream);
      if (known !== undefined) return known;
      const own = manifests.filter((manifest) => serverToolOf(manifest)?.upstream === upstream);
      if (own.length === 0) return undefined;
      const named = own.map((manifest) => [String(serverToolOf(manifest)?.tool), manifest] as const);
      const listed = named
        .filter(([name]) => !isServerMethod(name))
        .map(([name, manifest]) => entryOf(manifest, name, hasTasks));
      const toolIds = new Map(named.map(([name, manifest]) => [name, manifest.tool_id]));
      const made = { pages: listedTools(withOverflow(own, listed), pageSize), toolIds };
      servers.set(upstream, made);
      return made;
    },
  };
}

/** How a list is made. */
interface Listing {
  readonly pageSize: number;
  /** How the URI of an upstream's resource is shown beside those of others. */
  readonly shownUri: (of: ServerUri) => string;
  /** Clients may ask for tasks. */
  readonly hasTasks: boolean;
  /** The settings have results shortened, so that `read_overflow` is listed. */
  readonly listsOverflow: boolean;
}

/** True for a tool whose results are cut sooner than those of others. */
const cutsSooner = ({ execution_config: config }: ToolManifest): boolean =>
  config?.output_bytes_max !== undefined || (config?.output_tokens_max ?? 0) > 0;

/** Of two tools of that name the registered one, which comes before it, is listed. */
const OVERFLOW_ENTRY: ToolEntry = { key: READ_OVERFLOW.name, isForAppsOnly: false, view: () => READ_OVERFLOW };

interface ToolEntry extends PageEntry {
  readonly isForAppsOnly: boolean;
}

function entryOf(manifest: ToolManifest, name: string, hasTasks: boolean): ToolEntry {
  return {
    key: name,
    isForAppsOnly: isForAppsOnly(manifest),
    view: (era) => toolView(manifest, era, hasTasks, name),
  };
}

function listedTools(entries: readonly ToolEntry[], pageSize: number): ListedTools['pages'] {
  const all = pagesOf('tools', entries, pageSize);
  const forModels = entries.filter((entry) => !entry.isForAppsOnly);
  const fewer = forModels.length === entries.length ? all : pagesOf('tools', forModels, pageSize);
  return (showsUi) => (showsUi ? all : fewer);
}

/**
 * False for the layer's own tools for other requests of servers, and for tools that only a user interface calls: a
 * model is not shown them.
 */
export function isForModels(manifest: ToolManifest): boolean {
  return !isForAppsOnly(manifest) && !isServerMethod(serverToolOf(manifest)?.tool);
}

/** The facts of a tool, from its manifest. */
export const factsIn = (manifest: ToolManifest): ToolFacts => ({
  givesCallResult: givesCallResult(manifest),
  taskSupport: taskSupportOf(manifest),
});
