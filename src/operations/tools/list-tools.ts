import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** BC-2 tool.list(): what the asker may see, by id, in pages. */
export function listTools({ registry, seesTool }: Pick<OperationParts, 'registry' | 'seesTool'>): Run<'tool.list'> {
  return ({ page = 1, page_size = 50, ...filter }, { principal, claims }) => {
    const visible =
      claims === undefined ? {} : { visible: ({ manifest }: ToolVersion) => seesTool(claims, manifest.tool_id) };
    const { tools, total } = registry.list(
      principal.tenantId,
      { ...filter, ...visible },
      { page, pageSize: page_size },
    );
    return { tools: [...tools], pagination: { total_count: total, page, page_size } };
  };
}
