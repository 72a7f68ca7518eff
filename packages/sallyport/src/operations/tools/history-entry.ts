import type { ToolHistoryEntry } from '../../../api/schemas/registry/tool-lifecycle.ts';
import type { HistoryEntry } from '../../registry/registry.ts';

/** One version with its state and use, as the wire has it. */
export function historyEntry({ version, inUse, lastUsedAt }: HistoryEntry): ToolHistoryEntry {
  const { manifest, registeredBy, deprecatedAt, removableAt, deprecatedInFavorOf } = version;
  const guide = version.migrationGuide ?? manifest.migration_guide;
  return {
    version: manifest.version,
    state: version.state,
    content_hash: version.contentHash,
    registered_at: version.registeredAt,
    ...(registeredBy === undefined ? {} : { registered_by: registeredBy }),
    ...(deprecatedAt === undefined ? {} : { deprecated_at: deprecatedAt }),
    ...(removableAt === undefined ? {} : { removable_at: removableAt }),
    ...(deprecatedInFavorOf === undefined ? {} : { deprecated_in_favor_of: deprecatedInFavorOf }),
    ...(guide === undefined ? {} : { migration_guide: guide }),
    ...(lastUsedAt === undefined ? {} : { last_used_at: lastUsedAt }),
    in_use: inUse,
    ...(manifest.release_notes === undefined ? {} : { release_notes: manifest.release_notes }),
    changes: [...(version.stateChanges ?? [])],
  };
}
