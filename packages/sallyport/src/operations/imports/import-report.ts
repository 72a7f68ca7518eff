import { errorBody, type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { ImportedTool, ImportReport } from '../../../api/schemas/imports.ts';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { ExecutorKind, ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { ImportedTools } from '../../registry/importer.port.ts';
import type { Registered } from '../../registry/registry.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../tools/registry-event.ts';
import { ownedId } from '../upstreams/owned-id.ts';
import { type ImportPlan, planImport } from './import-plan.ts';

type Parts = Pick<OperationParts, 'registry' | 'quarantine' | 'ledger' | 'clock'>;
type Change = Extract<ImportPlan, { step: 'change' }>;

/** Options of an import. */
export interface ImportOptions {
  readonly bump?: boolean | undefined;
  readonly dry_run?: boolean | undefined;
  /** Kind of the source's tools; undefined for a partial import, which says nothing about missing tools. */
  readonly whole: ExecutorKind | undefined;
}

/**
 * Registers the manifests of an importer and reports the result for each tool; one refused manifest does not keep the
 * others out. Importing the same document again changes nothing. A tool that changed under the same version is refused
 * with the list of changes, or registered under the next version when the asker chose that.
 */
export async function importReport(
  parts: Parts,
  asker: Asker,
  imported: ImportedTools,
  { bump = false, dry_run = false, whole }: ImportOptions,
): Promise<ImportReport> {
  const { tenantId } = asker.principal;
  await parts.registry.refresh();
  const plans: ImportPlan[] = [];
  for (const manifest of imported.manifests) {
    const refusal = ownedId(parts, asker, manifest);
    plans.push(
      refusal === undefined
        ? await planImport(parts.registry, tenantId, manifest)
        : { step: 'refuse', manifest, refusal },
    );
  }
  const wanted = plans.map((plan) => wantedOf(plan, bump));
  const ends = dry_run
    ? wanted.map((manifest) => (manifest === undefined ? undefined : tried(parts, tenantId, manifest)))
    : await register(parts, asker, wanted);
  const registrations = plans.map((plan, index) => reportOf(plan, wanted[index], ends[index]));
  if (!dry_run) {
    await record(parts, asker, imported.source, registrations, retiredIn(ends));
    await parts.registry.recorded([...createdIn(ends), ...retiredIn(ends)]);
  }
  return {
    source: imported.source,
    registrations,
    skipped: [...imported.skipped],
    missing: whole === undefined ? [] : missingOf(parts, tenantId, imported, whole),
    dry_run,
  };
}

/** The manifest to register; undefined when there is nothing to do, or it is refused. */
function wantedOf(plan: ImportPlan, bump: boolean): ToolManifest | undefined {
  if (plan.step === 'register') return plan.manifest;
  return plan.step === 'change' && bump ? plan.bumped : undefined;
}

type End = Pick<Registered, 'outcome' | 'warnings'> & Partial<Pick<Registered, 'version' | 'retired'>>;

/** Registers manifests; each result has the index of its manifest. */
async function register(
  { registry }: Parts,
  { principal }: Asker,
  wanted: readonly (ToolManifest | undefined)[],
): Promise<(End | Failure | undefined)[]> {
  const manifests = wanted.filter((manifest) => manifest !== undefined);
  const answers =
    manifests.length === 0 ? [] : await registry.registerAll(principal.tenantId, manifests, principal.agentDid);
  let next = 0;
  return wanted.map((manifest) => (manifest === undefined ? undefined : answers[next++]));
}

/** The result that registration would have. */
function tried({ registry }: Parts, tenantId: string, manifest: ToolManifest): End | Failure {
  const { failure: refused, warnings } = registry.check(tenantId, manifest);
  return refused ?? { outcome: 'created', warnings };
}

function reportOf(plan: ImportPlan, wanted: ToolManifest | undefined, end: End | Failure | undefined): ImportedTool {
  if (plan.step === 'keep') return keptReport(plan);
  const manifest = wanted ?? plan.manifest;
  const base = { tool_id: manifest.tool_id, version: manifest.version };
  const difference = plan.step === 'change' ? differenceOf(plan) : {};
  const failed = end ?? refusalOf(plan);
  if (failed === undefined || isFailure(failed)) {
    const error = failed === undefined ? {} : { error: { ...errorBody(failed) } };
    return { ...base, outcome: 'refused', warnings: [], ...difference, ...error };
  }
  return {
    ...base,
    outcome: failed.outcome,
    ...(failed.version === undefined ? {} : { content_hash: failed.version.contentHash }),
    warnings: [...failed.warnings],
    ...difference,
    ...(plan.step === 'change' ? { replaces: plan.newest.manifest.version } : {}),
  };
}

function refusalOf(plan: ImportPlan): Failure | undefined {
  if (plan.step === 'refuse') return plan.refusal;
  return plan.step === 'change' ? conflict(plan) : undefined;
}

/** When a newer version holds another content, callers get that one; the importer should know. */
function keptReport({ kept, newest }: Extract<ImportPlan, { step: 'keep' }>): ImportedTool {
  const { tool_id, version } = kept.manifest;
  const newer = newest.manifest.version;
  const warning: Warning = {
    code: 'newer_version_registered',
    message: `Version ${newer} of ${tool_id} holds another content, and callers that name no version get that one.`,
    details: { newest: newer },
  };
  return {
    tool_id,
    version,
    outcome: 'unchanged',
    content_hash: kept.contentHash,
    warnings: newer === version ? [] : [warning],
  };
}

const differenceOf = ({ breaking, changes }: Change): Pick<ImportedTool, 'breaking' | 'changes'> => ({
  breaking,
  changes: [...changes],
});

function conflict({ manifest, newest, breaking }: Change): Failure {
  const { tool_id, version } = manifest;
  const what = breaking ? 'in a way that breaks callers' : 'in a way that breaks no caller';
  return failure(
    'E3007',
    `${tool_id} changed ${what} but still names version ${version}. Give the source a new version, or import with bump.`,
    { details: { tool_id, version, registered: newest.manifest.version } },
  );
}

function missingOf({ registry }: Parts, tenantId: string, imported: ImportedTools, kind: ExecutorKind): string[] {
  const there = new Set(imported.manifests.map(({ tool_id }) => tool_id));
  return registry
    .manifests(tenantId)
    .map(({ manifest }) => manifest)
    .filter(({ tool_id, executor }) => tool_id.startsWith(`${imported.source}__`) && executor.kind === kind)
    .map(({ tool_id }) => tool_id)
    .filter((id) => !there.has(id));
}

const createdIn = (ends: readonly (End | Failure | undefined)[]): readonly ToolVersion[] =>
  ends.flatMap((end) => (end === undefined || isFailure(end) || end.outcome !== 'created' ? [] : (end.version ?? [])));

const retiredIn = (ends: readonly (End | Failure | undefined)[]): readonly ToolVersion[] =>
  ends.flatMap((end) => (end === undefined || isFailure(end) ? [] : (end.retired ?? [])));

async function record(
  parts: Parts,
  asker: Asker,
  source: string,
  done: readonly ImportedTool[],
  retired: readonly ToolVersion[],
): Promise<void> {
  const created = done.filter(({ outcome }) => outcome === 'created').map(({ tool_id }) => tool_id);
  if (created.length === 0) return;
  await recordChange(parts, asker, source, {
    change: 'imported',
    source,
    tool_ids: created,
    ...(retired.length === 0 ? {} : { retired: retired.map(retirement) }),
  });
}

const retirement = ({ manifest: { tool_id, version }, state }: ToolVersion) => ({ tool_id, version, state });
