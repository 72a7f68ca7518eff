import { failure, isFailure } from '../../domain/error/failure.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** One tool version with its manifest. */
export function getTool({ registry, seesTool }: Pick<OperationParts, 'registry' | 'seesTool'>): Run<'tools.get'> {
  return ({ tool_id, version }, { principal, claims }) => {
    if (claims !== undefined && !seesTool(claims, tool_id))
      return failure('E3001', `There is no tool ${tool_id} that you may see.`);
    const found = registry.find(principal.tenantId, tool_id, version);
    if (isFailure(found)) return found;
    const { manifest, contentHash, state, registeredAt } = found.tool;
    return {
      manifest,
      content_hash: contentHash,
      state,
      versions: registry.versions(principal.tenantId, tool_id).map((known) => known.manifest.version),
      registered_at: registeredAt,
      warnings: [...found.warnings],
    };
  };
}
