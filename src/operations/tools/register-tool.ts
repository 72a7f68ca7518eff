import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../registry-event.ts';

/** Registers one manifest; the same content again changes nothing (REG-03). */
export function registerTool(parts: Pick<OperationParts, 'registry' | 'ledger' | 'clock'>): Run<'tools.register'> {
  return async ({ manifest }, asker) => {
    const { outcome, version } = await parts.registry.register(asker.principal.tenantId, manifest);
    const { tool_id, version: number } = version.manifest;
    if (outcome === 'created') {
      await recordChange(parts, asker, tool_id, {
        change: 'registered',
        tool_id,
        tool_version: number,
        content_hash: version.contentHash,
      });
    }
    return { tool_id, version: number, outcome, content_hash: version.contentHash, warnings: [] };
  };
}
