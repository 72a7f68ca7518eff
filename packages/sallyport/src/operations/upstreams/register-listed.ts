import { setImmediate as othersWork } from 'node:timers/promises';
import { errorBody, type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { Registration } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { UpstreamTool } from '../../mcp-servers/quarantine.ts';
import { type Registered, TIMEOUT_CUT } from '../../registry/registry.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordMoves } from '../tools/move-tool.ts';
import { changeLevel, isOfSameTool, nextVersion, patchAfter, sameButVersion } from './next-version.ts';

/** A tool to be registered, with its previous version, if any. */
export interface Candidate {
  readonly manifest: ToolManifest;
  /** Version under which its accepted definition is registered. */
  readonly registered?: string | undefined;
}

/** Manifests that are registered before other work gets its turn. */
const BATCH = 50;
/** Versions tried for one tool, when removed versions occupy numbers. */
const TRIES_MAX = 32;

/** The result for each candidate, in order: the version that is registered now, or why there is none. */
export async function registerListed(
  { registry }: Pick<OperationParts, 'registry'>,
  { principal: { tenantId, agentDid } }: Asker,
  candidates: readonly Candidate[],
): Promise<readonly (Registered | Failure)[]> {
  const ends: (Registered | Failure)[] = [];
  for (let at = 0; at < candidates.length; at += BATCH) {
    const batch = candidates.slice(at, at + BATCH).map((candidate) => chosen(registry, tenantId, candidate));
    ends.push(...(await registerBatch(registry, tenantId, agentDid, batch)));
    await othersWork();
  }
  return ends;
}

/** Marks the versions of a registration, and those it retired, as recorded. */
export function noteRecorded({ registry }: Pick<OperationParts, 'registry'>, ends: readonly (Registered | Failure)[]) {
  const written = ends.flatMap((end) =>
    isFailure(end) || end.outcome !== 'created' ? [] : [end.version, ...end.retired],
  );
  return registry.recorded(written);
}

/**
 * Deprecates the version of an upstream's tool that was accepted before: it does not run any more, since it describes
 * what the server, or the operator, said before.
 */
export async function deprecateFormer(
  parts: Pick<OperationParts, 'registry' | 'quarantine' | 'ledger' | 'clock'>,
  asker: Asker,
  { tenantId, toolId, version }: UpstreamTool,
  reason: string,
): Promise<void> {
  const { registry, quarantine } = parts;
  const inFavorOf = quarantine.find(tenantId, toolId)?.version;
  const former = registry.versions(tenantId, toolId).find(({ manifest }) => manifest.version === version);
  if (version === undefined || former?.state !== 'active' || inFavorOf === undefined || inFavorOf === version) return;
  const by = asker.principal.agentDid;
  await recordMoves(
    parts,
    asker,
    await registry.move({ tenantId, toolId, version, to: 'deprecated', inFavorOf, by, reason }),
  );
}

/** The result as answers of operations show it. */
export function registrationOf(
  { tool_id, version }: Pick<ToolManifest, 'tool_id' | 'version'>,
  end: Registered | Failure,
) {
  const registration: Registration = isFailure(end)
    ? { tool_id, version, outcome: 'refused', warnings: [], error: { ...errorBody(end) } }
    : {
        tool_id,
        version: end.version.manifest.version,
        outcome: end.outcome,
        content_hash: end.version.contentHash,
        // Faults of the schemas concern the server, not the operator; the timeout is what the operator asked for.
        warnings: end.warnings.filter(({ code }) => code === TIMEOUT_CUT),
      };
  return registration;
}

type Registry = OperationParts['registry'];

/** The manifest under its version, an existing version with the same content, or a refusal. */
function chosen(
  registry: Registry,
  tenantId: string,
  { manifest, registered }: Candidate,
): ToolManifest | ToolVersion | Failure {
  const live = registry.versions(tenantId, manifest.tool_id);
  const foreign = live.find((version) => !isOfSameTool(version.manifest, manifest));
  if (foreign !== undefined) return taken(foreign.manifest);
  const before = live.find((version) => version.manifest.version === registered);
  if (before !== undefined && sameButVersion(before.manifest, manifest)) return before;
  return nextVersion(manifest, live, changeLevel((before ?? live[0])?.manifest, manifest));
}

async function registerBatch(
  registry: Registry,
  tenantId: string,
  by: string,
  batch: readonly (ToolManifest | ToolVersion | Failure)[],
): Promise<readonly (Registered | Failure)[]> {
  const ends = new Map<number, Registered | Failure>();
  let open = new Map<number, ToolManifest>();
  for (const [index, item] of batch.entries()) {
    if (isFailure(item)) ends.set(index, item);
    else if ('contentHash' in item) ends.set(index, { outcome: 'unchanged', version: item, warnings: [], retired: [] });
    else open.set(index, item);
  }
  for (let attempt = 0; open.size > 0; attempt += 1) {
    const answers = await registry.registerAll(tenantId, [...open.values()], by);
    const again = new Map<number, ToolManifest>();
    for (const [place, [index, manifest]] of [...open].entries()) {
      const answer = answers[place];
      if (answer === undefined) continue;
      // A removed version may occupy the number; the lists of live versions do not show it.
      const usedUp = isFailure(answer) && answer.code === 'E3007' && attempt < TRIES_MAX;
      if (usedUp) again.set(index, patchAfter(manifest));
      else ends.set(index, answer);
    }
    open = again;
  }
  return batch.map((_, index) => ends.get(index) ?? failure('E3900', 'The registry gave no answer.'));
}

function taken({ tool_id, executor }: ToolManifest): Failure {
  return failure(
    'E3007',
    `The id ${tool_id} belongs to another tool, of the kind ${executor.kind}. Remove that one, or add the upstream under another name.`,
    { details: { tool_id } },
  );
}
