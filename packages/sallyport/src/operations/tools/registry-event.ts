import { randomUUID } from 'node:crypto';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Audits a change of the registry, before the answer. */
export function recordChange(
  { ledger, clock }: Pick<OperationParts, 'ledger' | 'clock'>,
  { principal, caller }: Asker,
  subject: string,
  data: Record<string, unknown>,
): Promise<void> {
  return ledger.commit({
    events: [
      {
        id: randomUUID(),
        type: 'ai.agent.registry.changed',
        time: clock.now(),
        tenantId: principal.tenantId,
        subject,
        data: { by: principal.agentDid, door: caller.door, tenant_id: principal.tenantId, ...data },
      },
    ],
    durability: 'synchronous',
  });
}
