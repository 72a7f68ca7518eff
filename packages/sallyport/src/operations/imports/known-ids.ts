import type { KnownIds } from '../../registry/importer.port.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** The ids that are registered already, also by other instances. */
export async function knownIds(
  { registry }: Pick<OperationParts, 'registry'>,
  { principal: { tenantId } }: Pick<Asker, 'principal'>,
): Promise<Required<KnownIds>> {
  await registry.refresh();
  return {
    isRegistered: (toolId) => registry.versions(tenantId, toolId).length > 0,
    operationOf: (toolId) => {
      const { kind, config } = registry.versions(tenantId, toolId)[0]?.manifest.executor ?? {};
      return kind === 'http' ? `${String(config?.['method'])} ${String(config?.['path'])}` : undefined;
    },
  };
}
