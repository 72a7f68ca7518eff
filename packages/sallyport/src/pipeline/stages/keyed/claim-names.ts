import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Warning } from '../../../../api/schemas/invocation.ts';
import { isOwner } from '../../../domain/invocation/call-owner.ts';
import { type InvocationRecord, leftNothing, nonceOf, waitedInVain } from '../../../domain/invocation/record.ts';
import { isSafeToRepeat } from '../../../domain/tool/tool-version.ts';
import type { Admitted, CallRequest, Fresh, Resolved, Validated } from '../../call.ts';
import type { IdempotencyClaim } from '../../idempotency-store.port.ts';
import { mayHaveRow, type OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../parts.ts';
import { retryWhileUnavailable } from '../../record/retry-while-unavailable.ts';
import { storedAnswer } from '../../record/stored-answer.ts';
import type { EarlierAnswer } from '../../stage.ts';
import { asSettled } from './as-settled.ts';
import { type CallName, nameTaken } from './call-names.ts';
import { firstCall } from './first-call.ts';

type Needs = CallRequest & Admitted & Resolved & Validated;
export type ClaimParts = Pick<
  PipelineParts,
  'clock' | 'log' | 'idempotency' | 'records' | 'running' | 'limits' | 'instanceId' | 'outcomes'
>;

/** The id of a call once its names are claimed, and its claims. */
export type ClaimedNames = Required<Pick<Fresh, 'invocationId' | 'confirmClaims' | 'renewClaims'>>;

const claimedAs = (parts: ClaimParts, invocationId: string, mine: readonly IdempotencyClaim[]): ClaimedNames => ({
  invocationId,
  confirmClaims: () => confirm(parts, mine),
  renewClaims: () => renew(parts, mine),
});

/**
 * Claims the names of a call, one after the other.
 * @param warnings receives the warnings of the call
 * @returns the id that the call is recorded under when it is to run: the one that its caller chose, unless an earlier
 *   call has a row there; else the answer of the first call with that name, or why there is none
 */
export async function claimNames(
  parts: ClaimParts,
  call: Needs,
  ongoing: OngoingCall,
  names: readonly CallName[],
  warnings: Warning[],
): Promise<ClaimedNames | Failure | EarlierAnswer> {
  let { invocationId } = call;
  const mine: IdempotencyClaim[] = [];
  const lost = new Set<string>();
  for (const name of names) {
    const wanted = claimOf(parts, call, ongoing, name, name.kind === 'id' ? name.shown : invocationId);
    const claimed = await claimName(parts, call, ongoing, { name, mine: wanted, lost, warnings }).catch((thrown) => {
      // The claim may be made all the same, and only the answer lost.
      freeOnFailure(parts, call, ongoing, name, wanted);
      throw thrown;
    });
    if (isEnd(claimed)) return claimed;
    freeOnFailure(parts, call, ongoing, name, claimed);
    const free = name.kind === 'id' ? await besideRow(parts, call, ongoing, { name, claimed, warnings }) : claimed;
    if (isEnd(free)) return free;
    invocationId = free.invocationId;
    mine.push(free);
  }
  return claimedAs(parts, invocationId, mine);
}

/**
 * Renews the claims of a call that waited: it still has its names, unless it waited for longer than claims last.
 * @throws E3811 when one is another call's
 */
export async function keepNames(
  parts: ClaimParts,
  call: Needs,
  ongoing: OngoingCall,
  names: readonly CallName[],
): Promise<ClaimedNames> {
  const mine = names.map((name) => claimOf(parts, call, ongoing, name, call.invocationId));
  for (const [at, name] of names.entries()) freeOnFailure(parts, call, ongoing, name, mine[at] as IdempotencyClaim);
  await renew(parts, mine);
  return claimedAs(parts, call.invocationId, mine);
}

const claimOf = (
  { instanceId }: ClaimParts,
  { principal }: Needs,
  { nonce }: OngoingCall,
  { claimed, requestHash }: CallName,
  invocationId: string,
): IdempotencyClaim => ({
  tenantId: principal.tenantId,
  key: claimed,
  requestHash,
  nonce,
  invocationId,
  instanceId,
});

/** The claim that a call may run with, or its end without one. */
type Claimed = IdempotencyClaim | Failure | EarlierAnswer;

const isEnd = (claimed: Claimed): claimed is Failure | EarlierAnswer => 'answered' in claimed || 'code' in claimed;

/**
 * Handles a claim of an id that already has a row: the claim of that row's call expired, or a crash of the database
 * lost it. Only the claimant writes the row of an id, so the row found now is final.
 * @returns the claim, for another row when that call left nothing; that call's answer, when the request was the same;
 *   else E3802
 */
async function besideRow(
  parts: ClaimParts,
  call: Needs,
  ongoing: OngoingCall,
  {
    name,
    claimed,
    warnings,
  }: { readonly name: CallName; readonly claimed: IdempotencyClaim; readonly warnings: Warning[] },
): Promise<Claimed> {
  if (claimed.invocationId !== name.shown) return claimed;
  const row = await parts.records.findInvocation(claimed.tenantId, name.shown);
  if (row === undefined) return claimed;
  if (!isSameRequest(row, call)) return nameTaken(name);
  const holder = { ...claimed, nonce: nonceOf(row) };
  const first = await earlierCall(parts, call, ongoing, holder, warnings);
  if ('answer' in first && !leftNothing(first.answer)) return answerWith(parts, first);
  const own = { ...claimed, invocationId: claimed.nonce };
  return parts.idempotency.takeOver(own, claimed.nonce, parts.limits.idempotencyTtlMs);
}

const isSameRequest = (row: InvocationRecord, { principal, tool, inputHash }: Needs): boolean =>
  isOwner(principal, row) && row.toolId === tool.manifest.tool_id && row.inputHash === inputHash;

interface Wanted {
  readonly name: CallName;
  readonly mine: IdempotencyClaim;
  /**
   * Nonces of calls that left no row. Collected while the names of one call are claimed, so that each is waited for
   * once.
   */
  readonly lost: Set<string>;
  readonly warnings: Warning[];
}

/** Claims one name. The claim when this call is to run; else the first call's answer, or why there is none. */
async function claimName(
  parts: ClaimParts,
  call: Needs,
  ongoing: OngoingCall,
  { name, mine, lost, warnings }: Wanted,
): Promise<Claimed> {
  const { idempotency, limits } = parts;
  // The first call may still write a row under the id that its caller chose; a call with another nonce never does.
  const next = name.kind === 'id' ? { ...mine, invocationId: mine.nonce } : mine;
  let holder = await idempotency.claim(mine, limits.idempotencyTtlMs);
  while (holder.nonce !== mine.nonce) {
    if (holder.requestHash !== mine.requestHash) {
      const free = name.kind === 'id' ? undefined : await freeAfterWait(parts, holder, next);
      if (free === undefined) return nameTaken(name);
      holder = free;
      continue;
    }
    const first = lost.has(holder.nonce) ? LOST : await earlierCall(parts, call, ongoing, holder, warnings);
    if ('left' in first && first.left === 'freed') {
      holder = await idempotency.claim(mine, limits.idempotencyTtlMs);
      continue;
    }
    if ('left' in first) {
      const isLost = first.left === 'lost';
      const { nonce } = holder;
      holder = await takeOver(parts, next, holder, isLost);
      // It has its claim back when its row came meanwhile: from now on it is waited for as every other call.
      if (isLost && holder.nonce !== nonce) lost.add(nonce);
      else lost.delete(nonce);
      continue;
    }
    const free = await freeAfter(
      parts,
      first.answer,
      name.kind === 'id' && waitedInVain(first.answer) ? next : mine,
      holder,
    );
    if (free === undefined) return answerWith(parts, first);
    holder = free;
  }
  return holder;
}

/** The call that has a claim: its row as the answer to others, or why another call may run in its place. */
type EarlierCall =
  | { readonly row: InvocationRecord; readonly answer: InvocationRecord }
  | { readonly left: 'repeatable' | 'lost' | 'freed' };

const LOST: EarlierCall = { left: 'lost' };

async function earlierCall(
  parts: ClaimParts,
  call: Needs,
  { controller }: OngoingCall,
  holder: IdempotencyClaim,
  warnings: Warning[],
): Promise<EarlierCall> {
  const later = call.request.execution_options?.async_mode === true;
  const row = await firstCall(parts, holder, later, controller.signal);
  if (typeof row !== 'object') return { left: row };
  const answer = await asSettled(parts, row, warnings);
  return answer === 'repeatable' ? { left: answer } : { row, answer };
}

/** The answer from a row; refused when the row differs from the audit of the call. */
async function answerWith(
  parts: ClaimParts,
  { row, answer }: Extract<EarlierCall, { readonly answer: unknown }>,
): Promise<Failure | EarlierAnswer> {
  const answered = await storedAnswer(parts, row, answer);
  return isFailure(answered) ? answered : { answered };
}

/**
 * Frees the names of a first call that was refused, or cancelled by its caller, before anything of it ran: its refusal
 * is no answer to another request, to which the reason may not apply.
 * @returns the claim in force now; undefined when it is still that call's
 */
async function freeAfter(
  { idempotency, limits }: ClaimParts,
  first: InvocationRecord,
  mine: IdempotencyClaim,
  from: IdempotencyClaim,
): Promise<IdempotencyClaim | undefined> {
  if (!leftNothing(first)) return undefined;
  if (waitedInVain(first)) return idempotency.takeOver(mine, from.nonce, limits.idempotencyTtlMs);
  const now = await idempotency.claim(mine, limits.idempotencyTtlMs);
  return now.nonce === from.nonce ? undefined : now;
}

/** As `freeAfter`, for a request that differs from the one that has the claim. */
async function freeAfterWait(
  { idempotency, records, limits }: ClaimParts,
  from: IdempotencyClaim,
  mine: IdempotencyClaim,
): Promise<IdempotencyClaim | undefined> {
  const first = await records.findInvocation(from.tenantId, from.invocationId);
  if (first === undefined || nonceOf(first) !== from.nonce || !waitedInVain(first)) return undefined;
  return idempotency.takeOver(mine, from.nonce, limits.idempotencyTtlMs);
}

/**
 * Takes a claim over without both calls running. The taker writes the claim first and then looks for the other call's
 * row; the other call writes its row first and then checks its claim. So at least one of them sees the other.
 */
async function takeOver(
  { idempotency, records, limits }: ClaimParts,
  mine: IdempotencyClaim,
  from: IdempotencyClaim,
  lost: boolean,
): Promise<IdempotencyClaim> {
  const ttlMs = limits.idempotencyTtlMs;
  const holder = await idempotency.takeOver(mine, from.nonce, ttlMs);
  if (!lost || holder.nonce !== mine.nonce) return holder;
  const late = await records.findInvocation(mine.tenantId, from.invocationId);
  // Refused before anything of it ran, so its names were free already.
  if (late === undefined || leftNothing(late)) return holder;
  return idempotency.takeOver({ ...mine, nonce: from.nonce, invocationId: from.invocationId }, mine.nonce, ttlMs);
}

/**
 * Frees the names of a call that failed before it could have an effect, for another try. In a turn group this also
 * covers tools that are safe to repeat: the cause of their failure may be gone. An id with a row is not freed: the row
 * is this call's.
 */
function freeOnFailure(
  { idempotency }: ClaimParts,
  { tool }: Needs,
  ongoing: OngoingCall,
  { kind }: CallName,
  { tenantId, key, nonce }: IdempotencyClaim,
): void {
  const isRepeatable = kind === 'turn-group' && isSafeToRepeat(tool.manifest);
  const isFree = (): boolean => (kind === 'id' ? !mayHaveRow(ongoing) : ongoing.toolRun.attempts === 0 || isRepeatable);
  const release = (): Promise<void> => idempotency.release(tenantId, key, nonce);
  ongoing.undo.undo(() => (isFree() ? release().catch((thrown) => releaseLater(release, thrown)) : undefined));
}

/**
 * Reads the claims and makes none: a claim made now would reach the disk later than the row, which must come second.
 */
async function confirm({ idempotency }: ClaimParts, claims: readonly IdempotencyClaim[]): Promise<void> {
  for (const { tenantId, key, nonce } of claims) {
    if ((await idempotency.find(tenantId, key))?.nonce !== nonce) throw new ToolLayerError('E3811', FASTER);
  }
}

/** Makes the claims again, where the database has lost them. @throws E3811 when one is another call's */
async function renew({ idempotency, limits }: ClaimParts, claims: readonly IdempotencyClaim[]): Promise<void> {
  for (const claim of claims) {
    const { nonce } = await idempotency.claim(claim, limits.idempotencyTtlMs);
    if (nonce !== claim.nonce) throw new ToolLayerError('E3811', FASTER);
  }
}

const FASTER =
  'Another call with this id or idempotency key was faster, or the claim was lost with the database. Nothing of this call ran: call again.';

/**
 * Nobody waits for an unavailable store here; until the claim is released, duplicates wait for a call that has ended.
 */
function releaseLater(release: () => Promise<void>, thrown: unknown): void {
  if (failureOf(thrown).code !== 'E3812') throw thrown;
  retryWhileUnavailable(release).catch(() => undefined);
}
