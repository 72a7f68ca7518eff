// Hot path: every call is put on record here.

import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import { isLegalTransition } from '../../domain/invocation/lifecycle.ts';
import { type InvocationRecord, nonceOf } from '../../domain/invocation/record.ts';
import { sideEffectOf } from '../../domain/tool/tool-version.ts';
import { type EndedCall, establish, type OngoingCall } from '../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../parts.ts';
import { eventsOf } from '../record/call-events.ts';
import { recordOf, repeated } from '../record/call-record.ts';
import { type BegunCall, createFirstEvents } from '../record/first-events.ts';
import type { CallEnd } from '../record/late-ends.ts';
import { settleOpen } from '../record/recover.ts';
import { retryWhileUnavailable } from '../record/retry-while-unavailable.ts';
import { withoutSecrets } from '../record/without-secrets.ts';
import type { EnterState, Wrapper } from './wrapper.ts';

type Parts = Pick<
  PipelineParts,
  'clock' | 'ledger' | 'records' | 'running' | 'lateEnds' | 'instanceId' | 'log' | 'redactor'
>;

/**
 * Puts every call on record, however it ends: its states as events and its row, both in one transaction before the
 * answer. A call that cannot be run twice is on record before it runs (system design §4).
 */
export function audited(parts: Parts): Wrapper {
  const firstEvents = createFirstEvents(parts.ledger);
  return (next) => async (ongoing) => {
    /** Number of transitions that are already written. */
    let written = ongoing.transitions.length;
    let begunCall: BegunCall | undefined;
    const enter: EnterState = (state) => {
      // A call that waited passes again through states that are on record.
      if (ongoing.resumed !== undefined && ongoing.transitions.some((each) => each.state === state)) return undefined;
      const hold = ongoing.resumed?.hold;
      if (hold !== undefined && state === 'EXECUTING' && !isSafe(ongoing)) return hold.begin().then(begun);
      return advance(state);
    };
    const begun = (isMine: boolean): Promise<void> | undefined => {
      if (!isMine) throw new ToolLayerError('E3811', 'Another instance has taken the call over, and runs it.');
      return advance('EXECUTING');
    };
    const advance = (state: LifecycleState): Promise<void> | undefined => {
      move(parts, ongoing, state);
      if (state !== 'EXECUTING') return undefined;
      const durability = beforeExecution(ongoing);
      if (durability === undefined) return undefined;
      const from = written;
      written = ongoing.transitions.length;
      const record = recordOf(parts, ongoing, { state });
      const events = eventsOf(ongoing, record, from);
      // A worker may write the row of a resumed call while it runs.
      if (ongoing.resumed === undefined) begunCall = firstEvents.begin(record, events, durability);
      const standing = begunCall?.standing.catch(disown) ?? parts.ledger.commit({ record, events, durability });
      const { confirmClaims } = ongoing.call;
      return confirmClaims === undefined ? standing : standing.then(confirmClaims);
    };
    /** Another call took the id after the database lost this call's claim. Nothing of this call is written yet. */
    const disown = (thrown: unknown): void => {
      if (failureOf(thrown).code !== 'E3802') throw thrown;
      establish(ongoing.call, { invocationId: ongoing.nonce });
      begunCall = undefined;
      written = 0;
      throw new ToolLayerError(
        'E3811',
        'Another call with this id runs instead of this one. Nothing of it ran: call again.',
      );
    };
    if (ongoing.resumed === undefined) move(parts, ongoing, 'DECLARED');
    const end = discreet(parts, ongoing, await next(ongoing, enter));
    if (ongoing.resumed?.hold?.counts(end.failure, ongoing.toolRun.attempts) === false) {
      return { ...end, record: recordOf(parts, ongoing, { state: 'EXECUTING' }) };
    }
    const unlinked = begunCall === undefined ? NONE : await begunCall.unlinked();
    const eventsTo = (record: InvocationRecord): EventDraft[] => [
      ...unlinked,
      ...eventsOf(ongoing, record, written, end),
    ];
    return end.waits === undefined ? settled(parts, ongoing, end, eventsTo) : setAside(parts, ongoing, end, eventsTo);
  };
}

