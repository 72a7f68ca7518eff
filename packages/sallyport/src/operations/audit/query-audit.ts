import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';

/** Events of the asker's tenant, from a position on. */
export function queryAudit({ records }: Pick<OperationParts, 'records'>): Run<'audit.query'> {
  return async (query, { principal }) => {
    const found = await records.events(principal.tenantId, query);
    return { events: found.map(({ event }) => event), next: found.at(-1)?.position ?? query.after ?? 0 };
  };
}
