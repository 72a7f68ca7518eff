import { manifestOf } from '../../pipeline/visible-tools.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { shownManifest } from './shown-manifest.ts';

/** Whole manifests of the newest versions, as the asker sees them, in pages, for doors that show schemas. */
export function listManifests({ visible }: Pick<OperationParts, 'visible'>): Run<'tools.manifests'> {
  return ({ page = 1, page_size = 200 }, asker) => {
    const all = visible.tools(asker);
    const start = (page - 1) * page_size;
    return {
      manifests: all.slice(start, start + page_size).map((seen) => shownManifest(manifestOf(seen), asker)),
      total_count: all.length,
      page,
      page_size,
    };
  };
}
