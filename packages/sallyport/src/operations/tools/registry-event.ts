import { randomUUID } from 'node:crypto';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Drafts the event of a change of the registry. */
export const registryEvent = (
  { clock }: Pick<OperationParts, 'clock'>,
  { principal, caller }: Asker,
  subject: string,
  data: Record<string, unknown>,
): EventDraft => ({
  id: randomUUID(),
  type: 'ai.agent.registry.changed',
  time: clock.now(),
  tenantId: principal.tenantId,
  subject,
  data: { by: principal.agentDid, door: caller.door, tenant_id: principal.tenantId, ...data },
});

/**
 * Audits a change of the registry, before the answer. For changes that say themselves until then that they are not on
 * record (`registry.recorded`), and for what changed nothing that is stored; others are made by `recordedChange`.
 */
export const recordChange = (
  parts: Pick<OperationParts, 'ledger' | 'clock'>,
  ...change: [asker: Asker, subject: string, data: Record<string, unknown>]
): Promise<void> => parts.ledger.commit({ events: [registryEvent(parts, ...change)], durability: 'synchronous' });
