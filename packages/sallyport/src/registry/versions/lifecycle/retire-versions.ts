import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import { versionsOf } from '../catalogue.ts';
import { newestOf, type VersionSet } from '../version-set.ts';
import { step } from './move-version.ts';
import type { RegistryState } from './registry-state.ts';
import { DAY_MS } from './retention.ts';

/** Retired versions, in their new state. */
export interface Retired {
  readonly versions: readonly ToolVersion[];
  readonly warnings: readonly Warning[];
}

const NOBODY: Retired = { versions: [], warnings: [] };

/**
 * Retires the oldest versions of a tool that has too many (REG-04). An active one becomes deprecated; a deprecated one
 * is removed after its notice period. Versions in use stay, and so does the newest.
 * @param registered version that was just registered; it stays
 */
export async function retireVersions(
  state: RegistryState,
  tenantId: string,
  toolId: string,
  registered: string,
): Promise<Retired> {
  const set = versionsOf(state.catalogue, tenantId, toolId);
  const excess = (set?.live.length ?? 0) - state.retention.versionsPerToolMax;
  if (set === undefined || excess <= 0) return NOBODY;
  const lastUses = await state.store.lastUses(tenantId, toolId);
  const newest = newestOf(set);
  const leaving = set.live
    .toReversed()
    .filter((one) => one !== newest && one.manifest.version !== registered && !isInUse(state, set, one, lastUses))
    .slice(0, excess);
  const inFavorOf = newest?.manifest.version;
  const moved = await Promise.all(leaving.map((version) => leave(state, set, version, inFavorOf)));
  if (!moved.includes(true)) return NOBODY;
  await state.refresh();
  const now = versionsOf(state.catalogue, tenantId, toolId);
  const versions = leaving
    .filter((_, at) => moved[at])
    .map(({ manifest }) => now?.byVersion.get(manifest.version))
    .filter((version) => version !== undefined);
  return { versions, warnings: versions.map((version) => retirement(state, version)) };
}

/**
 * True when a version was called lately, or another names it as its successor. Calls are shorter than the
 * window, so running ones count.
 */
export function isInUse(
  { uses, clock, retention }: RegistryState,
  set: VersionSet,
  version: ToolVersion,
  lastUses: ReadonlyMap<string, string>,
): boolean {
  const { version: number } = version.manifest;
  const noted = Date.parse(lastUses.get(number) ?? '');
  const last = Math.max(uses.lastUse(version) ?? 0, Number.isNaN(noted) ? 0 : noted);
  if (clock.now() - last < retention.inUseDays * DAY_MS) return true;
  return set.live.some((other) => other.deprecatedInFavorOf === number);
}

/** One step of the retirement. False when it is too early, or another instance moved the version. */
function leave(
  state: RegistryState,
  set: VersionSet,
  version: ToolVersion,
  inFavorOf: string | undefined,
): Promise<boolean> | false {
  const reason = `More than ${state.retention.versionsPerToolMax} versions`;
  if (version.state === 'active') {
    const isOnly = set.live.every((other) => other === version || other.state !== 'active');
    return isOnly
      ? false
      : step(state, version, 'deprecated', inFavorOf === undefined ? { reason } : { reason, inFavorOf });
  }
  const isOver = Date.parse(version.removableAt ?? '') <= state.clock.now();
  return isOver ? step(state, version, 'removed', { reason }) : false;
}

function retirement({ retention }: RegistryState, { manifest, state, removableAt }: ToolVersion): Warning {
  const { tool_id, version } = manifest;
  const when = state === 'removed' ? 'after its days of warning' : `and can be removed from ${removableAt} on`;
  return {
    code: 'version_retired',
    message: `${tool_id} has more than ${retention.versionsPerToolMax} versions: ${version} is ${state} ${when}.`,
    details: { version, state, ...(removableAt === undefined ? {} : { removable_at: removableAt }) },
  };
}
