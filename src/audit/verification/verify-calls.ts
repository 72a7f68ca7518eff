import type { CallGap, CallsReport } from '../../../api/schemas/audit.ts';
import type { CloudEvent, EventType } from '../../../api/schemas/cloud-event.ts';
import { type CallKey, textOfCall } from '../../domain/invocation/call-key.ts';
import { isFinal, TRANSITIONS } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { LedgerStore } from '../ledger-store.port.ts';
import type { Reader } from './verify-chains.ts';

/** Rows read at once: each may hold a result. */
const PAGE_ROWS = 100;
/** Gaps that are named; all are counted. */
const GAPS_NAMED_MAX = 20;

/** Calls without a row that are remembered: beyond them one may count twice, and memory stays bounded. */
const MISSING_KNOWN_MAX = 100_000;

/** The events that say in which state a call is; each call that is on record has one of them at least. */
const STATE_EVENTS: ReadonlySet<string> = new Set<EventType>([
  'ai.agent.tool.state_changed',
  'ai.agent.tool.invoked',
  'ai.agent.tool.succeeded',
  'ai.agent.tool.failed',
  'ai.agent.tool.timeout',
  'ai.agent.tool.rolled_back',
]);

/** Compares the rows of calls with the chains, in both directions (AUD-07). */
export interface CallVerification {
  /** Looks for the rows of the calls that these events are about. */
  readonly read: Reader;
  /** Looks for the events of all rows. */
  finish(): Promise<CallsReport>;
}

/**
 * A row and its events are written in one transaction, so the layer itself leaves none without the other: whoever finds one
 * knows that somebody else wrote to the tables. Calls may come in meanwhile.
 */
export function createCallVerification(store: LedgerStore): CallVerification {
  const gaps: CallGap[] = [];
  let gapCount = 0;
  const gap = ({ tenantId, invocationId }: CallKey, reason: string): void => {
    gapCount += 1;
    if (gaps.length < GAPS_NAMED_MAX) gaps.push({ tenant_id: tenantId, invocation_id: invocationId, reason });
  };
  /** Calls of the page before: the events of a call mostly come one after the other. */
  let known: ReadonlyMap<string, CallKey> = new Map();
  /** Calls without a row, so that each counts once. */
  const missing = new Set<string>();

  return {
    async read(events) {
      const told = callsOf(events);
      const asked = [...told].filter(([text]) => !known.has(text) && !missing.has(text)).map(([, call]) => call);
      known = told;
      const standing = new Set((await store.recordedCalls(asked)).map(textOfCall));
      for (const call of asked) {
        const text = textOfCall(call);
        if (standing.has(text)) continue;
        if (missing.size < MISSING_KNOWN_MAX) missing.add(text);
        gap(call, 'the chain tells of it, and it has no row');
      }
    },
    async finish() {
      let checked = 0;
      let open = 0;
      let after: CallKey | undefined;
      for (;;) {
        const rows = await store.allInvocations({ ...(after === undefined ? {} : { after }), limit: PAGE_ROWS });
        const told = statesTold(await store.eventsAbout(rows.map(({ call }) => call)));
        for (const { call, record } of rows) {
          checked += 1;
          const isReadable = isRecordOf(record, call);
          if (isReadable && !isFinal(record.state)) open += 1;
          const reason = isReadable ? gapOf(record, told.get(textOfCall(call)) ?? []) : UNREADABLE;
          if (reason !== undefined) gap(call, reason);
        }
        after = rows.at(-1)?.call;
        if (rows.length < PAGE_ROWS) break;
      }
      return { checked, open, gaps: gapCount, first_gaps: gaps };
    },
  };
}

const UNREADABLE = 'its row says nothing that can be read, or tells of another call';

/** Whoever writes to the table may leave anything there. */
function isRecordOf(record: Partial<InvocationRecord> | null, { tenantId, invocationId }: CallKey): boolean {
  if (record?.tenantId !== tenantId || record.invocationId !== invocationId) return false;
  return record.state !== undefined && Object.hasOwn(TRANSITIONS, record.state);
}

/** What is missing of a call, in words for an auditor. */
function gapOf({ state, heldEvents, outputHash }: InvocationRecord, told: readonly CloudEvent[]): string | undefined {
  // A call that runs: its row holds its first events, and the chain does not yet (system design §4).
  if (!isFinal(state) && heldEvents !== undefined) return undefined;
  if (told.length === 0) return 'it has a row, and no chain tells of it';
  if (!told.some(({ data }) => data['state'] === 'DECLARED')) return 'the chain does not tell how it began';
  if (!isFinal(state)) return undefined;
  const ends = told.filter(({ data }) => data['state'] === state);
  if (ends.length === 0) return `its row says ${state}, and the chain tells of no such end`;
  if (state !== 'COMPLETED' || ends.some(({ data }) => data['output_hash'] === outputHash)) return undefined;
  return 'its row has another hash of the result than the chain';
}

/** The events that tell in which state a call is, by call. */
function statesTold(events: readonly CloudEvent[]): ReadonlyMap<string, readonly CloudEvent[]> {
  const told = new Map<string, CloudEvent[]>();
  for (const event of events) {
    const call = callOf(event);
    if (call === undefined) continue;
    const text = textOfCall(call);
    const others = told.get(text);
    if (others === undefined) told.set(text, [event]);
    else others.push(event);
  }
  return told;
}

const callsOf = (events: readonly CloudEvent[]): ReadonlyMap<string, CallKey> =>
  new Map(events.map(callOf).flatMap((call) => (call === undefined ? [] : [[textOfCall(call), call] as const])));

/** Undefined when the event says of no call in which state it is. */
function callOf({ type, tenantid, data }: CloudEvent): CallKey | undefined {
  const invocationId = data?.['invocation_id'];
  if (!STATE_EVENTS.has(type) || typeof data?.['state'] !== 'string' || typeof invocationId !== 'string')
    return undefined;
  return { tenantId: tenantid, invocationId };
}
