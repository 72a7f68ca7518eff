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
  const lost = open.filter((record) => !goesOn(record));
  await Promise.all(lost.map((record) => settleOpen(parts, record)));
  return lost.length;
}

/** Whether a call that is not over is run by a worker, now or again: it waits, or it may be repeated (ORC-06). */
export function goesOn({ state, waiting, sideEffect }: InvocationRecord): boolean {
  if (waiting === undefined) return false;
  return state !== 'EXECUTING' || sideEffect === 'pure' || sideEffect === 'idempotent';
}

async function settleOpen(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  open: InvocationRecord,
): Promise<void> {
  const failed = cutOff(open);
  const now = clock.now();
  const { result: _result, waiting: _waiting, ...row } = open;
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
