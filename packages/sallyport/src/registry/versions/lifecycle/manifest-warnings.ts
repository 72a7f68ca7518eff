import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { compareManifests } from '../../compare-manifests.ts';
import { complianceOf } from '../../manifests/compliance.ts';

/** Code of the warning that calls end before the manifest's timeout. */
export const TIMEOUT_CUT = 'timeout_cut';

/**
 * Warnings for the author of a manifest: the number of gaps in its schemas, a timeout longer than any call gets, and a
 * break that its version does not announce.
 * @param before the version below it, when there is one
 * @param timeoutSecondsMax longest timeout of a synchronous call
 */
export function manifestWarnings(
  manifest: ToolManifest,
  before: ToolManifest | undefined,
  timeoutSecondsMax: number,
): readonly Warning[] {
  return [
    ...complianceWarning(manifest),
    ...timeoutWarning(manifest, timeoutSecondsMax),
    ...(before === undefined ? [] : stepWarning(before, manifest)),
  ];
}

function timeoutWarning({ execution_config: config }: ToolManifest, max: number): Warning[] {
  const asked = config?.default_timeout_seconds;
  if (asked === undefined || asked <= max) return [];
  const message = `Its timeout of ${asked} s is longer than any call may take: calls end after ${max} s. Raise the setting calls.timeout_seconds_max, or call it asynchronously.`;
  return [{ code: TIMEOUT_CUT, message, details: { timeout_seconds: asked, timeout_seconds_max: max } }];
}

function complianceWarning(manifest: ToolManifest): Warning[] {
  const { score, points, points_met } = complianceOf(manifest);
  if (points === points_met) return [];
  const message = `The schemas meet ${points_met} of ${points} points (${score} %). Ask for its compliance to see the rest.`;
  return [{ code: 'schema_compliance', message, details: { score, points, points_met } }];
}

/** The warning about the step between two versions. */
export function stepWarning(from: ToolManifest, to: ToolManifest): readonly Warning[] {
  const { stepHonoured, step, changes } = compareManifests(from, to);
  if (stepHonoured) return [];
  const breaking = changes.filter(({ severity }) => severity === 'breaking');
  const count = breaking.length === 1 ? 'one change' : `${breaking.length} changes`;
  const message = `${to.version} breaks callers of ${from.version} in ${count}, and a ${step} step says that it does not: ${breaking[0]?.message}`;
  return [
    {
      code: 'breaking_change',
      message,
      details: { from: from.version, to: to.version, step, breaking: breaking.length },
    },
  ];
}
