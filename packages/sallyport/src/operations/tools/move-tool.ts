import {
  ToolDeprecateRequest,
  ToolLifecycleResponse,
  ToolRemoveRequest,
  ToolRemoveResponse,
  ToolRestoreRequest,
  ToolSunsetRequest,
} from '../../../api/schemas/registry/tool-lifecycle.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { MoveDetails, VersionMove } from '../../registry/registry.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { ownedId } from '../upstreams/owned-id.ts';
import { historyEntry } from './history-entry.ts';
import { recordChange } from './registry-event.ts';

type Parts = Pick<OperationParts, 'registry' | 'ledger' | 'clock'>;

/** Deprecates versions: calls still run, with a warning that names the replacement (REG-04). */
export const deprecateTool = operation({
  name: 'tools.deprecate',
  summary: 'Deprecate one version of a tool, or every active one',
  method: 'POST',
  path: '/v1/tools/{tool_id}/deprecation',
  status: 200,
  access: 'operator',
  input: ToolDeprecateRequest,
  output: ToolLifecycleResponse,
  run:
    (parts: Parts) =>
    async ({ tool_id, version, in_favor_of, migration_guide, reason }, asker) => {
      const said = {
        ...(in_favor_of === undefined ? {} : { inFavorOf: in_favor_of }),
        ...(migration_guide === undefined ? {} : { migrationGuide: migration_guide }),
      };
      return answer(
        parts,
        tool_id,
        await move(parts, asker, { toolId: tool_id, version, to: 'deprecated', reason, ...said }),
      );
    },
});

/** Announces the end of deprecated versions. */
export const sunsetTool = operation({
  name: 'tools.sunset',
  summary: 'Announce the end of one deprecated version, or of every one',
  method: 'POST',
  path: '/v1/tools/{tool_id}/sunset',
  status: 200,
  access: 'operator',
  input: ToolSunsetRequest,
  output: ToolLifecycleResponse,
  run:
    (parts: Parts) =>
    async ({ tool_id, version, reason }, asker) =>
      answer(parts, tool_id, await move(parts, asker, { toolId: tool_id, version, to: 'sunset', reason })),
});

/** Makes one version active again, unless its id was taken by an upstream meanwhile. */
export const restoreTool = operation({
  name: 'tools.restore',
  summary: 'Make a version active again, a removed one too',
  method: 'POST',
  path: '/v1/tools/{tool_id}/restoration',
  status: 200,
  access: 'operator',
  input: ToolRestoreRequest,
  output: ToolLifecycleResponse,
  run:
    (parts: Parts & Pick<OperationParts, 'quarantine'>) =>
    async ({ tool_id, version, reason }, asker) => {
      const history = await parts.registry.history(asker.principal.tenantId, tool_id);
      const former = history.find((entry) => entry.version.manifest.version === version);
      const owned = ownedId(parts, asker, former?.version.manifest);
      return (
        owned ?? answer(parts, tool_id, await move(parts, asker, { toolId: tool_id, version, to: 'active', reason }))
      );
    },
});

/** Removes versions whose notice period is over, or any version by force; running calls continue. */
export const removeTool = operation({
  name: 'tools.remove',
  summary: 'Remove one version of a tool, or all',
  method: 'DELETE',
  path: '/v1/tools/{tool_id}',
  status: 200,
  access: 'operator',
  input: ToolRemoveRequest,
  output: ToolRemoveResponse,
  run:
    (parts: Parts) =>
    async ({ tool_id, version, force = false, reason }, asker) => {
      const removed = await move(parts, asker, { toolId: tool_id, version, to: 'removed', reason, force });
      return { tool_id, removed: removed.map(({ manifest }) => manifest.version) };
    },
});

interface Wanted extends Omit<MoveDetails, 'by' | 'reason'>, Pick<VersionMove, 'toolId' | 'to'> {
  readonly version: string | undefined;
  readonly reason: string | undefined;
}

/** Moves versions to a state and audits that. */
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

/** One event for all versions of a tool that changed to the same state. */
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
