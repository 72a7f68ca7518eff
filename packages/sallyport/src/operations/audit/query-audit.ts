import { AuditPage, AuditQuery } from '../../../api/schemas/audit.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Events of the asker's tenant, from a position on. */
export const queryAudit = operation({
  name: 'audit.query',
  summary: 'Read the audit events of the tenant',
  method: 'GET',
  path: '/v1/audit',
  status: 200,
  access: 'viewer',
  input: AuditQuery,
  output: AuditPage,
  run:
    ({ records }: Pick<OperationParts, 'records'>) =>
    async (query, { principal }) => {
      const found = await records.events(principal.tenantId, query);
      return { events: found.map(({ event }) => event), next: found.at(-1)?.position ?? query.after ?? 0 };
    },
});
