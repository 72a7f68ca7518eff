import { isFailure } from '@sallyport/std/error/failure';
import { complianceOf } from '../../registry/registry.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';

/** How well the schemas of a registered tool are described (REG-08). */
export function toolCompliance({ visible }: Pick<OperationParts, 'visible'>): Run<'tools.compliance'> {
  return ({ tool_id, version }, asker) => {
    const found = visible.read(asker, tool_id, version);
    if (isFailure(found)) return found;
    const { manifest } = found.tool;
    return { tool_id, version: manifest.version, compliance: complianceOf(manifest) };
  };
}
