import { isFailure } from '@sallyport/std/error/failure';
import { effectiveManifest } from '../../domain/tool/effective-manifest.ts';
import { defaultsFor } from '../../permission/compute-grant.ts';
import { manifestOf, versionsOf } from '../../pipeline/visible-tools.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { shownManifest } from './shown-manifest.ts';

/** One tool version with its manifest, as the asker sees it. */
export function getTool({
  registry,
  visible,
  limits,
}: Pick<OperationParts, 'registry' | 'visible' | 'limits'>): Run<'tools.get'> {
  return ({ tool_id, version }, asker) => {
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
  };
}
