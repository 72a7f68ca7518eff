import { ManifestListRequest, ManifestListResponse } from '../../../api/schemas/registry.ts';
import { manifestOf } from '../../pipeline/visible-tools.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { shownManifest } from './shown-manifest.ts';

/** Full manifests of the newest versions, as the asker sees them, in pages, for doors that show schemas. */
export const listManifests = operation({
  name: 'tools.manifests',
  summary: 'Manifests of the tools that the caller may see',
  method: 'GET',
  path: '/v1/manifests',
  status: 200,
  access: 'token',
  input: ManifestListRequest,
  output: ManifestListResponse,
  run:
    ({ visible }: Pick<OperationParts, 'visible'>) =>
    async ({ page = 1, page_size = 200 }, asker) => {
      const all = visible.tools(await visible.gated(asker));
      const start = (page - 1) * page_size;
      return {
        manifests: all.slice(start, start + page_size).map((seen) => shownManifest(manifestOf(seen), asker)),
        total_count: all.length,
        page,
        page_size,
      };
    },
});
