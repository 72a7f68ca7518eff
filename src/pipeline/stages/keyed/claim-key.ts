import { type Failure, failure } from '../../../domain/error/failure.ts';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { isSafeToRepeat } from '../../../domain/tool/tool-version.ts';
import { canonicalJson } from '../../../std/canonical-json.ts';
import { sha256 } from '../../../std/sha256.ts';
import type { Admitted, CallRequest, Resolved, Validated } from '../../call.ts';
import type { Flight } from '../../flight/flight.ts';
import type { IdempotencyClaim } from '../../idempotency-store.port.ts';
import type { PipelineParts } from '../../parts.ts';
import { changedAnswer } from '../../record/stored-answer.ts';
import type { EarlierAnswer } from '../../stage.ts';
import { asSettled } from './as-settled.ts';
import { firstCall, TAKE_OVER_AFTER_MS } from './first-call.ts';
import type { IdempotencyKey } from './idempotency-key.ts';

type Needs = CallRequest & Admitted & Resolved & Validated;
export type ClaimParts = Pick<
  PipelineParts,
  'clock' | 'log' | 'idempotency' | 'records' | 'running' | 'limits' | 'instanceId' | 'outcomes'
>;

/** A call that needed longer from its claim to its row asks whether the key is still its own; well before others take it. */
const CONFIRM_AFTER_MS = TAKE_OVER_AFTER_MS / 2;

/** Claims the key of a call. Undefined when the call is to run; else what the first call answered, or why not. */
export async function claimKey(
  parts: ClaimParts,
  call: Needs,
  flight: Flight,
  key: IdempotencyKey,
): Promise<Failure | EarlierAnswer | undefined> {
  const { clock, idempotency } = parts;
  const mine = claimOf(parts, call, key);
  const since = clock.monotonic();
  const later = call.request.execution_options?.async_mode === true;
  let holder = await idempotency.claim(mine);
  while (holder.invocationId !== mine.invocationId) {
    if (holder.requestHash !== mine.requestHash) return conflict(key);
    const found = await firstCall(parts, holder, later, flight.controller.signal);
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
    holder = await takeOver(parts, mine, holder, first === 'lost');
  }
  freeOnFailure(parts, call, flight, key, mine);
  flight.keyGuard = () => (clock.monotonic() - since < CONFIRM_AFTER_MS ? undefined : confirm(parts, mine));
  return undefined;
}

/** A call that waited holds its key since then. Whether it does is asked in any case: it may have waited for long. */
export function keepKey(parts: ClaimParts, call: Needs, flight: Flight, key: IdempotencyKey): void {
  const mine = claimOf(parts, call, key);
  freeOnFailure(parts, call, flight, key, mine);
  flight.keyGuard = () => confirm(parts, mine);
}

function claimOf({ clock, limits, instanceId }: ClaimParts, call: Needs, key: IdempotencyKey): IdempotencyClaim {
  const { principal, invocationId, tool, inputHash, request } = call;
  const requestHash = sha256(canonicalJson([tool.manifest.tool_id, request.tool_version ?? 'latest', inputHash]));
  const expiresAt = clock.now() + limits.idempotencyTtlMs;
  return { tenantId: principal.tenantId, key: key.scoped, requestHash, invocationId, expiresAt, instanceId };
}

/**
 * A first call that was refused, or given up by its caller, before anything of it ran left the key free: that is no answer
 * to others, who did not ask for what it was refused for.
 * @returns who has the key now; undefined when it is still that call's
 */
async function freeAfter(
  { idempotency }: ClaimParts,
  { failure: failed, metadata }: InvocationRecord,
  mine: IdempotencyClaim,
  from: IdempotencyClaim,
): Promise<IdempotencyClaim | undefined> {
  if (failed === undefined || metadata?.attempts !== 0) return undefined;
  const now = await idempotency.claim(mine);
  return now.invocationId === from.invocationId ? undefined : now;
}

/**
 * The one who takes a key over writes that first and looks for the other's row then; the other writes its row first and
 * looks for its key then. So at least one of them sees the other, and never both run.
 */
async function takeOver(
  { idempotency, records }: ClaimParts,
  mine: IdempotencyClaim,
  from: IdempotencyClaim,
  lost: boolean,
): Promise<IdempotencyClaim> {
  const holder = await idempotency.takeOver(mine, from.invocationId);
  if (!lost || holder.invocationId !== mine.invocationId) return holder;
  const late = await records.findInvocation(mine.tenantId, from.invocationId);
  // Refused before anything of it ran: the key was free already.
  if (late === undefined || (isFinal(late.state) && late.metadata?.attempts === 0)) return holder;
  return idempotency.takeOver({ ...mine, invocationId: from.invocationId }, mine.invocationId);
}

/**
 * A call that failed before it could have an effect leaves the key free for another try. So does, in a turn group, a tool
 * that is safe to repeat: what it failed with may be over.
 */
function freeOnFailure(
  { idempotency }: ClaimParts,
  { tool }: Needs,
  flight: Flight,
  { ofTurnGroup }: IdempotencyKey,
  { tenantId, key, invocationId }: IdempotencyClaim,
): void {
  const isRepeatable = ofTurnGroup && isSafeToRepeat(tool.manifest);
  flight.undo.undo(() =>
    flight.attempts === 0 || isRepeatable ? idempotency.release(tenantId, key, invocationId) : undefined,
  );
}

async function confirm({ idempotency }: ClaimParts, mine: IdempotencyClaim): Promise<void> {
  const { invocationId } = await idempotency.claim(mine);
  if (invocationId === mine.invocationId) return;
  throw new ToolLayerError('E3811', 'Another call with this idempotency key was faster, and runs instead of this one.');
}

const conflict = ({ ofTurnGroup }: IdempotencyKey): Failure =>
  ofTurnGroup
    ? failure(
        'E3802',
        'The tool ran for this business in this turn group already, with other arguments. Begin a new turn group to run it anew.',
      )
    : failure(
        'E3802',
        'This idempotency key was used with another tool or other arguments. Take a new key for a new request.',
      );
