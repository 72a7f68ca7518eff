import type { Registration } from '../../../api/schemas/registry.ts';
import { errorBody, isFailure } from '../../domain/error/failure.ts';
import type { ImportedTools } from '../../registry/importer.port.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../registry-event.ts';

/** Registers what an importer made; one refused manifest does not keep the others out. */
export async function registerImported(
  parts: Pick<OperationParts, 'registry' | 'ledger' | 'clock'>,
  asker: Asker,
  imported: ImportedTools,
): Promise<Registration[]> {
  const ends = await parts.registry.registerAll(asker.principal.tenantId, imported.manifests);
  const registrations = ends.map((end, i): Registration => {
    const { tool_id = '', version = '' } = imported.manifests[i] ?? {};
    if (isFailure(end)) return { tool_id, version, outcome: 'refused', warnings: [], error: { ...errorBody(end) } };
    return { tool_id, version, outcome: end.outcome, content_hash: end.version.contentHash, warnings: [] };
  });
  const created = registrations.filter(({ outcome }) => outcome === 'created').map(({ tool_id }) => tool_id);
  if (created.length > 0) {
    await recordChange(parts, asker, imported.source, {
      change: 'imported',
      source: imported.source,
      tool_ids: created,
    });
  }
  return registrations;
}
