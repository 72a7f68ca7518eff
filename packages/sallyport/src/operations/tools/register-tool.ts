import { Registration, ToolRegisterRequest } from '../../../api/schemas/registry.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { ownedId } from '../upstreams/owned-id.ts';
import { recordMoves } from './move-tool.ts';
import { recordChange } from './registry-event.ts';

/**
 * Registers one manifest; the same content again changes nothing (REG-03). Versions that it retires are on record too.
 */
export const registerTool = operation({
  name: 'tools.register',
  summary: 'Register a manifest',
  method: 'POST',
  path: '/v1/tools',
  status: 201,
  access: 'operator',
  input: ToolRegisterRequest,
  output: Registration,
  run:
    (parts: Pick<OperationParts, 'registry' | 'quarantine' | 'ledger' | 'clock'>) =>
    async ({ manifest }, asker) => {
      const owned = ownedId(parts, asker, manifest);
      if (owned !== undefined) return owned;
      const { tenantId, agentDid } = asker.principal;
      const { outcome, version, warnings, retired } = await parts.registry.register(tenantId, manifest, agentDid);
      const { tool_id, version: number } = version.manifest;
      if (outcome === 'created') {
        await recordChange(parts, asker, tool_id, {
          change: 'registered',
          tool_id,
          tool_version: number,
          content_hash: version.contentHash,
        });
        await recordMoves(parts, asker, retired);
        await parts.registry.recorded([version]);
      }
      return { tool_id, version: number, outcome, content_hash: version.contentHash, warnings: [...warnings] };
    },
});
