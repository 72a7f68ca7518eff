import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Whole manifests of the newest versions, in pages, for doors that show schemas. */
export function listManifests({
  registry,
  seesTool,
}: Pick<OperationParts, 'registry' | 'seesTool'>): Run<'tools.manifests'> {
  return ({ page = 1, page_size = 200 }, { principal, claims }) => {
    const all = registry.manifests(principal.tenantId);
    const visible = claims === undefined ? all : all.filter(({ manifest }) => seesTool(claims, manifest.tool_id));
    const start = (page - 1) * page_size;
    return {
      manifests: visible.slice(start, start + page_size).map(({ manifest }) => manifest),
      total_count: visible.length,
      page,
      page_size,
    };
  };
}
