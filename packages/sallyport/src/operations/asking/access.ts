import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Role } from '../../../api/schemas/capability-token.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import { type OperationEntry, ROLES_FOR } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/**
 * THE place where access to operations is decided; what an asker may see is limited by its tenant (PRM-10).
 * @returns E3213; undefined when the asker may ask
 */
export function accessRefusal(
  parts: Pick<OperationParts, 'catalogTenant' | 'defaultTenant'>,
  entry: Pick<OperationEntry, 'access' | 'method' | 'layerWide'>,
  principal: Principal,
): Failure | undefined {
  return roleMissing(entry, principal) ?? ofAllTenants(parts, entry, principal);
}

function roleMissing({ access }: Pick<OperationEntry, 'access'>, { roles }: Principal): Failure | undefined {
  if (access === 'open' || access === 'token') return undefined;
  const needed: readonly Role[] = ROLES_FOR[access];
  if (roles.some((role) => needed.includes(role))) return undefined;
  return failure(
    'E3213',
    `This operation needs the role ${needed.join(' or ')}; the token has ${roles.join(', ') || 'none'}.`,
    { details: { roles: [...needed] } },
  );
}

/** Layer-wide objects are managed by the tenants that run the layer, and the catalogue's tools by its admins. */
function ofAllTenants(
  { catalogTenant, defaultTenant }: Pick<OperationParts, 'catalogTenant' | 'defaultTenant'>,
  { access, method, layerWide }: Pick<OperationEntry, 'access' | 'method' | 'layerWide'>,
  { tenantId, roles }: Principal,
): Failure | undefined {
  if (layerWide === true && tenantId !== catalogTenant && tenantId !== defaultTenant) {
    return failure('E3213', 'This concerns all tenants: it is for the tenant that the layer is run by.');
  }
  const changes = access === 'operator' && method !== 'GET';
  if (!changes || tenantId !== catalogTenant || roles.includes('admin')) return undefined;
  return failure(
    'E3213',
    `The tools of ${tenantId} are on offer to every tenant: to change them takes the role admin.`,
    {
      details: { roles: ['admin'] },
    },
  );
}
