import type { Role } from '../../../api/schemas/capability-token.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { LISTED_MEMBERS } from '../../domain/tool/listed-members.ts';
import type { Asker } from '../operation.ts';

/** Members of an MCP tool's configuration that every caller may read: they are its server's name and listing. */
const PUBLIC_MEMBERS = ['upstream', 'tool', ...LISTED_MEMBERS];
/** Roles that manage tools, and so may read how they are run. */
const KEEPERS: readonly Role[] = ['viewer', 'operator', 'admin'];

const forAgents = new WeakMap<ToolManifest, ToolManifest>();

/**
 * A manifest as the asker may read it. How a tool is run — command lines, addresses, names of secrets — concerns those
 * who manage it, not an agent that calls it; it does not help a model either. What an MCP server lists of its tool is
 * public.
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
  const listed = kind === 'mcp' ? PUBLIC_MEMBERS.filter((member) => config[member] !== undefined) : [];
  if (listed.length === 0) return { kind };
  return { kind, config: Object.fromEntries(listed.map((member) => [member, config[member]])) };
}
