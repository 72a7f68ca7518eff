import type { Role } from '../../../api/schemas/capability-token.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { Asker } from '../operation.ts';

/** Roles that keep tools, and so may read how they are run. */
const KEEPERS: readonly Role[] = ['viewer', 'operator', 'admin'];

const forAgents = new WeakMap<ToolManifest, ToolManifest>();

/**
 * A manifest as the asker may read it. How a tool is run — command lines, addresses, names of secrets — concerns those
 * who keep it, not an agent that calls it; nor does it help a model.
 */
export function shownManifest(manifest: ToolManifest, { principal: { roles } }: Asker): ToolManifest {
  if (manifest.executor.config === undefined || roles.some((role) => KEEPERS.includes(role))) return manifest;
  const known = forAgents.get(manifest);
  if (known !== undefined) return known;
  const shown = { ...manifest, executor: { kind: manifest.executor.kind } };
  forAgents.set(manifest, shown);
  return shown;
}