const NONE: readonly EventDraft[] = [];

/** The events that the chain gets with the row that is written now. */
type EventsTo = (record: InvocationRecord) => EventDraft[];

const discreet = ({ redactor }: Parts, ongoing: OngoingCall, end: EndedCall): EndedCall =>
  end.failure === undefined ? end : { ...end, failure: withoutSecrets(redactor, ongoing, end.failure) };

function move({ clock }: Parts, ongoing: OngoingCall, state: LifecycleState): void {
  const from = ongoing.transitions.at(-1)?.state;
  if (from !== undefined && !isLegalTransition(from, state)) {
    throw new ToolLayerError('E3900', `The call cannot go from ${from} to ${state}.`);
  }
  ongoing.transitions.push({ state, at: clock.now() });
}

/** True when the tool may run again after a run whose end is unknown. */
function isSafe({ call: { tool } }: OngoingCall): boolean {
  const policy = tool === undefined ? 'unknown' : sideEffectOf(tool.manifest);
  return policy === 'pure' || policy === 'idempotent';
}

/** The durability that the row needs before the tool runs; undefined when none. */
function beforeExecution(ongoing: OngoingCall): 'synchronous' | 'asynchronous' | undefined {
  const { tool, idempotencyKey, request } = ongoing.call;
  if (tool === undefined) return 'synchronous';
  // A crash of the database could undo the key, and free it for another call while this one runs and is answered.
  if (idempotencyKey !== undefined) return 'synchronous';
  const policy = sideEffectOf(tool.manifest);
  // A call that waited has no caller who waits for its answer, and of several that resume one checkpoint only one may: the
  // row of each has to say that it runs.
  const isResumed = ongoing.resumed !== undefined || request.checkpoint_config?.resume_from_checkpoint_id !== undefined;
  if (policy === 'pure') return isResumed ? 'asynchronous' : undefined;
  return policy === 'idempotent' ? 'asynchronous' : 'synchronous';
}

/** True when the row of the call may say that it runs. */
const saysThatItRuns = (ongoing: OngoingCall): boolean =>
  ongoing.transitions.some(({ state }) => state === 'EXECUTING') && beforeExecution(ongoing) !== undefined;

async function settled(parts: Parts, ongoing: OngoingCall, end: EndedCall, eventsTo: EventsTo): Promise<EndedCall> {
  move(parts, ongoing, end.state);
  const record = recordOf(parts, ongoing, end);
  const begun = saysThatItRuns(ongoing);
  const lasting = begun && ongoing.toolRun.attempts > 0;
  // A crash of the database must not bring back a row that says that the call runs, whether the tool was reached or not.
  const durability = begun || record.state === 'DENIED' ? 'synchronous' : 'asynchronous';
  const entry: CallEnd = { record, events: eventsTo(record), durability };
  try {
    await parts.ledger.commit(entry);
  } catch (thrown) {
    // The row may say that the call runs, and must not say so for ever.
    const late = begun ? parts.lateEnds.write(entry) : undefined;
    const standing = (await late) ?? (await takenRow(parts, record, thrown));
    if (standing === undefined || nonceOf(standing) !== ongoing.nonce)
      return unrecorded(parts, ongoing, record, lasting ? lostOutcome(ongoing, thrown) : retriable(thrown));
    if (!isSameEnd(standing, record)) return { ...end, record: standing };
  }
  await ongoing.undo.recorded(parts.log);
  return { ...end, record: end.answered === undefined ? record : repeated(record, end.answered) };
}

const isSameEnd = (one: InvocationRecord, other: InvocationRecord): boolean =>
  one.state === other.state && one.failure?.code === other.failure?.code;

/**
 * An accepted call is never lost: its row is on the disk before the caller learns that the call waits. A store that is
 * away is asked again, since it may have the row already: a call that is said to have failed must not run later.
 */
