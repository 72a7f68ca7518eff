import { isFailure } from '@sallyport/std/error/failure';
import { ToolDetail, ToolGetRequest } from '../../../api/schemas/registry.ts';
import { effectiveManifest } from '../../domain/tool/effective-manifest.ts';
import { defaultsFor } from '../../permission/compute-grant.ts';
import { manifestOf, versionsOf } from '../../pipeline/visible-tools.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { shownManifest } from './shown-manifest.ts';

/** One tool version with its manifest, as the asker sees it. */
export const getTool = operation({
  name: 'tools.get',
  summary: 'One tool with its manifest',
  method: 'GET',
  path: '/v1/tools/{tool_id}',
  status: 200,
  access: 'token',
  input: ToolGetRequest,
  output: ToolDetail,
  run:
    ({ registry, visible, limits }: Pick<OperationParts, 'registry' | 'visible' | 'limits'>) =>
    ({ tool_id, version }, asker) => {
      const found = visible.read(asker, tool_id, version);
      if (isFailure(found)) return found;
      const { contentHash, state, registeredAt } = found.tool;
      const shown = shownManifest(manifestOf(found), asker);
      return {
        manifest: shown,
        effective: effectiveManifest(shown, defaultsFor(found.tool.manifest, limits.layer)),
        content_hash: contentHash,
        state,
        versions: versionsOf(registry, found),
        registered_at: registeredAt,
        warnings: [...found.warnings],
      };
    },
});
