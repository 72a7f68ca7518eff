import { isFailure } from '@sallyport/std/error/failure';
import { ToolDiffRequest, ToolDiffResponse } from '../../../api/schemas/registry/tool-comparison.ts';
import { compareManifests } from '../../registry/compare-manifests.ts';
import { stepWarning } from '../../registry/registry.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** The changes between two versions that the asker sees. */
export const diffTool = operation({
  name: 'tools.diff',
  summary: 'What changed between two versions of a tool, and whether it breaks callers',
  method: 'GET',
  path: '/v1/tools/{tool_id}/diff',
  status: 200,
  access: 'token',
  input: ToolDiffRequest,
  output: ToolDiffResponse,
  run:
    ({ visible }: Pick<OperationParts, 'visible'>) =>
    ({ tool_id, from, to }, asker) => {
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
    },
});
