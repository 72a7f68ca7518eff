import type { ToolSummary } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { createToolIndex, type Listed, type ToolIndex } from './tool-index.ts';
import { newestOf, putVersion, type VersionSet, versionSet } from './version-set.ts';

/** The tools of one tenant. */
export interface TenantCatalogue {
  readonly byId: Map<string, VersionSet>;
  readonly index: ToolIndex;
  /** Number of tools that require or prefer a tool, by its id. */
  readonly dependents: Map<string, number>;
}

/** A tenant without tools. */
export function tenantCatalogue(): TenantCatalogue {
  const byId = new Map<string, VersionSet>();
  return { byId, index: createToolIndex(byId), dependents: new Map() };
}

/** Adds or replaces one version. */
export function putTool(tenant: TenantCatalogue, version: ToolVersion): void {
  const id = version.manifest.tool_id;
  let set = tenant.byId.get(id);
  if (set === undefined) {
    set = versionSet(id);
    tenant.byId.set(id, set);
  }
  const before = newestOf(set);
  putVersion(set, version);
  const after = newestOf(set);
  count(tenant.dependents, before?.manifest, -1);
  count(tenant.dependents, after?.manifest, 1);
  tenant.index.mark(id);
}

function count(dependents: Map<string, number>, manifest: ToolManifest | undefined, by: 1 | -1): void {
  for (const id of [...(manifest?.requires ?? []), ...(manifest?.prefers ?? [])]) {
    const now = (dependents.get(id) ?? 0) + by;
    if (now === 0) dependents.delete(id);
    else dependents.set(id, now);
  }
}

/** A tool in the form of the answer of tool.list(). */
export function summaryOf({ newest: { manifest, state }, versions }: Listed): ToolSummary {
  return {
    tool_id: manifest.tool_id,
    tool_name: manifest.tool_name,
    description: manifest.description,
    category: manifest.category ?? '',
    versions: versions.live.map(({ manifest: { version } }) => version),
    latest_version: manifest.version,
    tags: manifest.tags ?? [],
    requires_approval: manifest.execution_config?.requires_approval ?? false,
    executor: manifest.executor.kind,
    state,
  };
}
