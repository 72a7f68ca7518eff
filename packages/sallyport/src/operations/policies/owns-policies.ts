import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/**
 * Policies belong to the layer, not to a tenant, and may mention every tenant: they are shown to local callers and to
 * operators of the tenant that runs the layer.
 * @returns E3213 for all others
 */
export function mayKeepPolicies(
  { catalogTenant, defaultTenant }: Pick<OperationParts, 'catalogTenant' | 'defaultTenant'>,
  { principal, caller }: Asker,
): Failure | undefined {
  const isLocal = caller.local === true && caller.token === undefined;
  if (isLocal || principal.tenantId === catalogTenant || principal.tenantId === defaultTenant) return undefined;
  return failure(
    'E3213',
    'The policies are those of all tenants: they are for operators of the tenant that the layer is run by.',
  );
}
