import type { Role } from '../../../api/schemas/capability-token.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { MCP_RESULT } from '../../domain/tool/call-result.ts';
import { LISTED_MEMBERS } from '../../domain/tool/listed-members.ts';
import type { Asker } from '../operation.ts';

/** Roles that manage tools, and so may read how they are run. */
const KEEPERS: readonly Role[] = ['viewer', 'operator', 'admin'];

/** Members of a configuration that concern who calls the tool: what a server lists of it, and the form of its results. */
const PUBLIC: Partial<Record<ToolManifest['executor']['kind'], readonly string[]>> = {
  mcp: LISTED_MEMBERS,
  native: [MCP_RESULT],
};

const forAgents = new WeakMap<ToolManifest, ToolManifest>();

/**
 * A manifest as the asker may read it. How a tool is run — command lines, addresses, names of secrets — concerns those
 * who manage it, not an agent that calls it; it does not help a model either. What an MCP server lists of its tool is
 * public, and so is the form of a function's results.
 */
export function shownManifest(manifest: ToolManifest, { principal: { roles } }: Asker): ToolManifest {
  if (manifest.executor.config === undefined || roles.some((role) => KEEPERS.includes(role))) return manifest;
  const known = forAgents.get(manifest);
  if (known !== undefined) return known;
  const shown = { ...manifest, executor: shownExecutor(manifest.executor) };
  forAgents.set(manifest, shown);
  return shown;
}

function shownExecutor({ kind, config = {} }: ToolManifest['executor']): ToolManifest['executor'] {
  const listed = (PUBLIC[kind] ?? []).filter((member) => config[member] !== undefined);
  if (listed.length === 0) return { kind };
  return { kind, config: Object.fromEntries(listed.map((member) => [member, config[member]])) };
}
