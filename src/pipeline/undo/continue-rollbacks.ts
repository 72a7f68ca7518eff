import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import { errorBody, failure } from '../../domain/error/failure.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Clock } from '../../std/clock.ts';
import type { Log } from '../../telemetry/log.ts';
import type { OutcomeStore } from '../outcome-store.port.ts';
import { goesOn } from '../record/recover.ts';
import type { OpenTransaction } from '../undo-journal.port.ts';
import { rollBackOpen } from './roll-back-open.ts';
import type { TransactionParts } from './transaction.ts';

/** What unfinished rollbacks are continued with. */
export interface ContinueParts {
  readonly transactions: TransactionParts;
  readonly records: LedgerStore;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  /** Where an outcome that was not known is settled once its changes are taken back. */
  readonly outcomes?: OutcomeStore;
}

/** Transactions that are read at once. */
const PAGE = 100;

/**
 * Finishes the transactions that an instance left open when it ended: what its calls changed is taken back, unless they
 * are on record as completed. To be done before `recoverOpenCalls`, which settles what is left, and before workers run
 * anything again. A rollback that stops half-way again is continued the next time.
 * @returns how many calls were rolled back
 */
export async function continueRollbacks(parts: ContinueParts, instanceId: string): Promise<number> {
  const { journal } = parts.transactions;
  let rolledBack = 0;
  let after: OpenTransaction | undefined;
  for (;;) {
    const page = await journal.open(instanceId, PAGE, after);
    for (const open of page) if (await continueRollback(parts, open)) rolledBack += 1;
    after = page.at(-1);
    if (page.length < PAGE) return rolledBack;
  }
}

/**
 * The same for one call, for whoever takes it over from an instance that is gone.
 * @returns whether it was rolled back
 */
export async function continueRollback(parts: ContinueParts, open: OpenTransaction): Promise<boolean> {
  const { tenantId, invocationId } = open;
  const { journal } = parts.transactions;
  const record = await parts.records.findInvocation(tenantId, invocationId);
  if (record?.state === 'COMPLETED') {
    await journal.close(tenantId, invocationId);
    return false;
  }
  // What could not be taken back stays in the journal, and its call ends as outcome unknown.
  if ((await rollBackOpen(parts.transactions, open, parts.log)) === 'failed') return false;
  if (record !== undefined) await putOnRecord(parts, record);
  await journal.close(tenantId, invocationId);
  return true;
}

async function putOnRecord(parts: ContinueParts, record: InvocationRecord): Promise<void> {
  const { state } = record;
  // A worker runs it again, from where it began.
  if (goesOn(record)) return;
  if (!isFinal(state)) return end(parts, record);
  if (state !== 'ROLLED_BACK') await tell(parts, record);
  if (record.failure?.code !== 'E3804' || parts.outcomes === undefined) return;
  const { tenantId, invocationId } = record;
  const note = 'What the call changed was taken back.';
  const at = parts.clock.now();
  await parts.outcomes.settle({ tenantId, invocationId, outcome: 'did_not_happen', how: 'rollback', note, at });
}

async function end(parts: ContinueParts, open: InvocationRecord): Promise<void> {
  const failed = failure(
    'E3811',
    'The layer ended while the tool ran. What the tool had changed was taken back; it is safe to call again.',
  );
  const { result: _result, waiting: _waiting, ...row } = open;
  const record: InvocationRecord = { ...row, state: 'ROLLED_BACK', failure: failed };
  await parts.ledger.commit({ record, events: [rolledBackEvent(parts, record)], durability: 'synchronous' });
}

const tell = (parts: ContinueParts, record: InvocationRecord): Promise<void> =>
  parts.ledger.commit({ events: [rolledBackEvent(parts, record)], durability: 'synchronous' });

function rolledBackEvent({ clock }: ContinueParts, record: InvocationRecord) {
  const { tenantId, invocationId, failure: failed } = record;
  return {
    id: randomUUID(),
    type: 'ai.agent.tool.rolled_back' as const,
    time: clock.now(),
    tenantId,
    subject: invocationId,
    data: {
      agent_did: record.agentDid,
      capabilities: [],
      door: record.door,
      ...(failed === undefined ? {} : { error: withoutWords(failed) }),
      invocation_id: invocationId,
      state: 'ROLLED_BACK',
      tenant_id: tenantId,
      tool_id: record.toolId,
      ...(record.inputHash === undefined ? {} : { input_hash: record.inputHash }),
      ...(record.toolVersion === undefined ? {} : { tool_version: record.toolVersion }),
    },
  };
}

/** Words and details may quote the caller's or the tool's data, which has no place in the audit. */
function withoutWords(failed: NonNullable<InvocationRecord['failure']>) {
  const { message: _message, details: _details, ...error } = errorBody(failed);
  return error;
}
