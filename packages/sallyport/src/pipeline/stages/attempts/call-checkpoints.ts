import type { CheckpointedRun, Continuation, ResumedRun } from '../../../bridges/checkpoints.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import { secretSearch } from '../../../external/hide-secrets.ts';
import type { Admitted, CallRequest, Prepared, Resolved } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../parts.ts';
import { LazyCheckpoints } from './lazy-checkpoints.ts';

type Call = CallRequest & Admitted & Resolved & Partial<Prepared>;
type Parts = Pick<PipelineParts, 'checkpoints' | 'records' | 'running' | 'log'>;

/** Code of the warning on a call that continues from an earlier checkpoint than it asked for. */
const DAMAGED = 'checkpoint_damaged';

/**
 * The checkpoints of a call (STA-01). A call continues from the checkpoint that it names; one that was interrupted, from
 * its own newest one. Nothing is read for other calls.
 * @throws ToolLayerError E3702, E3703, E3704, E3707, E3812
 */
export async function openCheckpoints(parts: Parts, call: Call, ongoing: OngoingCall): Promise<LazyCheckpoints> {
  const from = await continuationOf(parts, call, ongoing);
  if (from !== undefined) noteDamaged(ongoing, from);
  return new LazyCheckpoints(() => parts.checkpoints.ofRun(runOf(parts, call, ongoing), from));
}

function resumedRunOf({
  principal: { tenantId, agentDid, userDid },
  invocationId,
  tool: { manifest },
}: Call): ResumedRun {
  const owner = { tenantId, agentDid, ...(userDid === undefined ? {} : { userDid }) };
  return { invocationId, owner, toolId: manifest.tool_id, toolVersion: manifest.version };
}

function runOf(parts: Parts, call: Call, { toolRun, undo }: OngoingCall): CheckpointedRun {
  const { enable_checkpointing, checkpoint_interval_seconds } = call.request.checkpoint_config ?? {};
  const intervalMs = enable_checkpointing === false ? 0 : (checkpoint_interval_seconds ?? 0) * 1000 || undefined;
  const holdsSecret = call.secrets === undefined ? undefined : secretSearch(call.secrets);
  return {
    ...resumedRunOf(call),
    ...(intervalMs === undefined ? {} : { intervalMs }),
    ...(holdsSecret === undefined ? {} : { holdsSecret }),
    hasChanges: () => undo.hasChanges,
    onSaved(saved, label) {
      // Whatever refuses the call later, also its answer.
      if (toolRun.checkpoints === undefined) undo.undo(() => endCheckpoints(parts, call, false));
      toolRun.noteCheckpoint(saved);
      if (saved.type === 'micro') return;
      const data = { checkpoint_id: saved.checkpointId, checkpoint_type: saved.type, label };
      toolRun.noteFact({ type: 'ai.agent.tool.checkpoint.created', at: saved.savedAt, data });
    },
  };
}

async function continuationOf(
  { checkpoints, records, running }: Parts,
  call: Call,
  { resumed }: OngoingCall,
): Promise<Continuation | undefined> {
  const isCutOff = resumed?.cutOff === true;
  const asked = call.request.checkpoint_config?.resume_from_checkpoint_id;
  // Fast path: most calls begin at their beginning.
  if (!isCutOff && asked === undefined) return undefined;
  const run = resumedRunOf(call);
  // A call that ran before may have taken over the checkpoint that it names already.
  const own = isCutOff ? await checkpoints.continuing(run) : undefined;
  if (own !== undefined || asked === undefined) return own;
  return checkpoints.resume(run, asked, async (holder) => {
    const { tenantId } = run.owner;
    const record = await records.findInvocation(tenantId, holder);
    // The first call of a pure tool leaves no row before its end; elsewhere it is as one that was cut off.
    return record === undefined ? running.find(tenantId, holder) === undefined : isFinal(record.state);
  });
}

function noteDamaged({ toolRun }: OngoingCall, { damaged, restored }: Continuation): void {
  if (damaged.length === 0) return;
  const from = restored === undefined ? 'from its beginning' : `from ${restored.checkpointId}`;
  toolRun.noteWarning({
    code: DAMAGED,
    message: `${damaged.length === 1 ? 'A checkpoint was' : `${damaged.length} checkpoints were`} damaged (${damaged.slice(0, 3).join(', ')}), so the work continues ${from}.`,
  });
}

/** The call is over: its checkpoints are kept as long as its end asks for. A failure to do so only keeps them longer. */
export async function endCheckpoints(
  { checkpoints, log }: Pick<Parts, 'checkpoints' | 'log'>,
  { principal: { tenantId }, invocationId }: Call,
  hasSucceeded: boolean,
): Promise<void> {
  await checkpoints
    .ended(tenantId, invocationId, hasSucceeded)
    .catch((cause: unknown) => log.warn('checkpoints-not-ended', { call: invocationId, cause }));
}
