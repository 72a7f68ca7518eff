import { ToolSearchRequest, ToolSearchResponse } from '../../../api/schemas/registry/search.ts';
import { operation } from '../operation.ts';
import { type FindingParts, findSeen } from './find-seen.ts';

/** REG-05: finds tools by what they do, best first, in pages. */
export const searchTools = operation({
  name: 'tools.search',
  summary: 'Find tools by what they do, among the tools that the caller may see',
  method: 'POST',
  path: '/v1/tool-search',
  status: 200,
  access: 'token',
  input: ToolSearchRequest,
  output: ToolSearchResponse,
  run: (parts: FindingParts) => async (request, asker) => {
    const { page = 1, page_size = 50 } = request;
    const { found, total, mode, warnings } = await findSeen(parts, asker, request);
    return {
      results: [...found],
      pagination: { total_count: total, page, page_size },
      mode,
      progress: parts.toolSearch.progress(asker.principal.tenantId),
      warnings: [...warnings],
    };
  },
});
