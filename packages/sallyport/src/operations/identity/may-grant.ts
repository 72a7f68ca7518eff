import { type Failure, failure } from '@sallyport/std/error/failure';
import { type Role, type RootHolder, TrustLevel } from '../../../api/schemas/capability-token.ts';
import { rootHolderOf } from '../../domain/principal/root-holder.ts';
import type { Asker } from '../operation.ts';

/** Roles that every operator may grant, without having them. */
const FOR_ANYBODY: readonly Role[] = ['agent', 'viewer'];
/** Roles that only an admin grants: nobody makes themselves a second approver. */
const BY_ADMINS: readonly Role[] = ['approver', 'admin'];

/** The roles to be granted, and the tenant. */
export interface Grants {
  readonly tenantId: string;
  readonly roles: readonly Role[];
  /** Absent: the trust of {@link trustToGrant}. */
  readonly trust?: TrustLevel | undefined;
}

/** From the least to the most. */
const TRUST: readonly TrustLevel[] = TrustLevel.enum;

/**
 * Default trust of a new credential. No asker grants more trust than it has, so it is the asker's own when that is less
 * than full. Undefined leaves it to the layer's default.
 */
export function trustToGrant({ principal, caller }: Asker): TrustLevel | undefined {
  return caller.local === true || principal.trust === 'trusted' ? undefined : (principal.trust ?? 'untrusted');
}

/**
 * The root holder of a credential that the asker makes; undefined for a local caller: its credentials stand for the
 * agents and users that they name.
 */
export function rootToGrant({ claims }: Asker): RootHolder | undefined {
  return claims === undefined ? undefined : rootHolderOf(claims);
}

/**
 * Checks whether the asker may make a credential: for its own tenant, with no role that it lacks, without the role
 * approver, and with no more trust. A local caller may grant everything, an admin every role and trust.
 * @returns E3213 saying what to ask for instead
 */
export function mayGrant({ principal, caller }: Asker, { tenantId, roles, trust }: Grants): Failure | undefined {
  if (caller.local === true) return undefined;
  if (tenantId !== principal.tenantId) {
    return failure(
      'E3213',
      `Your token signs tokens of the tenant ${principal.tenantId} alone. For ${tenantId} ask with a token of its operator, or on the machine itself.`,
    );
  }
  if (principal.roles.includes('admin')) return undefined;
  const approving = roles.filter((role) => BY_ADMINS.includes(role));
  if (approving.length > 0)
    return failure('E3213', `An admin alone gives the role ${approving.join(' and ')}. Ask with the role admin.`);
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

/** Checks whether the asker may change what all tenants share. @returns E3213 when not */
export function mayChangeLayer({ principal, caller }: Asker): Failure | undefined {
  if (caller.local === true || principal.roles.includes('admin')) return undefined;
  return failure('E3213', 'The keys of the layer belong to all tenants: to replace them takes the role admin.');
}
