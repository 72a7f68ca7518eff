import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { contentHash, type ToolVersion } from '../../../domain/tool/tool-version.ts';
import { checkManifest } from '../../manifests/check-manifest.ts';
import { versionBelow, versionsOf } from '../catalogue.ts';
import { dependencyJudge } from './judge-dependencies.ts';
import { manifestWarnings } from './manifest-warnings.ts';
import { step } from './move-version.ts';
import { checksOf, type RegistryState } from './registry-state.ts';
import { retireVersions } from './retire-versions.ts';

/** Most manifests that one bulk registration takes; more are refused with E3810. */
export const BATCH_MANIFESTS_MAX = 20_000;

/** A successful registration. `unchanged`: the same content existed already and nothing was written. */
export interface Registered {
  readonly outcome: 'created' | 'unchanged';
  readonly version: ToolVersion;
  /** Warnings for the caller: a count of gaps in the schemas, a too small version step, retired versions. */
  readonly warnings: readonly Warning[];
  /** Versions of this tool that were retired for this one, in their new state; to be recorded. */
  readonly retired: readonly ToolVersion[];
}

type Inserted = 'created' | 'unchanged' | 'conflict';

/** A valid manifest, with its warnings. */
interface Candidate {
  readonly version: ToolVersion;
  readonly warnings: readonly Warning[];
}

/** Registers many; results in the order of the input. */
export async function registerVersions(
  state: RegistryState,
  tenantId: string,
  manifests: readonly unknown[],
  by?: string,
): Promise<readonly (Registered | Failure)[]> {
  if (manifests.length > BATCH_MANIFESTS_MAX) throw tooMany(manifests.length);
  const judged = judgeAll(state, tenantId, manifests, by);
  const candidates = judged.filter((one): one is Candidate => !isFailure(one));
  const outcomes = await insert(
    state,
    candidates.map(({ version }) => version),
  );
  const settled = await settleAll(state, candidates, outcomes);
  let next = 0;
  return judged.map((one) => (isFailure(one) ? one : (settled[next++] ?? conflict(one.version.manifest))));
}

function judgeAll(
  state: RegistryState,
  tenantId: string,
  manifests: readonly unknown[],
  by: string | undefined,
): readonly (Candidate | Failure)[] {
  const checked = manifests.map((manifest) => checkManifest(manifest, checksOf(state, tenantId)));
  const sound = checked.filter((one): one is ToolManifest => !isFailure(one));
  const dependencies = dependencyJudge(state.catalogue.get(tenantId), sound);
  return checked.map((manifest) => {
    if (isFailure(manifest)) return manifest;
    const warnings = dependencies.judge(manifest);
    return isFailure(warnings) ? warnings : { version: versionOf(state, tenantId, manifest, by), warnings };
  });
}

const versionOf = (
  { clock }: RegistryState,
  tenantId: string,
  manifest: ToolManifest,
  by: string | undefined,
): ToolVersion => ({
  tenantId,
  manifest,
  contentHash: contentHash(manifest),
  state: 'active',
  registeredAt: new Date(clock.now()).toISOString(),
  ...(by === undefined ? {} : { registeredBy: by }),
});

async function insert({ store }: RegistryState, versions: readonly ToolVersion[]): Promise<readonly Inserted[]> {
  const [only] = versions;
  if (only === undefined) return [];
  return versions.length === 1 ? [await store.insert(only)] : await store.insertAll(versions);
}

/** Updates memory from the store, restores removed versions, and retires the oldest ones. */
async function settleAll(
  state: RegistryState,
  candidates: readonly Candidate[],
  outcomes: readonly Inserted[],
): Promise<readonly (Registered | Failure)[]> {
  // Also when nothing was new: another instance may have moved a version that memory considers unchanged.
  if (candidates.length > 0) await state.refresh();
  const isBack = await restoreAll(state, candidates, outcomes);
  const answers: (Registered | Failure)[] = [];
  for (const [at, { version, warnings }] of candidates.entries()) {
    const stands = known(state, version) ?? version;
    if (outcomes[at] === 'created') answers.push(await created(state, stands, warnings));
    else if (outcomes[at] !== 'unchanged') answers.push(conflict(version.manifest));
    else {
      const outcome = isBack.has(at) ? 'created' : 'unchanged';
      answers.push({ outcome, version: stands, warnings: [], retired: [] });
    }
  }
  return answers;
}

/** A removed version is restored when the same content is registered again. Returns the indexes of those. */
async function restoreAll(
  state: RegistryState,
  candidates: readonly Candidate[],
  outcomes: readonly Inserted[],
): Promise<ReadonlySet<number>> {
  const back = new Set<number>();
  for (const [at, { version }] of candidates.entries()) {
    const held = known(state, version);
    if (outcomes[at] !== 'unchanged' || held?.state !== 'removed') continue;
    const by = version.registeredBy === undefined ? {} : { by: version.registeredBy };
    if (await step(state, held, 'active', { reason: 'Registered again', ...by })) back.add(at);
  }
  if (back.size > 0) await state.refresh();
  return back;
}

async function created(state: RegistryState, version: ToolVersion, warnings: readonly Warning[]): Promise<Registered> {
  const { tenantId, manifest } = version;
  const before = versionBelow(state.catalogue, tenantId, manifest);
  const retired = await retireVersions(state, tenantId, manifest.tool_id, manifest.version);
  return {
    outcome: 'created',
    version,
    warnings: [
      ...warnings,
      ...manifestWarnings(manifest, before?.manifest, state.timeoutSecondsMax),
      ...retired.warnings,
    ],
    retired: retired.versions,
  };
}

const known = ({ catalogue }: RegistryState, { tenantId, manifest }: ToolVersion): ToolVersion | undefined =>
  versionsOf(catalogue, tenantId, manifest.tool_id)?.byVersion.get(manifest.version);

const conflict = ({ tool_id, version }: ToolManifest): Failure =>
  failure(
    'E3007',
    `${tool_id} ${version} is registered with another content. Register the change under a new version.`,
    { details: { tool_id, version } },
  );

const tooMany = (count: number): ToolLayerError =>
  new ToolLayerError(
    'E3810',
    `${count} manifests are more than the ${BATCH_MANIFESTS_MAX} of one registration. Split them.`,
  );
