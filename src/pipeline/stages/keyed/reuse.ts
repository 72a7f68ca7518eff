import { type Failure, failure } from '../../../domain/error/failure.ts';
import type { Admitted, Authorized, CallRequest, Fresh, Resolved, Validated } from '../../call.ts';
import type { Flight } from '../../flight/flight.ts';
import type { Stage, StageEnd } from '../../stage.ts';
import { type ClaimParts, claimKey, keepKey } from './claim-key.ts';
import { type IdempotencyKey, idempotencyKeyOf } from './idempotency-key.ts';

type Needs = CallRequest & Admitted & Resolved & Validated & Authorized;

/** Stage 5: one request is answered once. A duplicate gets the first call's answer, and waits for it where it must (PIPE-09, VIS-04). */
export function reuse(parts: ClaimParts): Stage<Needs, Fresh> {
  return {
    name: 'reuse',
    takes: 'the invocation id and the idempotency key',
    run(call, flight) {
      const { request, principal, invocationId } = call;
      const key = idempotencyKeyOf(call);
      if (flight.resumed !== undefined || (key === undefined && request.invocation_id === undefined)) {
        if (!parts.running.add(principal.tenantId, invocationId, flight)) {
          return flight.resumed === undefined ? usedId(invocationId) : underWay(invocationId);
        }
        flight.undo.defer(() => parts.running.remove(principal.tenantId, invocationId));
        if (key !== undefined) keepKey(parts, call, flight, key);
        return freshUnder(key);
      }
      return claim(parts, call, flight, key);
    },
  };
}

const FRESH: Fresh = { fresh: true };
const freshUnder = (key: IdempotencyKey | undefined): Fresh =>
  key === undefined ? FRESH : { fresh: true, idempotencyKey: key.key };

async function claim(
  parts: ClaimParts,
  call: Needs,
  flight: Flight,
  key: IdempotencyKey | undefined,
): Promise<StageEnd<Fresh>> {
  const { principal, invocationId } = call;
  const { tenantId } = principal;
  if (!parts.running.add(tenantId, invocationId, flight)) return usedId(invocationId);
  flight.undo.defer(() => parts.running.remove(tenantId, invocationId));
  if (key !== undefined) {
    const held = await claimKey(parts, call, flight, key);
    if (held !== undefined) return held;
  }
  const earlier =
    call.request.invocation_id === undefined ? undefined : await parts.records.findInvocation(tenantId, invocationId);
  return earlier === undefined ? freshUnder(key) : usedId(invocationId);
}

const underWay = (invocationId: string): Failure => failure('E3802', `The call ${invocationId} is under way already.`);

const usedId = (invocationId: string): Failure =>
  failure('E3802', `The invocation id ${invocationId} was used before. Leave it out, or make a new one for each call.`);
