import { compareBuild } from 'semver';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import { versionsOf } from '../catalogue.ts';
import type { RegistryState } from './registry-state.ts';
import { isInUse } from './retire-versions.ts';

/** One version with its history. */
export interface HistoryEntry {
  readonly version: ToolVersion;
  /** Called lately, or referred to: not retired automatically. */
  readonly inUse: boolean;
  /** ISO 8601, as far as any instance noted it. */
  readonly lastUsedAt?: string;
}

/** Every version of a tool, newest first. */
export async function historyOf(
  state: RegistryState,
  tenantId: string,
  toolId: string,
): Promise<readonly HistoryEntry[]> {
  const set = versionsOf(state.catalogue, tenantId, toolId);
  if (set === undefined) return [];
  const stored = await state.store.lastUses(tenantId, toolId);
  return [...set.byVersion.values()]
    .sort((a, b) => compareBuild(b.manifest.version, a.manifest.version))
    .map((version) => {
      const here = state.uses.lastUse(version);
      const noted = [
        stored.get(version.manifest.version),
        here === undefined ? undefined : new Date(here).toISOString(),
      ];
      const lastUsedAt = noted
        .filter((at) => at !== undefined)
        .sort()
        .at(-1);
      const inUse = isInUse(state, set, version, stored);
      return { version, inUse, ...(lastUsedAt === undefined ? {} : { lastUsedAt }) };
    });
}
