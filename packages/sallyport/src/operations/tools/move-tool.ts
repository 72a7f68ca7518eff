import type { ToolLifecycleResponse } from '../../../api/schemas/registry/tool-lifecycle.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { MoveDetails, VersionMove } from '../../registry/registry.ts';
import type { Run } from '../catalogue/run.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../registry-event.ts';
import { ownedId } from '../upstreams/owned-id.ts';
import { historyEntry } from './history-entry.ts';

type Parts = Pick<OperationParts, 'registry' | 'ledger' | 'clock'>;

/** Deprecates versions: calls go on, with a warning that says what to use instead (REG-04). */
export function deprecateTool(parts: Parts): Run<'tools.deprecate'> {
  return async ({ tool_id, version, in_favor_of, migration_guide, reason }, asker) => {
    const said = {
      ...(in_favor_of === undefined ? {} : { inFavorOf: in_favor_of }),
      ...(migration_guide === undefined ? {} : { migrationGuide: migration_guide }),
    };
    return answer(
      parts,
      tool_id,
      await move(parts, asker, { toolId: tool_id, version, to: 'deprecated', reason, ...said }),
    );
  };
}

/** Says that deprecated versions end soon. */
export function sunsetTool(parts: Parts): Run<'tools.sunset'> {
  return async ({ tool_id, version, reason }, asker) =>
    answer(parts, tool_id, await move(parts, asker, { toolId: tool_id, version, to: 'sunset', reason }));
}

/** Makes one version active again, unless its id went to an upstream meanwhile. */
export function restoreTool(parts: Parts & Pick<OperationParts, 'quarantine'>): Run<'tools.restore'> {
  return async ({ tool_id, version, reason }, asker) => {
    const history = await parts.registry.history(asker.principal.tenantId, tool_id);
    const former = history.find((entry) => entry.version.manifest.version === version);
    const owned = ownedId(parts, asker, former?.version.manifest);
    return (
      owned ?? answer(parts, tool_id, await move(parts, asker, { toolId: tool_id, version, to: 'active', reason }))
    );
  };
}

/** Removes versions whose days of warning are over, or by force any; calls that run go on. */
export function removeTool(parts: Parts): Run<'tools.remove'> {
  return async ({ tool_id, version, force = false, reason }, asker) => {
    const removed = await move(parts, asker, { toolId: tool_id, version, to: 'removed', reason, force });
    return { tool_id, removed: removed.map(({ manifest }) => manifest.version) };
  };
}

interface Wanted extends Omit<MoveDetails, 'by' | 'reason'>, Pick<VersionMove, 'toolId' | 'to'> {
  readonly version: string | undefined;
  readonly reason: string | undefined;
}

/** Moves versions and puts that on record. */
async function move(parts: Parts, asker: Asker, wanted: Wanted): Promise<readonly ToolVersion[]> {
  const { version, reason, ...others } = wanted;
  const { tenantId, agentDid } = asker.principal;
  const moved = await parts.registry.move({
    tenantId,
    by: agentDid,
    ...others,
    ...(version === undefined ? {} : { version }),
    ...(reason === undefined ? {} : { reason }),
  });
  await recordMoves(parts, asker, moved, wanted.force === true ? { forced: true } : {});
  return moved;
}

/** One event for the versions of a tool that went to the same state. */
export async function recordMoves(
  parts: Pick<Parts, 'ledger' | 'clock' | 'registry'>,
  asker: Asker,
  moved: readonly ToolVersion[],
  more: Record<string, unknown> = {},
): Promise<void> {
  for (const [state, versions] of Map.groupBy(moved, (version) => version.state)) {
    const [first] = versions;
    if (first === undefined) continue;
    const { tool_id } = first.manifest;
    const reason = first.stateChanges?.at(-1)?.reason;
    await recordChange(parts, asker, tool_id, {
      change: state === 'active' ? 'restored' : state,
      tool_id,
      versions: versions.map(({ manifest }) => manifest.version),
      ...(reason === undefined ? {} : { reason }),
      ...(first.deprecatedInFavorOf === undefined ? {} : { deprecated_in_favor_of: first.deprecatedInFavorOf }),
      ...more,
    });
  }
  await parts.registry.recorded(moved);
}

async function answer(
  { registry }: Parts,
  toolId: string,
  moved: readonly ToolVersion[],
): Promise<ToolLifecycleResponse> {
  const [first] = moved;
  const history = first === undefined ? [] : await registry.history(first.tenantId, toolId);
  const versions = new Set(moved.map(({ manifest }) => manifest.version));
  const shown = history.filter(({ version }) => versions.has(version.manifest.version));
  return { tool_id: toolId, versions: shown.map(historyEntry) };
}
