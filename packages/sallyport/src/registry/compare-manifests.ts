import { compare, diff, major, minor, prerelease } from 'semver';
import type { ChangeSeverity, ManifestChange, VersionStep } from '../../api/schemas/registry/tool-comparison.ts';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import { compareBehaviour } from './manifests/comparison/compare-behaviour.ts';
import { comparePermissions } from './manifests/comparison/compare-permissions.ts';
import { compareSchemas } from './manifests/comparison/compare-schemas.ts';
import { createFindings, type Findings } from './manifests/comparison/findings.ts';

/** Differences between two manifests of a tool. */
export interface ManifestComparison {
  /** Breaking ones first, then notable and compatible ones; each kind in the order of the manifest. At most 500. */
  readonly changes: readonly ManifestChange[];
  readonly breaking: boolean;
  /** True when the tool asks for more than before, or is restricted less. */
  readonly needsReview: boolean;
  readonly step: VersionStep;
  /** False when something breaks and the version says that nothing does (SemVer 2.0.0, 8; for 0.y.z, 4). */
  readonly stepHonoured: boolean;
  /** False when the schemas are too large to be compared whole; what was left out may break. */
  readonly complete: boolean;
}

const ORDER: readonly ChangeSeverity[] = ['breaking', 'notable', 'compatible'];

/**
 * Compares two versions of a tool from its callers' point of view. Arguments may become less strict and results more
 * so; the opposite breaks. References are followed within each schema, cycles once. Anything that cannot be computed
 * (conditions, dependent schemas, other patterns) counts as breaking. Pure and limited: 20 000 pairs of schemas, 500
 * changes.
 */
export function compareManifests(from: ToolManifest, to: ToolManifest): ManifestComparison {
  const findings = createFindings();
  compareBehaviour(from, to, findings);
  comparePermissions(from, to, findings);
  compareSchemas(from.parameters_schema, to.parameters_schema, {
    pointer: '/parameters_schema',
    role: 'input',
    findings,
  });
  compareResults(from, to, findings);
  const changes = findings.changes.toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
  const breaking = changes.some(({ severity }) => severity === 'breaking');
  const step = stepOf(from.version, to.version);
  return {
    changes,
    breaking,
    needsReview: changes.some(({ needs_review }) => needs_review === true),
    step,
    stepHonoured: !breaking || mayBreak(from.version, to.version, step),
    complete: findings.complete,
  };
}

function compareResults(from: ToolManifest, to: ToolManifest, findings: Findings): void {
  const { result_schema: was } = from;
  const { result_schema: is } = to;
  if (was === undefined && is === undefined) return;
  const pointer = '/result_schema';
  if (is === undefined) {
    const message = 'Nothing is promised of the result any more.';
    findings.add({ path: pointer, kind: 'result-schema-removed', severity: 'breaking', message });
  } else if (was === undefined) {
    const message = 'Results are judged by a schema now.';
    findings.add({ path: pointer, kind: 'result-schema-added', severity: 'compatible', message });
  } else compareSchemas(was, is, { pointer, role: 'output', findings });
}

function stepOf(from: string, to: string): VersionStep {
  const order = compare(to, from);
  if (order < 0) return 'back';
  if (order === 0) return 'none';
  const kind = diff(from, to);
  if (kind === 'major' || kind === 'premajor') return 'major';
  if (kind === 'minor' || kind === 'preminor') return 'minor';
  return kind === 'prerelease' ? 'prerelease' : 'patch';
}

/** A step back is nobody's upgrade; after a pre-release anything may change. */
function mayBreak(from: string, to: string, step: VersionStep): boolean {
  if (step === 'back' || prerelease(from) !== null) return true;
  if (major(from) !== major(to)) return true;
  return major(from) === 0 && (minor(from) !== minor(to) || minor(from) === 0);
}
