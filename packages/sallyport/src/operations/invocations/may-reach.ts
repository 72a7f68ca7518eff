import type { Role } from '../../../api/schemas/capability-token.ts';
import { type CallOwner, isOwner } from '../../domain/invocation/call-owner.ts';
import type { Asker } from '../operation.ts';
import { ROLES_FOR } from '../operation.ts';

/** Role that gives access to all calls of the tenant: `viewer` to read them, `operator` to end or compensate them. */
export type Reach = 'viewer' | 'operator';

/** True when the asker may read, or end, every call of the tenant. */
export function reachesAll({ principal }: Asker, reach: Reach): boolean {
  const wanted: readonly Role[] = ROLES_FOR[reach];
  return principal.roles.some((role) => wanted.includes(role));
}

/**
 * True for the owner of the call, and for an asker who reaches all calls of the tenant.
 * @param reach undefined: for the owner alone
 */
export const mayReach = (asker: Asker, owner: CallOwner | undefined, reach: Reach | undefined): boolean =>
  isOwner(asker.principal, owner) || (reach !== undefined && reachesAll(asker, reach));
