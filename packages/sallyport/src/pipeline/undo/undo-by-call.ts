import { setTimeout as wait } from 'node:timers/promises';
import { entryOf } from '@sallyport/std/error/failure';
import { sha256 } from '@sallyport/std/sha256';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Undoer, UndoneCall, UndoStep } from '../../domain/invocation/undo-step.ts';
import type { RunCall } from '../ongoing/ongoing-call.ts';
import type { OutcomeStore } from '../outcome-store.port.ts';
import { CALL_STEP, type CallStep } from '../stages/attempts/compensating-step.ts';

/** Dependencies of steps that are taken back by calls of other tools. */
export interface UndoByCallParts {
  readonly runCall: RunCall;
  readonly records: Pick<LedgerStore, 'findInvocation'>;
  /** Settlements of compensating calls that were cut off. */
  readonly outcomes: Pick<OutcomeStore, 'find'>;
}

/** Calls made for one step, over all rollbacks that reached it; after that a person has to look. */
const CALLS_MAX = 32;
/** Calls made for one step in one rollback, as long as the failures are temporary and had no effect. */
const CALLS_AT_ONCE_MAX = 4;
/** The first wait between two of them, ms, doubled each time, and the longest. */
const WAIT_MS = 50;
const WAIT_MS_MAX = 2_000;

/**
 * Takes a step back by calling the tool that it names, through every stage, for the agent whose call it was (PIPE-03).
 * The id of each call is derived from its step, so that after a crash the record shows what became of it: a call that
 * may have had its effect is never repeated.
 */
export function undoByCall(parts: UndoByCallParts): Undoer {
  return { anywhere: true, undo: (step, of) => callBack(parts, stepOf(step), of) };
}

/**
 * What a compensating call says of its step: it is taken back, it may be tried again, or its state is unknown for now.
 */
type Verdict = { readonly is: 'done' } | { readonly is: 'again' | 'stuck'; readonly why: string };

async function callBack(parts: UndoByCallParts, step: CallStep, of: UndoneCall): Promise<void> {
  let made = 0;
  for (let number = 1; number <= CALLS_MAX; number += 1) {
    const invocationId = idOf(of, number);
    const known = await parts.records.findInvocation(of.tenantId, invocationId);
    if (known === undefined) made += 1;
    const record = known ?? (await call(parts, step, of, number));
    const verdict = await judge(parts, record, of, invocationId);
    if (verdict.is === 'done') return;
    const isOver = verdict.is === 'stuck' || (made > 0 && !mayPass(record)) || made >= CALLS_AT_ONCE_MAX;
    if (isOver) throw new Error(verdict.why);
    if (known === undefined) await wait(waitMs(record, made));
  }
  throw new Error(`${step.request.tool_id} was called ${CALLS_MAX} times and did not take the call back`);
}

/** Letters and digits of a hash: a valid id, whatever the id of the call is. */
const idOf = ({ tenantId, invocationId, position }: UndoneCall, number: number): string =>
  `undo-${sha256(JSON.stringify([tenantId, invocationId, position])).slice(0, 40)}-${number}`;

function call({ runCall }: UndoByCallParts, step: CallStep, of: UndoneCall, number: number): Promise<InvocationRecord> {
  const { request, claims, door } = step;
  const invocation_id = idOf(of, number);
  return runCall({
    request: { ...request, invocation_id, execution_options: { idempotency_key: invocation_id } },
    caller: { door },
    compensates: of.invocationId,
    onBehalfOf: claims,
  });
}

async function judge(
  { outcomes }: UndoByCallParts,
  record: InvocationRecord,
  { tenantId, invocationId }: UndoneCall,
  id: string,
): Promise<Verdict> {
  const { state, failure, metadata } = record;
  // Callers choose ids too; only the layer says which call a call takes back.
  if (record.compensates !== invocationId) return { is: 'stuck', why: `${id} is the id of another call` };
  if (state === 'COMPLETED') return { is: 'done' };
  if (!isFinal(state)) return { is: 'stuck', why: `${id} is ${state} still` };
  const why = `${id} failed with ${failure?.code}`;
  if (failure?.code === 'E3804') {
    const settled = await outcomes.find(tenantId, id);
    if (settled?.outcome === 'happened') return { is: 'done' };
    return { is: settled === undefined ? 'stuck' : 'again', why };
  }
  // E3901: the tool's function is not bound yet.
  const hasNotRun = failure?.code === 'E3811' || failure?.code === 'E3901';
  const nothingRan = (metadata?.attempts ?? 0) === 0 || hasNotRun || state === 'ROLLED_BACK';
  const isSafe = record.sideEffect === 'pure' || record.sideEffect === 'idempotent';
  return { is: nothingRan || isSafe ? 'again' : 'stuck', why };
}

/** True when another try at once may succeed; otherwise the step is tried again with the next rollback. */
const mayPass = ({ failure }: InvocationRecord): boolean => failure !== undefined && entryOf(failure.code).retryable;

const waitMs = ({ failure }: InvocationRecord, made: number): number =>
  Math.min(WAIT_MS_MAX, Math.max(failure?.retryAfterMs ?? 0, WAIT_MS * 2 ** (made - 1)));

function stepOf(step: UndoStep): CallStep {
  if (step.kind !== CALL_STEP || typeof step['request'] !== 'object' || typeof step['claims'] !== 'object')
    throw new Error('the step names no call');
  return step as CallStep;
}
