import { randomUUID } from 'node:crypto';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** A change of credentials. */
export type IdentityChange =
  | 'token-revoked'
  | 'revocation-lifted'
  | 'key-rotation-begun'
  | 'key-rotated'
  | 'api-key-created'
  | 'api-key-revoked';

/**
 * Drafts the event of a change of credentials. `data` never holds a token or key.
 * @param tenantId whose credentials were changed
 */
export function identityEvent(
  { clock }: Pick<OperationParts, 'clock'>,
  { principal, caller }: Asker,
  tenantId: string,
  change: IdentityChange,
  { subject, ...data }: { readonly subject: string } & Record<string, unknown>,
): EventDraft {
  return {
    id: randomUUID(),
    type: 'ai.agent.identity.changed',
    time: clock.now(),
    tenantId,
    // The tenant as a whole has no other name.
    subject: subject === '' ? tenantId : subject,
    data: { change, by: principal.agentDid, door: caller.door, tenant_id: tenantId, ...data },
  };
}
