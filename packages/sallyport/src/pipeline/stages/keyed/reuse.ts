import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { Admitted, Authorized, CallRequest, Fresh, Noted, Resolved, Validated } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { Stage, StageEnd } from '../../stage.ts';
import { type CallName, callNames } from './call-names.ts';
import { type ClaimParts, claimNames, keepNames } from './claim-names.ts';

type Needs = CallRequest & Noted & Admitted & Resolved & Validated & Authorized;

/**
 * Answers one request once. A call that is repeated, by its invocation id or its idempotency key, gets the first call's
 * answer, and waits for it when it must (PIPE-09, VIS-04). From here on a call has the id that its caller chose; an
 * earlier refusal is recorded under an id that the layer made.
 */
export function reuse(parts: ClaimParts): Stage<Needs, Fresh> {
  const { running } = parts;
  return {
    name: 'reuse',
    takes: 'the invocation id and the idempotency key',
    async run(call, ongoing) {
      const { tenantId } = call.principal;
      if (!running.add(tenantId, call.invocationId, ongoing)) return underWay(call.invocationId);
      const names = callNames(call);
      if (names.length === 0) return { fresh: true, invocationId: call.invocationId };
      if (ongoing.resumed !== undefined) {
        const kept = await keepNames(parts, call, ongoing, names);
        return isFailure(kept) ? kept : freshUnder(names, kept);
      }
      return claim(parts, call, ongoing, names);
    },
  };
}

async function claim(
  parts: ClaimParts,
  call: Needs,
  ongoing: OngoingCall,
  names: readonly CallName[],
): Promise<StageEnd<Fresh>> {
  const warnings = [...call.warnings];
  const claimed = await claimNames(parts, call, ongoing, names, warnings);
  if (isFailure(claimed)) return { refused: claimed, established: { warnings } };
  if ('answered' in claimed) return claimed;
  parts.running.rename(ongoing, call.principal.tenantId, claimed.invocationId);
  return { ...freshUnder(names, claimed), warnings };
}

function freshUnder(names: readonly CallName[], claimed: Pick<Fresh, 'invocationId' | 'confirmClaims'>): Fresh {
  const key = names.find(({ kind }) => kind !== 'id')?.shown;
  return key === undefined ? { fresh: true, ...claimed } : { fresh: true, ...claimed, idempotencyKey: key };
}

const underWay = (invocationId: string): Failure => failure('E3802', `The call ${invocationId} is under way already.`);
