import type { Fault } from '../../../api/schemas/error.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { ownedId } from '../upstreams/owned-id.ts';

/** Judges a manifest as a registration would, and writes nothing (REG-08). */
export function checkManifest(parts: Pick<OperationParts, 'registry' | 'quarantine'>): Run<'tools.check'> {
  return ({ manifest }, asker) => {
    const { failure, compliance, warnings } = parts.registry.check(asker.principal.tenantId, manifest);
    const owned = ownedId(parts, asker, manifest);
    const taken: Fault[] =
      owned === undefined ? [] : [{ path: '/tool_id', code: owned.code, keyword: 'owned', message: owned.message }];
    return {
      valid: failure === undefined && owned === undefined,
      faults: [...taken, ...((failure?.details?.['faults'] ?? []) as readonly Fault[])],
      ...(compliance === undefined ? {} : { compliance }),
      warnings: [...warnings],
    };
  };
}
