import { type Failure, failure } from '../../../domain/error/failure.ts';
import { failureOf, ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { isSafeToRepeat } from '../../../domain/tool/tool-version.ts';
import type { Admitted, CallRequest, Resolved, Validated } from '../../call.ts';
import { type Flight, mayHaveRow } from '../../flight/flight.ts';
import type { IdempotencyClaim } from '../../idempotency-store.port.ts';
import type { PipelineParts } from '../../parts.ts';
import { patiently } from '../../record/patiently.ts';
import { changedAnswer } from '../../record/stored-answer.ts';
import type { EarlierAnswer } from '../../stage.ts';
import { asSettled } from './as-settled.ts';
import { type CallName, nameTaken } from './call-names.ts';
import { firstCall } from './first-call.ts';

type Needs = CallRequest & Admitted & Resolved & Validated;
export type ClaimParts = Pick<
  PipelineParts,
  'clock' | 'log' | 'idempotency' | 'records' | 'running' | 'limits' | 'instanceId' | 'outcomes'
>;

/**
 * Claims the names of a call, one after the other.
 * @returns the id that the call is recorded under when it is to run: the one that its caller chose, unless a call before it
 *   has a row there; else what the first call with a name answered, or why not
 */
export async function claimNames(
  parts: ClaimParts,
  call: Needs,
  flight: Flight,
  names: readonly CallName[],
): Promise<string | Failure | EarlierAnswer> {
  let { invocationId } = call;
  const mine: IdempotencyClaim[] = [];
  const lost = new Set<string>();
  for (const name of names) {
    const wanted = claimOf(parts, call, flight, name, name.kind === 'id' ? name.shown : invocationId);
    const claimed = await claimName(parts, call, flight, { name, mine: wanted, lost });
    if ('answered' in claimed || 'code' in claimed) return claimed;
    freeOnFailure(parts, call, flight, name, claimed);
    // A row from before the claim, which had run out: its call was another one.
    const isUsed = name.kind === 'id' && claimed.invocationId === name.shown && (await hasRow(parts, claimed));
    if (isUsed) return nameTaken(name);
    invocationId = claimed.invocationId;
    mine.push(claimed);
  }
  flight.confirmClaims = () => confirm(parts, mine);
  return invocationId;
}

/** Claims the names of a call that waited once more: it has them, unless it waited for longer than claims last. */
export async function keepNames(
  parts: ClaimParts,
  call: Needs,
  flight: Flight,
  names: readonly CallName[],
): Promise<Failure | undefined> {
  const mine = names.map((name) => claimOf(parts, call, flight, name, call.invocationId));
  for (const [at, name] of names.entries()) freeOnFailure(parts, call, flight, name, mine[at] as IdempotencyClaim);
  for (const claim of mine) {
    const { nonce } = await parts.idempotency.claim(claim, parts.limits.idempotencyTtlMs);
    if (nonce !== claim.nonce) return failure('E3811', FASTER);
  }
  flight.confirmClaims = () => confirm(parts, mine);
  return undefined;
}

const claimOf = (
  { instanceId }: ClaimParts,
  { principal }: Needs,
  { nonce }: Flight,
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

const hasRow = async ({ records }: ClaimParts, { tenantId, invocationId }: IdempotencyClaim): Promise<boolean> =>
  (await records.findInvocation(tenantId, invocationId)) !== undefined;

interface Wanted {
  readonly name: CallName;
  readonly mine: IdempotencyClaim;
  /** Nonces of calls that are known to have left nothing; those that are found out now are added. */
  readonly lost: Set<string>;
}

/** The claim of this call when it is to run; else what the first call answered, or why not. */
async function claimName(
  parts: ClaimParts,
  call: Needs,
  flight: Flight,
  { name, mine, lost }: Wanted,
): Promise<IdempotencyClaim | Failure | EarlierAnswer> {
  const { idempotency, limits } = parts;
  const later = call.request.execution_options?.async_mode === true;
  // The first call may still write a row under the id that its caller chose: another call never does.
  const next = name.kind === 'id' ? { ...mine, invocationId: mine.nonce } : mine;
  let holder = await idempotency.claim(mine, limits.idempotencyTtlMs);
  while (holder.nonce !== mine.nonce) {
    if (holder.requestHash !== mine.requestHash) return nameTaken(name);
    const found = lost.has(holder.nonce) ? 'lost' : await firstCall(parts, holder, later, flight.controller.signal);
    if (found === 'lost') lost.add(holder.nonce);
    const first = typeof found === 'object' ? await asSettled(parts, found, flight.warnings) : found;
    if (typeof first === 'object') {
      const free = await freeAfter(parts, first, mine, holder);
      if (free === undefined) {
        const changed = typeof found === 'object' ? await changedAnswer(parts, found, first) : undefined;
        return changed ?? { answered: first };
      }
      holder = free;
      continue;
    }
    holder = await takeOver(parts, next, holder, first === 'lost');
  }
  return holder;
}

/**
 * A first call that was refused, or given up by its caller, before anything of it ran left its names free: that is no
 * answer to others, who did not ask for what it was refused for.
 * @returns the claim that stands now; undefined when it is still that call's
 */
async function freeAfter(
  { idempotency, limits }: ClaimParts,
  { failure: failed, metadata }: InvocationRecord,
  mine: IdempotencyClaim,
  from: IdempotencyClaim,
): Promise<IdempotencyClaim | undefined> {
  if (failed === undefined || metadata?.attempts !== 0) return undefined;
  const now = await idempotency.claim(mine, limits.idempotencyTtlMs);
  return now.nonce === from.nonce ? undefined : now;
}

/**
 * The call that takes a claim over writes the claim first and looks for the other call's row then; the other call writes its
 * row first and looks for its claim then. So at least one of them sees the other, and never both run.
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
  // Refused before anything of it ran: its names were free already.
  if (late === undefined || (isFinal(late.state) && late.metadata?.attempts === 0)) return holder;
  return idempotency.takeOver({ ...mine, nonce: from.nonce, invocationId: from.invocationId }, mine.nonce, ttlMs);
}

/**
 * A call that failed before it could have an effect leaves its names free for another try. So does, in a turn group, a tool
 * that is safe to repeat: what it failed with may be over. An id with a row is not free: the row is this call's.
 */
function freeOnFailure(
  { idempotency }: ClaimParts,
  { tool }: Needs,
  flight: Flight,
  { kind }: CallName,
  { tenantId, key, nonce }: IdempotencyClaim,
): void {
  const isRepeatable = kind === 'turn-group' && isSafeToRepeat(tool.manifest);
  const isFree = (): boolean => (kind === 'id' ? !mayHaveRow(flight) : flight.attempts === 0 || isRepeatable);
  const release = (): Promise<void> => idempotency.release(tenantId, key, nonce);
  flight.undo.undo(() => (isFree() ? release().catch((thrown) => releaseLater(release, thrown)) : undefined));
}

/** Asks for the claims and makes none: one that is made now would not be on the disk with the row, which came before. */
async function confirm({ idempotency }: ClaimParts, claims: readonly IdempotencyClaim[]): Promise<void> {
  for (const { tenantId, key, nonce } of claims) {
    if ((await idempotency.find(tenantId, key))?.nonce !== nonce) throw new ToolLayerError('E3811', FASTER);
  }
}

const FASTER =
  'Another call with this id or idempotency key was faster, or the claim was lost with the database. Nothing of this call ran: call again.';

/** While the store is away nobody waits for it: until the claim is released, others wait for a call that is not there. */
function releaseLater(release: () => Promise<void>, thrown: unknown): void {
  if (failureOf(thrown).code !== 'E3812') throw thrown;
  patiently(release).catch(() => undefined);
}
