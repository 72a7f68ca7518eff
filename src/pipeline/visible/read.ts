import { type Failure, isFailure } from '../../domain/error/failure.ts';
import { coversToolId } from '../../permission/token-scope.ts';
import { unknownTool } from '../../registry/registry.ts';
import { seesAll } from './find.ts';
import type { Find, FoundTool, VisibleToolsParts } from './seen-tool.ts';

/** Finds tools for somebody who reads. Who keeps the tools sees those too that nobody can call now. */
export function reader({ registry, catalogTenant }: VisibleToolsParts, find: Find): Find {
  const findAny = (tenantId: string, name: string, range: string | undefined): FoundTool | Failure => {
    const own = registry.find(tenantId, name, range);
    return isFailure(own) && own.code === 'E3001' ? registry.find(catalogTenant, name, range) : own;
  };
  return (asking, name, range) => {
    const { principal, claims } = asking;
    const all = seesAll(principal);
    const found = all ? findAny(principal.tenantId, name, range) : find(asking, name, range);
    if (isFailure(found)) return found;
    return claims !== undefined && !coversToolId(claims, found.tool.manifest.tool_id) ? unknownTool(name) : found;
  };
}
