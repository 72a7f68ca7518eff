import type { Fault } from '../../../api/schemas/error.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Judges a manifest as a registration would, and writes nothing (REG-08). */
export function checkManifest({ registry }: Pick<OperationParts, 'registry'>): Run<'tools.check'> {
  return ({ manifest }, { principal }) => {
    const { failure, compliance, warnings } = registry.check(principal.tenantId, manifest);
    return {
      valid: failure === undefined,
      faults: [...((failure?.details?.['faults'] ?? []) as readonly Fault[])],
      ...(compliance === undefined ? {} : { compliance }),
      warnings: [...warnings],
    };
  };
}
