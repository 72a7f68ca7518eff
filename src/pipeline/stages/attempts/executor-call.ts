import type { ExecutorCall, UndoRecorder } from '../../../executors/executor.port.ts';
import type { Admitted, Authorized, CallRequest, Prepared, Resolved, Validated } from '../../call.ts';
import type { Flight } from '../../flight/flight.ts';
import type { PipelineParts } from '../../parts.ts';
import type { TransactionParts } from '../../undo/transaction.ts';

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** The call as its executor sees it. With `parts` it may change what a crash must not leave half made. */
export function executorCall(
  call: CallRequest & Admitted & Resolved & Validated & Authorized & Partial<Prepared>,
  flight: Flight,
  parts?: Pick<PipelineParts, 'transactions' | 'instanceId'>,
): ExecutorCall {
  const { onProgress } = call.caller;
  return {
    invocationId: call.invocationId,
    principal: call.principal,
    tool: call.tool,
    parameters: call.parameters,
    grant: call.grant,
    secrets: call.secrets ?? NO_SECRETS,
    attempt: flight.attempts,
    // It is done already: what is left is to say so (PIPE-03).
    onRolledBack: () => flight.undo.sayRolledBack(),
    ...(parts?.transactions === undefined ? {} : { undo: recorder(parts.transactions, parts, call, flight) }),
    onProgress(progress) {
      flight.progress = progress;
      flight.deadline?.touch();
      onProgress?.(progress);
    },
  };
}

function recorder(
  transactions: TransactionParts,
  { instanceId }: Pick<PipelineParts, 'instanceId'>,
  { principal: { tenantId }, invocationId }: Admitted & Resolved,
  { undo }: Flight,
): UndoRecorder {
  return { record: (step) => undo.record(transactions, { tenantId, invocationId, instanceId }, step) };
}
