import { type Failure, failure } from '@sallyport/std/error/failure';
import { compareBuild } from 'semver';
import type { ToolSummary } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { answerOf } from './resolve-range.ts';
import { putTool, summaryOf, type TenantCatalogue, tenantCatalogue } from './tenant-catalogue.ts';
import type { ListFilter } from './tool-index.ts';
import type { Found, VersionSet } from './version-set.ts';

/** Every tool version in memory, by tenant and id. */
export type Catalogue = Map<string, TenantCatalogue>;

/** Adds or replaces one version. */
export function put(catalogue: Catalogue, version: ToolVersion): void {
  let tenant = catalogue.get(version.tenantId);
  if (tenant === undefined) {
    tenant = tenantCatalogue();
    catalogue.set(version.tenantId, tenant);
  }
  putTool(tenant, version);
}

/** The versions of one tool, removed ones included. */
export function versionsOf(catalogue: Catalogue, tenantId: string, toolId: string): VersionSet | undefined {
  return catalogue.get(tenantId)?.byId.get(toolId);
}

/** The highest version of a tool below a manifest's own that was not removed. */
export function versionBelow(
  catalogue: Catalogue,
  tenantId: string,
  { tool_id, version }: ToolManifest,
): ToolVersion | undefined {
  const live = versionsOf(catalogue, tenantId, tool_id)?.live ?? [];
  return live.find((one) => compareBuild(one.manifest.version, version) < 0);
}

/** The version for a range; the newest release when undefined. */
export function find(
  catalogue: Catalogue,
  tenantId: string,
  toolId: string,
  range: string | undefined,
): Found | Failure {
  const set = versionsOf(catalogue, tenantId, toolId);
  return set === undefined ? unknownTool(toolId) : answerOf(set, range ?? 'latest');
}

/** E3001. @param near similar names that the caller can see, nearest first */
export function unknownTool(toolId: string, near: readonly string[] = []): Failure {
  const absent = `There is no tool ${JSON.stringify(toolId.slice(0, 128))}.`;
  if (near.length === 0) return failure('E3001', `${absent} List the tools to see which there are.`);
  return failure('E3001', `${absent} ${didYouMean(near)}`, { details: { did_you_mean: near } });
}

/** Names as a question in an error. */
export const didYouMean = (near: readonly string[]): string =>
  `Did you mean ${near.map((name) => JSON.stringify(name)).join(' or ')}?`;

/** One page of the tools that match a filter. */
export function list(
  catalogue: Catalogue,
  tenantId: string,
  filter: ListFilter,
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): { readonly tools: readonly ToolSummary[]; readonly total: number } {
  const found = catalogue.get(tenantId)?.index.page(filter, (page - 1) * pageSize, pageSize);
  return found === undefined ? { tools: [], total: 0 } : { tools: found.tools.map(summaryOf), total: found.total };
}

/** The newest version of each tool, ordered by id. */
export function newestVersions(catalogue: Catalogue, tenantId: string): readonly ToolVersion[] {
  return catalogue.get(tenantId)?.index.newest() ?? [];
}
