import type { Fault } from '../../../api/schemas/error.ts';
import { ManifestCheckRequest, ManifestCheckResponse } from '../../../api/schemas/registry/tool-lifecycle.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { ownedId } from '../upstreams/owned-id.ts';

/** Checks a manifest as a registration would, and writes nothing (REG-08). */
export const checkManifest = operation({
  name: 'tools.check',
  summary: 'Judge a manifest without registering it: every fault, and what its schemas lack',
  method: 'POST',
  path: '/v1/manifest-checks',
  status: 200,
  access: 'operator',
  input: ManifestCheckRequest,
  output: ManifestCheckResponse,
  run:
    (parts: Pick<OperationParts, 'registry' | 'quarantine'>) =>
    ({ manifest }, asker) => {
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
    },
});
