import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { Admitted, Authorized, CallRequest, Fresh, Noted, Resolved, Validated } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { Stage, StageEnd } from '../../stage.ts';
import { type CallNames, callNames } from './call-names.ts';
import { type ClaimedNames, type ClaimParts, claimNames, keepNames } from './claim-names.ts';

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
      const named = callNames(call, ongoing.resumed?.waiting.asked);
      if (named === undefined) return { fresh: true, invocationId: call.invocationId };
      if (ongoing.resumed !== undefined) {
        return freshUnder(named, await keepNames(parts, call, ongoing, named.names));
      }
      return claim(parts, call, ongoing, named);
    },
  };
}

async function claim(parts: ClaimParts, call: Needs, ongoing: OngoingCall, named: CallNames): Promise<StageEnd<Fresh>> {
  const warnings = [...call.warnings];
  const claimed = await claimNames(parts, call, ongoing, named.names, warnings);
  if (isFailure(claimed)) return { refused: claimed, established: { warnings } };
  if ('answered' in claimed) return claimed;
  parts.running.rename(ongoing, call.principal.tenantId, claimed.invocationId);
  return { ...freshUnder(named, claimed), warnings };
}

function freshUnder({ names, asked }: CallNames, claimed: ClaimedNames): Fresh {
  const fresh = { fresh: true, asked, ...claimed } as const;
  const key = names.find(({ kind }) => kind !== 'id')?.shown;
  return key === undefined ? fresh : { ...fresh, idempotencyKey: key };
}

const underWay = (invocationId: string): Failure => failure('E3802', `The call ${invocationId} is under way already.`);
