import type { Role, TrustLevel } from '../../../api/schemas/capability-token.ts';
import { type Failure, failure } from '../../domain/error/failure.ts';
import type { Asker } from '../operation.ts';

/** Roles that every operator may give, whichever they have. */
const FOR_ANYBODY: readonly Role[] = ['agent', 'viewer'];

/** What is given away: the roles, in which tenant. */
export interface Grants {
  readonly tenantId: string;
  readonly roles: readonly Role[];
  /** Absent: what {@link trustToGrant} says. */
  readonly trust?: TrustLevel | undefined;
}

/** From the least to the most. */
const TRUST: readonly TrustLevel[] = ['untrusted', 'provisional', 'trusted'];

/**
 * The trust of a credential for which none was asked: nobody's credentials are trusted more than they are, so the asker's
 * own where that is less than full. Undefined leaves it to the layer's default.
 */
export function trustToGrant({ principal, caller }: Asker): TrustLevel | undefined {
  return caller.local === true || principal.trust === 'trusted' ? undefined : (principal.trust ?? 'untrusted');
}

/**
 * Whether the asker may make a credential: for its own tenant, with no role that it does not have itself, and no more
 * trust. Who sits at the machine may give everything, an admin every role and trust.
 * @returns E3213 saying what to ask for instead
 */
export function mayGrant({ principal, caller }: Asker, { tenantId, roles, trust }: Grants): Failure | undefined {
  if (caller.local === true) return undefined;
  if (tenantId !== principal.tenantId) {
    return failure(
      'E3213',
      `Your token signs tokens of the tenant ${principal.tenantId} alone. For ${tenantId} ask with a token of its operator, or on the machine itself while no layer serves the data folder.`,
    );
  }
  if (principal.roles.includes('admin')) return undefined;
  const beyond = roles.filter((role) => !principal.roles.includes(role) && !FOR_ANYBODY.includes(role));
  if (beyond.length > 0) {
    return failure(
      'E3213',
      `Nobody gives away a role that they do not have: ${beyond.join(', ')}. Ask with the role admin.`,
    );
  }
  const { trust: own = 'untrusted' } = principal;
  if (trust === undefined || TRUST.indexOf(trust) <= TRUST.indexOf(own)) return undefined;
  return failure('E3213', `Your credential is ${own}, so it makes none that is ${trust}. Ask with the role admin.`);
}

/** Whether the asker may change what all tenants share. @returns E3213 when not */
export function mayChangeLayer({ principal, caller }: Asker): Failure | undefined {
  if (caller.local === true || principal.roles.includes('admin')) return undefined;
  return failure('E3213', 'The keys of the layer belong to all tenants: to replace them takes the role admin.');
}
