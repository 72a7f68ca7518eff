import { isFailure } from '@sallyport/std/error/failure';
import { compareManifests } from '../../registry/compare-manifests.ts';
import { stepWarning } from '../../registry/registry.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';

/** What changed between two versions that the asker sees. */
export function diffTool({ visible }: Pick<OperationParts, 'visible'>): Run<'tools.diff'> {
  return ({ tool_id, from, to }, asker) => {
    const before = visible.read(asker, tool_id, from);
    if (isFailure(before)) return before;
    const after = visible.read(asker, tool_id, to);
    if (isFailure(after)) return after;
    const { manifest: old } = before.tool;
    const { manifest: now } = after.tool;
    const { changes, breaking, needsReview, step, stepHonoured, complete } = compareManifests(old, now);
    return {
      tool_id,
      from: old.version,
      to: now.version,
      breaking,
      needs_review: needsReview,
      step,
      step_honoured: stepHonoured,
      complete,
      changes: [...changes],
      warnings: stepHonoured ? [] : [...stepWarning(old, now)],
    };
  };
}
