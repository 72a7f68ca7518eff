import type { CallGap, CallsReport } from '../../../api/schemas/audit.ts';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import { type CallKey, textOfCall } from '../../domain/invocation/call-key.ts';
import { isFinal, TRANSITIONS } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { LedgerStore, StoredRow } from '../ledger-store.port.ts';
import { gapOf, STATE_EVENTS } from './call-gap.ts';
import type { Reader } from './verify-chains.ts';

/** Rows read at once: each may hold a result. */
const PAGE_ROWS = 100;
/** Gaps that are named; the others are only counted. */
const GAPS_NAMED_MAX = 20;

/** Calls without a row that are remembered: beyond them one may be counted twice, but memory stays bounded. */
const MISSING_KNOWN_MAX = 100_000;

/** Compares the rows of calls with the chains, in both directions (AUD-07). */
export interface CallVerification {
  /** Looks up the rows of the calls that these events are about. */
  readonly read: Reader;
  /**
   * Looks up the events of all rows.
   * @param show called with the readable records, page by page
   */
  finish(show?: (records: readonly InvocationRecord[]) => Promise<void>): Promise<CallsReport>;
}

/**
 * Verifies calls. A row and its events are written in one transaction, so the layer never leaves one without the other:
 * a gap means that somebody else wrote to the tables. New calls may come in meanwhile.
 */
export function createCallVerification(store: LedgerStore): CallVerification {
  const gaps: CallGap[] = [];
  let gapCount = 0;
  const gap = ({ tenantId, invocationId }: CallKey, reason: string): void => {
    gapCount += 1;
    if (gaps.length < GAPS_NAMED_MAX) gaps.push({ tenant_id: tenantId, invocation_id: invocationId, reason });
  };
  /** Calls of the previous page: the events of a call are mostly close together. */
  let known: ReadonlyMap<string, CallKey> = new Map();
  /** Calls without a row, each counted once. */
  const missing = new Set<string>();

  return {
    async read(events) {
      const mentioned = callsOf(events);
      const asked = [...mentioned].filter(([text]) => !known.has(text) && !missing.has(text)).map(([, call]) => call);
      known = mentioned;
      const standing = new Set((await store.recordedCalls(asked)).map(textOfCall));
      for (const call of asked) {
        const text = textOfCall(call);
        if (standing.has(text)) continue;
        if (missing.size < MISSING_KNOWN_MAX) missing.add(text);
        gap(call, 'the chain records it, and it has no row');
      }
    },
    async finish(show) {
      let checked = 0;
      let open = 0;
      let after: CallKey | undefined;
      for (;;) {
        const rows = await store.allInvocations({ ...(after === undefined ? {} : { after }), limit: PAGE_ROWS });
        const about = byCall(await store.eventsAbout(rows.map(({ call }) => call)));
        for (const row of rows) {
          checked += 1;
          const isReadable = isRecordOf(row.record, row.call);
          if (isReadable && !isFinal(row.record.state)) open += 1;
          const events = about.get(textOfCall(row.call)) ?? [];
          const reason = isReadable ? await lastingGap(store, row, events) : UNREADABLE;
          if (reason !== undefined) gap(row.call, reason);
        }
        await show?.(rows.filter(({ record, call }) => isRecordOf(record, call)).map(({ record }) => record));
        after = rows.at(-1)?.call;
        if (rows.length < PAGE_ROWS) break;
      }
      return { checked, open, gaps: gapCount, first_gaps: gaps };
    },
  };
}

/**
 * Checks a gap again. Row and events are read one after the other, and a running call may have moved on in between: its
 * row is read once more, and must then be at least as far as the events were.
 */
async function lastingGap(
  store: LedgerStore,
  { call, record, differing }: StoredRow,
  events: readonly CloudEvent[],
): Promise<string | undefined> {
  const gap = gapOf(record, events);
  if (gap === undefined) {
    return differing && `the columns ${differing.join(', ')} of its row say something else than the row`;
  }
  if (isFinal(record.state)) return gap;
  const now = await store.findInvocation(call.tenantId, call.invocationId);
  if (!isRecordOf(now, call)) return UNREADABLE;
  const later = await store.eventsAbout([call]);
  return gapOf(now, isFinal(now.state) ? (byCall(later).get(textOfCall(call)) ?? []) : events);
}

const UNREADABLE = 'its row cannot be read, or is of another call';

/** Checked, since anybody with write access to the table may leave anything there. */
function isRecordOf(
  record: Partial<InvocationRecord> | null | undefined,
  { tenantId, invocationId }: CallKey,
): record is InvocationRecord {
  if (record?.tenantId !== tenantId || record.invocationId !== invocationId) return false;
  return Object.hasOwn(TRANSITIONS, String(record.state));
}

/** Groups events by the call that they are about. */
function byCall(events: readonly CloudEvent[]): ReadonlyMap<string, readonly CloudEvent[]> {
  const found = new Map<string, CloudEvent[]>();
  for (const event of events) {
    const call = subjectOf(event);
    if (call === undefined) continue;
    const text = textOfCall(call);
    const others = found.get(text);
    if (others === undefined) found.set(text, [event]);
    else others.push(event);
  }
  return found;
}

const callsOf = (events: readonly CloudEvent[]): ReadonlyMap<string, CallKey> =>
  new Map(events.map(callOf).flatMap((call) => (call === undefined ? [] : [[textOfCall(call), call] as const])));

/** Undefined when the event does not state the state of a call. */
const callOf = (event: CloudEvent): CallKey | undefined =>
  STATE_EVENTS.has(event.type) && typeof event.data?.['state'] === 'string' ? subjectOf(event) : undefined;

/** Undefined when the event is about no call. */
function subjectOf({ tenantid, data }: CloudEvent): CallKey | undefined {
  const invocationId = data?.['invocation_id'];
  return typeof invocationId === 'string' ? { tenantId: tenantid, invocationId } : undefined;
}
