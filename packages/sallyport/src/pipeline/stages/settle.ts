import { followsFromArguments } from '../../domain/tool/follows-from-arguments.ts';
import type {
  Admitted,
  CallRequest,
  Executed,
  Inspected,
  Noted,
  Prepared,
  Ran,
  Resolved,
  Settled,
  Validated,
} from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';
import { endCheckpoints } from './attempts/call-checkpoints.ts';
import { checkDeterminism } from './determinism/check-determinism.ts';

type Needs = CallRequest & Noted & Admitted & Resolved & Validated & Prepared & Ran & Executed & Inspected;

/**
 * The call has succeeded: what it leaves for later calls is noted, and a tool that claims to be deterministic is checked
 * (PIPE-10). None of it fails the call, so from here on nothing is taken back. The record itself is written by `audited`.
 */
export function settle(
  parts: Pick<PipelineParts, 'outputs' | 'records' | 'clock' | 'checkpoints' | 'log' | 'gates'>,
): Stage<Needs, Settled> {
  return {
    name: 'settle',
    async run(call, ongoing) {
      // A call that saved nothing itself may have taken over the work of another.
      const mayHaveCheckpoints = ongoing.toolRun.checkpoints !== undefined || resumes(call);
      if (mayHaveCheckpoints) ongoing.undo.afterRecord(() => endCheckpoints(parts, call, true));
      await parts.gates?.completed(call.principal, call.tool);
      const noted = followsFromArguments(call.tool.manifest, call.documents)
        ? await checkDeterminism(parts, call)
        : undefined;
      return { settled: true, ...noted };
    },
  };
}

const resumes = ({ request }: CallRequest): boolean =>
  request.checkpoint_config?.resume_from_checkpoint_id !== undefined;
