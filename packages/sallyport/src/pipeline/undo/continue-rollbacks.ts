import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Ledger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { EventDraft, EventMembers } from '../../domain/event/event-draft.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { isCutOff } from '../../domain/retry/cut-off.ts';
import type { Log } from '../../telemetry/log.ts';
import type { OutcomeStore } from '../outcome-store.port.ts';
import { commitUnlessOver } from '../record/commit-unless-over.ts';
import { goesOn, linkHeldEvents, settleOpen } from '../record/recover.ts';
import { rowEvent } from '../record/row-event.ts';
import type { OpenTransaction } from '../undo-journal.port.ts';
import { rollBackOpen } from './roll-back-open.ts';
import { keepSteps, type TransactionParts } from './transaction.ts';

/** Dependencies of unfinished rollbacks. */
export interface ContinueParts {
  readonly transactions: TransactionParts;
  readonly records: LedgerStore;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  /** Settles unknown outcomes once their changes are taken back. */
  readonly outcomes: OutcomeStore;
}

/**
 * Selects transactions: `left` by an earlier life of this instance; of an instance that is `gone`, taken back by
 * another one, which leaves to it what only that instance reaches; of this life, those whose rollback `failed`.
 */
export type WhichRollbacks = 'left' | 'gone' | 'failed';

/** Result of continued rollbacks. */
export interface Continued {
  readonly rolledBack: number;
  /** Transactions that could not be taken back completely; another try may succeed. */
  readonly left: number;
}

/** Transactions that are read at once. */
const PAGE = 100;

/**
 * Finishes the transactions that an instance left open when it ended: the changes of its calls are taken back, unless
 * the calls are on record as completed. Runs before `recoverOpenCalls`, which settles the rest, and before workers run
 * anything again. A rollback that stops half-way again is continued the next time.
 * @param isStopped ends it before the next transaction: one whose disk hangs takes a minute
 */
export async function continueRollbacks(
  parts: ContinueParts,
  instanceId: string,
  which: WhichRollbacks = 'left',
  isStopped: () => boolean = () => false,
): Promise<Continued> {
  const { journal } = parts.transactions;
  let rolledBack = 0;
  let left = 0;
  let after: OpenTransaction | undefined;
  for (;;) {
    const page = await journal.open(instanceId, PAGE, after);
    if (page.length > 0 && after === undefined && which !== 'failed') {
      await linkHeldEvents(parts, instanceId);
      await endCompensating(parts, instanceId);
    }
    for (const open of page) {
      if (isStopped()) return { rolledBack, left };
      const end = await continueRollback(parts, open, which);
      if (end === 'rolled-back') rolledBack += 1;
      if (end === 'left') left += 1;
    }
    after = page.at(-1);
    if (page.length < PAGE) return { rolledBack, left };
  }
}

/**
 * Ends compensating calls that were under way when the instance ended: their outcome must be known before it is read.
 */
async function endCompensating(parts: ContinueParts, instanceId: string): Promise<void> {
  for (const record of await parts.records.openInvocations(instanceId)) {
    if (record.compensates !== undefined && !goesOn(record)) await settleOpen(parts, record);
  }
}

/** @returns undefined when there is nothing to take back, or not yet */
async function continueRollback(
  parts: ContinueParts,
  open: OpenTransaction,
  which: WhichRollbacks,
): Promise<'rolled-back' | 'left' | undefined> {
  const { tenantId, invocationId } = open;
  const { journal } = parts.transactions;
  const record = await parts.records.findInvocation(tenantId, invocationId);
  if (which === 'failed' && (record === undefined || !isFinal(record.state))) return undefined;
  const standing = open.steps.filter(({ undone }) => !undone);
  // Nothing is left to report of a call that ended a moment ago without a fault in its rollback.
  if (record?.state === 'COMPLETED' || (which === 'failed' && standing.length === 0)) {
    await keepSteps(parts.transactions, open, standing);
    return undefined;
  }
  const rolledBack = await rollBackOpen(parts.transactions, open, parts.log, which === 'gone');
  // What could not be taken back stays in the journal, and its call ends as outcome unknown.
  if (rolledBack === 'failed') return 'left';
  if (record !== undefined) await putOnRecord(parts, record, rolledBack === 'part');
  await journal.close(tenantId, invocationId);
  return 'rolled-back';
}

/** @param isPart true when the call may have changed more than what was taken back */
async function putOnRecord(parts: ContinueParts, record: InvocationRecord, isPart: boolean): Promise<void> {
  const { state } = record;
  // A worker runs it again from its beginning.
  if (goesOn(record)) return;
  if (!isFinal(state)) return isPart ? endUnknown(parts, record) : end(parts, record);
  if (state !== 'ROLLED_BACK') await recordRollback(parts, record);
  if (record.failure?.code !== 'E3804') return;
  if (isPart && !wasReported(record.failure)) return;
  const { tenantId, invocationId } = record;
  const note = 'What the call changed was taken back.';
  const at = parts.clock.now();
  await parts.outcomes.settle({ tenantId, invocationId, outcome: 'did_not_happen', how: 'rollback', note, at });
}

/** True when the tool itself reported its failure before the rollback failed: then only its changes were unknown. */
function wasReported({ details }: Omit<Failure, 'cause'>): boolean {
  const code = details?.['failed_with'];
  return (
    typeof code === 'string' &&
    !isCutOff({ code: code as Failure['code'], ...(details === undefined ? {} : { details }) })
  );
}

async function endUnknown(parts: ContinueParts, open: InvocationRecord): Promise<void> {
  // Audited on its own: the final state, outcome unknown, does not show that the changes were taken back.
  await recordRollback(parts, open, { rollback: 'done' });
  await settleOpen(
    parts,
    open,
    failure(
      'E3804',
      'The layer ended while the tool ran. What the tool had changed through the layer was taken back; find out what else it did before you call again.',
      { details: { rollback: 'done' } },
    ),
  );
}

async function end(parts: ContinueParts, open: InvocationRecord): Promise<void> {
  const failed = failure(
    'E3811',
    'The layer ended while the tool ran. What the tool had changed was taken back; it is safe to call again.',
  );
  const { result: _result, waiting: _waiting, ...row } = open;
  const record: InvocationRecord = { ...row, state: 'ROLLED_BACK', failure: failed };
  const events = [rolledBackEvent(parts, record)];
  await commitUnlessOver(parts.ledger, { record, events, durability: 'synchronous' });
}

const recordRollback = (parts: ContinueParts, record: InvocationRecord, own?: EventMembers): Promise<void> =>
  parts.ledger.commit({ events: [rolledBackEvent(parts, record, own)], durability: 'synchronous' });

const rolledBackEvent = (
  { clock }: ContinueParts,
  record: InvocationRecord,
  own: EventMembers = { state: 'ROLLED_BACK' },
): EventDraft => rowEvent(record, 'ai.agent.tool.rolled_back', clock.now(), own);