async function setAside(parts: Parts, ongoing: OngoingCall, end: EndedCall, eventsTo: EventsTo): Promise<EndedCall> {
  const record = recordOf(parts, ongoing, end);
  const entry: CallEnd = { record, events: eventsTo(record), durability: 'synchronous' };
  // Its server works on it already.
  const begun = saysThatItRuns(ongoing);
  try {
    await (begun ? parts.ledger.commit(entry) : retryWhileUnavailable((again) => accept(parts, ongoing, entry, again)));
    return { ...end, record: begun ? record : await withItsNames(parts, ongoing, record) };
  } catch (thrown) {
    const late = begun ? parts.lateEnds.write(entry) : undefined;
    const standing = (await late) ?? (await takenRow(parts, record, thrown));
    if (standing !== undefined && nonceOf(standing) === ongoing.nonce)
      return { ...end, record: begun ? standing : await withItsNames(parts, ongoing, standing) };
    return unrecorded(parts, ongoing, record, begun ? lostOutcome(ongoing, thrown) : lostAcceptance(ongoing, thrown));
  }
}

/** The claims come first, also after a database that was away may have lost them: a row on the disk has them with it. */
async function accept(parts: Parts, { call }: OngoingCall, entry: CallEnd, again: boolean): Promise<void> {
  if (again) await call.renewClaims?.();
  await parts.ledger.commit(entry);
}

/**
 * Ends a call that came to wait when another may have its names by now: a crash of the database can undo claims whose
 * row was not written yet. The row is written first and then the claims are read, as before a tool runs.
 * @returns the row in force. A call whose claims or end cannot be read or written waits on: they are read again before
 *   its tool runs.
 */
async function withItsNames(
  parts: Parts,
  { call: { confirmClaims } }: OngoingCall,
  waiting: InvocationRecord,
): Promise<InvocationRecord> {
  if (confirmClaims === undefined) return waiting;
  try {
    const lost = await retryWhileUnavailable(confirmClaims).then(() => undefined, failureOf);
    if (lost?.code !== 'E3811') return waiting;
    await retryWhileUnavailable(() => settleOpen(parts, waiting, lost));
    return (await parts.records.findInvocation(waiting.tenantId, waiting.invocationId)) ?? waiting;
  } catch (thrown) {
    parts.log.warn('claims-lost', { invocation_id: waiting.invocationId, reason: failureOf(thrown).message });
    return waiting;
  }
}

/** Its row may be there, and then the call runs: it is not said to have failed where a second one has another effect. */
function lostAcceptance(ongoing: OngoingCall, cause: unknown): Failure {
  if (isSafe(ongoing) || failureOf(cause).details?.['maybe_written'] !== true) return retriable(cause);
  const message =
    'The database went away while the call was accepted, so it may run later. Ask for its status before you call again.';
  return failure('E3804', message, { cause });
}

/** The row that blocked this one: this call's own, written earlier or by another run of it, or another call's. */
async function takenRow(
  { records }: Parts,
  { tenantId, invocationId }: InvocationRecord,
  thrown: unknown,
): Promise<InvocationRecord | undefined> {
  if (failureOf(thrown).code !== 'E3802') return undefined;
  return records.findInvocation(tenantId, invocationId).catch(() => undefined);
}

/** When the database lost the claim of a call, the id is another's, and the same request may be made again. */
const retriable = (thrown: unknown): Failure => {
  const failed = failureOf(thrown);
  return failed.code === 'E3802'
    ? failure('E3811', 'Another call with this id was faster. Nothing of this call is kept: call again.')
    : failed;
};

function lostOutcome(ongoing: OngoingCall, cause: unknown): Failure {
  if (isSafe(ongoing))
    return failure('E3811', 'The tool ran, but its outcome could not be recorded. It is safe to call again.', {
      cause,
    });
  const message = 'The tool ran, but its outcome could not be recorded. Find out what it did before you call again.';
  return failure('E3804', message, { cause });
}

/** An answer that is not on record is not given: the caller learns that the record failed. */
function unrecorded(
  parts: Parts,
  ongoing: OngoingCall,
  { invocationId }: InvocationRecord,
  failed: Failure,
): EndedCall {
  const end: EndedCall = { state: 'FAILED', failure: failed };
  return { ...end, record: { ...recordOf(parts, ongoing, end), invocationId } };
}
