import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';

/** The MCP servers that the asker's tenant has connected. */
export function listUpstreams({ upstreams }: Pick<OperationParts, 'upstreams'>): Run<'upstreams.list'> {
  return (_input, { principal }) => ({ upstreams: [...upstreams.statuses(principal.tenantId)] });
}
