import { isFailure } from '@sallyport/std/error/failure';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import type { Registry } from './registry.ts';

/**
 * Finds tools for tenants: each has its own, and those of the catalogue where it has none of that id.
 * @returns a function that gives the newest version of the id or the one that is named; undefined when there is none
 */
export function toolsOfTenants(
  registry: Pick<Registry, 'find'>,
  catalogTenant: string,
): (tenantId: string, toolId: string, version?: string) => ToolVersion | undefined {
  return (tenantId, toolId, version) => {
    for (const owner of [tenantId, catalogTenant]) {
      const found = registry.find(owner, toolId, version);
      if (!isFailure(found)) return found.tool;
    }
    return undefined;
  };
}
