import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { inc } from 'semver';
import type { ManifestChange } from '../../../api/schemas/registry/tool-comparison.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { contentHash, type ToolVersion } from '../../domain/tool/tool-version.ts';
import { compareManifests } from '../../registry/compare-manifests.ts';
import type { Registry } from '../../registry/registry.ts';

/** What to do with one imported manifest. */
export type ImportPlan =
  /** Its id and version are free, or hold the same content: the registry decides which. */
  | { readonly step: 'register'; readonly manifest: ToolManifest }
  /** Its id belongs to another tool. */
  | { readonly step: 'refuse'; readonly manifest: ToolManifest; readonly refusal: Failure }
  /** A version of the tool already holds this content, under its own number. */
  | { readonly step: 'keep'; readonly kept: ToolVersion; readonly newest: ToolVersion }
  /** The version holds another content. `bumped` is the manifest under the next version. */
  | {
      readonly step: 'change';
      readonly manifest: ToolManifest;
      readonly bumped: ToolManifest;
      readonly newest: ToolVersion;
      readonly breaking: boolean;
      readonly changes: readonly ManifestChange[];
    };

/** Changes that are listed for one tool. */
const CHANGES_MAX = 50;
/** Versions after the newest that are tried when removed versions occupy numbers. */
const VERSIONS_TRIED_MAX = 100;

/** Compares a manifest with the registry and decides; writes nothing. */
export async function planImport(registry: Registry, tenantId: string, manifest: ToolManifest): Promise<ImportPlan> {
  const { tool_id, version } = manifest;
  const found = registry.find(tenantId, tool_id, version);
  if (isFailure(found) && found.code !== 'E3004') return { step: 'register', manifest };
  const live = registry.versions(tenantId, tool_id);
  const known = isFailure(found) ? (await registry.history(tenantId, tool_id)).map((one) => one.version) : live;
  const same = known.find((one) => one.manifest.version === version);
  const [newest = known[0]] = live;
  // A removed version is restored when its content is the same.
  if (same === undefined || newest === undefined) return { step: 'register', manifest };
  if (same.state === 'removed' && holds(same, manifest)) return { step: 'register', manifest };
  const kept = holds(same, manifest) ? same : live.find((one) => holds(one, manifest));
  if (kept !== undefined) return { step: 'keep', kept, newest };
  const { breaking, changes } = compareManifests(newest.manifest, { ...manifest, version: newest.manifest.version });
  const next = nextVersion(registry, tenantId, newest.manifest, breaking ? 'major' : 'minor');
  return {
    step: 'change',
    manifest,
    bumped: { ...manifest, version: next },
    newest,
    breaking,
    changes: changes.slice(0, CHANGES_MAX),
  };
}

/** True when a version holds this content, apart from its own number. */
const holds = ({ manifest: { version }, contentHash: hash }: ToolVersion, manifest: ToolManifest): boolean =>
  contentHash({ ...manifest, version }) === hash;

/** The next version number that the tool has never used, also for a removed version. */
function nextVersion(
  registry: Registry,
  tenantId: string,
  { tool_id, version }: ToolManifest,
  step: 'major' | 'minor',
): string {
  let next = inc(version, step) ?? version;
  for (let tried = 0; tried < VERSIONS_TRIED_MAX; tried += 1) {
    const found = registry.find(tenantId, tool_id, next);
    if (isFailure(found) && found.code === 'E3002') return next;
    next = inc(next, step) ?? next;
  }
  return next;
}
