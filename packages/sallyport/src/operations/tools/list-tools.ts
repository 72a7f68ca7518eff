import { ToolListRequest, ToolListResponse } from '../../../api/schemas/registry.ts';
import { operation } from '../operation.ts';
import { type FindingParts, findSeen } from './find-seen.ts';

/** BC-2 tool.list(): the visible tools, by name, in pages; with a query the matching ones, best first. */
export const listTools = operation({
  name: 'tools.list',
  summary: 'List the tools that the caller may see (BC-2)',
  method: 'GET',
  path: '/v1/tools',
  status: 200,
  access: 'token',
  input: ToolListRequest,
  output: ToolListResponse,
  run:
    (parts: FindingParts) =>
    async ({ page = 1, page_size = 50, capability_query = '', ...filter }, asker) => {
      if (capability_query.trim() === '') {
        const { tools, total } = parts.visible.list(await parts.visible.gated(asker), filter, {
          page,
          pageSize: page_size,
        });
        return { tools: [...tools], pagination: { total_count: total, page, page_size } };
      }
      const { found, total, warnings } = await findSeen(parts, asker, {
        ...filter,
        query: capability_query,
        page,
        page_size,
      });
      return {
        tools: found.map(({ tool }) => tool),
        pagination: { total_count: total, page, page_size },
        ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
      };
    },
});
