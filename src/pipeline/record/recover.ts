import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import { errorBody, type Failure, failure } from '../../domain/error/failure.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Clock } from '../../std/clock.ts';

/**
 * Settles the calls that this instance left open when it last ended. Nobody waits for them any more; a call that may be
 * made again says so, the others end as `outcome_unknown` and are never repeated (PIPE-13).
 * @returns how many were settled
 */
export async function recoverOpenCalls(
  parts: { readonly records: LedgerStore; readonly ledger: Ledger; readonly clock: Clock },
  instanceId: string,
): Promise<number> {
  const open = await parts.records.openInvocations(instanceId);
  await Promise.all(open.map((record) => settleOpen(parts, record)));
  return open.length;
}

async function settleOpen(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  open: InvocationRecord,
): Promise<void> {
  const failed = cutOff(open);
  const now = clock.now();
  const { result: _result, ...row } = open;
  const { message: _message, details: _details, ...error } = errorBody(failed);
  await ledger.commit({
    record: { ...row, state: 'ABORTED', failure: failed },
    events: [
      {
        id: randomUUID(),
        type: 'ai.agent.tool.failed',
        time: now,
        tenantId: open.tenantId,
        subject: open.invocationId,
        data: {
          agent_did: open.agentDid,
          capabilities: [],
          door: open.door,
          error,
          invocation_id: open.invocationId,
          state: 'ABORTED',
          tenant_id: open.tenantId,
          tool_id: open.toolId,
          ...(open.inputHash === undefined ? {} : { input_hash: open.inputHash }),
          ...(open.toolVersion === undefined ? {} : { tool_version: open.toolVersion }),
        },
      },
    ],
    durability: 'synchronous',
  });
}

function cutOff({ sideEffect }: InvocationRecord): Failure {
  if (sideEffect === 'pure' || sideEffect === 'idempotent') {
    return failure('E3811', 'The layer ended while the tool ran. It is safe to call again.');
  }
  return failure('E3804', 'The layer ended while the tool ran. Find out what it did before you call again.');
}
