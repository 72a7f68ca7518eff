import type { Run } from '../catalogue/run.ts';
import { type FindingParts, findSeen } from './find-seen.ts';

/** REG-05: tools by what they do, best first, in pages. */
export function searchTools(parts: FindingParts): Run<'tools.search'> {
  return async (request, asker) => {
    const { page = 1, page_size = 50 } = request;
    const { found, total, mode, warnings } = await findSeen(parts, asker, request);
    return {
      results: [...found],
      pagination: { total_count: total, page, page_size },
      mode,
      progress: parts.toolSearch.progress(asker.principal.tenantId),
      warnings: [...warnings],
    };
  };
}
