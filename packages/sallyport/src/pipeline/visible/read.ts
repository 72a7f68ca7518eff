import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { coversToolId } from '../../permission/token-scope.ts';
import { unknownTool } from '../../registry/registry.ts';
import { seesAll } from './find.ts';
import type { Asking, Find, FoundTool, VisibleToolsParts } from './seen-tool.ts';

/**
 * Finds tools for a caller that reads. A caller who manages tools also sees those that nobody can call now. A tool that
 * the token does not cover does not exist, in any version.
 */
export function reader(
  { registry, catalogTenant }: VisibleToolsParts,
  find: Find,
  idOf: (asking: Asking, name: string) => string,
): Find {
  const findAny = (tenantId: string, name: string, range: string | undefined): FoundTool | Failure => {
    const own = registry.find(tenantId, name, range);
    return isFailure(own) && own.code === 'E3001' ? registry.find(catalogTenant, name, range) : own;
  };
  return (asking, name, range) => {
    const { principal, claims } = asking;
    if (claims !== undefined && !coversToolId(claims, idOf(asking, name))) return unknownTool(name);
    return seesAll(principal) ? findAny(principal.tenantId, name, range) : find(asking, name, range);
  };
}
