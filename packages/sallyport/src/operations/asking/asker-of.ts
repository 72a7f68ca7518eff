import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { Caller } from '../../domain/principal/principal.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

type Parts = Pick<OperationParts, 'identify' | 'defaultTenant'>;

/** Who asks: the holder of the token, or an operator at this machine who sends none. */
export async function askerOf(parts: Parts, caller: Caller): Promise<Asker | Failure> {
  if (caller.local === true && caller.token === undefined) return localAsker(parts, caller);
  const identity = await parts.identify(caller);
  return isFailure(identity) ? identity : { ...identity, caller };
}

/** An asker whose token, if there is one, does not matter. */
export function localAsker({ defaultTenant }: Pick<Parts, 'defaultTenant'>, caller: Caller): Asker {
  return {
    caller,
    principal: { tenantId: caller.tenantId ?? defaultTenant, agentDid: 'did:sallyport:operator', roles: ['operator'] },
  };
}
