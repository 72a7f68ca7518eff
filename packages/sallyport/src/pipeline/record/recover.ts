import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Ledger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import { heldDrafts } from '../../domain/event/held-events.ts';
import { type InvocationRecord, mayGoOn } from '../../domain/invocation/record.ts';
import { endedByTimeout } from './call-events.ts';
import { commitUnlessOver } from './commit-unless-over.ts';
import { lostEffect } from './effect-event.ts';
import { rowEvent } from './row-event.ts';

/**
 * Settles the calls that this instance left open when it last ended. Their callers are gone. A call that may be
 * repeated says so; the others end as `outcome_unknown` and are never repeated (PIPE-13).
 * @returns how many were settled
 */
export async function recoverOpenCalls(
  parts: { readonly records: LedgerStore; readonly ledger: Ledger; readonly clock: Clock },
  instanceId: string,
): Promise<number> {
  const open = await parts.records.openInvocations(instanceId);
  const lost = open.filter((record) => !goesOn(record));
  await inGroups(lost, (record) => settleOpen(parts, record));
  return lost.length;
}

/** Entries that are handed to the ledger together: many share a commit, and concurrent calls still find room. */
const AT_ONCE = 1_000;

async function inGroups(
  rows: readonly InvocationRecord[],
  write: (row: InvocationRecord) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < rows.length; at += AT_ONCE) await Promise.all(rows.slice(at, at + AT_ONCE).map(write));
}

/** True when a worker runs the unfinished call, now or again: it waits, or it may be repeated (ORC-06). */
export function goesOn(record: InvocationRecord): boolean {
  if (record.waiting === undefined) return false;
  return record.state !== 'EXECUTING' || mayGoOn(record);
}

/**
 * Ends a call of which nothing runs, unless it has an end already.
 * @param open its row; the end is written under the lease in that row
 * @param failed default: the layer ended while the tool ran
 */
export async function settleOpen(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  open: InvocationRecord,
  failed: Failure = cutOff(open),
): Promise<void> {
  const now = clock.now();
  const { result: _result, waiting: _waiting, heldEvents: _held, ...row } = open;
  const ended: InvocationRecord = { ...row, state: 'ABORTED', failure: failed };
  await commitUnlessOver(ledger, {
    record: ended,
    events: [
      ...heldDrafts(open),
      ...lostEffect(ended, now),
      rowEvent(ended, endedByTimeout(failed) ? 'ai.agent.tool.timeout' : 'ai.agent.tool.failed', now),
    ],
    durability: 'synchronous',
  });
}

/**
 * Links the events that rows hold of calls whose instance ended while their tools ran. Called before further events of
 * these calls are written; `settleOpen` does it together with the end.
 */
export async function linkHeldEvents(
  { records, ledger }: { readonly records: LedgerStore; readonly ledger: Ledger },
  instanceId: string,
): Promise<void> {
  const open = await records.openInvocations(instanceId);
  const holding = open.filter(({ heldEvents }) => heldEvents !== undefined);
  await inGroups(holding, async (held) => {
    const { heldEvents: _held, ...record } = held;
    await commitUnlessOver(ledger, { record, events: heldDrafts(held), durability: 'synchronous' });
  });
}

function cutOff({ sideEffect }: InvocationRecord): Failure {
  if (sideEffect === 'pure' || sideEffect === 'idempotent') {
    return failure('E3811', 'The layer ended while the tool ran. It is safe to call again.');
  }
  return failure('E3804', 'The layer ended while the tool ran. Find out what it did before you call again.');
}
