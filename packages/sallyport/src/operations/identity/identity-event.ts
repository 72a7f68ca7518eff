import { randomUUID } from 'node:crypto';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** A change of credentials. */
export type IdentityChange =
  | 'token-revoked'
  | 'revocation-lifted'
  | 'key-rotated'
  | 'api-key-created'
  | 'api-key-revoked';

/**
 * Puts a change of credentials on record, before the answer. `data` never holds a token or key.
 * @param tenantId whose credentials were changed
 */
export function recordIdentity(
  { ledger, clock }: Pick<OperationParts, 'ledger' | 'clock'>,
  { principal, caller }: Asker,
  tenantId: string,
  change: IdentityChange,
  { subject, ...data }: { readonly subject: string } & Record<string, unknown>,
): Promise<void> {
  return ledger.commit({
    events: [
      {
        id: randomUUID(),
        type: 'ai.agent.identity.changed',
        time: clock.now(),
        tenantId,
        // The tenant as a whole has no other name.
        subject: subject === '' ? tenantId : subject,
        data: { change, by: principal.agentDid, door: caller.door, tenant_id: tenantId, ...data },
      },
    ],
    durability: 'synchronous',
  });
}
