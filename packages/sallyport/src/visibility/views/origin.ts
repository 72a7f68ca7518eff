import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';

/** Source of tools that come from no upstream and no import. */
const LOCAL = 'local';

/** Source of a tool, and its name there. */
export interface Origin {
  readonly source: string;
  /** The source's own name: for an MCP server any characters are possible. */
  readonly tool: string;
  /** The id without the prefix of the source. */
  readonly bareName: string;
}

/**
 * The origin that rules of a view match. A tool of an MCP server is identified by the server that answers its calls,
 * whatever its id says, so no id can imitate another server's tool. For other tools the prefix of the id names the
 * source.
 */
export function originOf(tool: ToolVersion): Origin {
  const known = origins.get(tool);
  if (known !== undefined) return known;
  const origin = workOut(tool);
  origins.set(tool, origin);
  return origin;
}

/** A version never changes, and views are resolved again after changes of others. */
const origins = new WeakMap<ToolVersion, Origin>();

function workOut({ manifest }: ToolVersion): Origin {
  const split = manifest.tool_id.indexOf('__');
  const prefix = split > 0 ? manifest.tool_id.slice(0, split) : undefined;
  const bareName = prefix === undefined ? manifest.tool_id : manifest.tool_id.slice(split + 2);
  const own = ofServer(manifest) ?? { source: prefix, tool: bareName };
  return { source: own.source === undefined ? LOCAL : named(own.source), tool: own.tool, bareName };
}

function ofServer({ executor }: ToolManifest): { source: string; tool: string } | undefined {
  const { upstream, tool } = (executor.kind === 'mcp' ? executor.config : undefined) ?? {};
  return typeof upstream === 'string' && typeof tool === 'string' ? { source: upstream, tool } : undefined;
}

/** An upstream called `local` is not the source `local`. */
const named = (source: string): string => (source === LOCAL ? `${LOCAL}__` : source);

/** Tools by source, each in the order given. */
export function bySource(tools: readonly ToolVersion[]): ReadonlyMap<string, readonly Sourced[]> {
  const sources = new Map<string, Sourced[]>();
  for (const tool of tools) {
    const origin = originOf(tool);
    const known = sources.get(origin.source);
    if (known === undefined) sources.set(origin.source, [{ origin, tool }]);
    else known.push({ origin, tool });
  }
  return sources;
}

/** A tool with where it comes from. */
export interface Sourced {
  readonly origin: Origin;
  readonly tool: ToolVersion;
}
