import { NoInput } from '../../../api/schemas/identifiers.ts';
import { UpstreamListResponse } from '../../../api/schemas/upstream.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** The MCP servers that the asker's tenant has connected. */
export const listUpstreams = operation({
  name: 'upstreams.list',
  summary: 'List the upstreams',
  method: 'GET',
  path: '/v1/upstreams',
  status: 200,
  access: 'viewer',
  input: NoInput,
  output: UpstreamListResponse,
  run:
    ({ upstreams }: Pick<OperationParts, 'upstreams'>) =>
    (_input, { principal }) => ({ upstreams: [...upstreams.statuses(principal.tenantId)] }),
});
