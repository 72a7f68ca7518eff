import type { ToolVersion } from '../../../domain/tool/tool-version.ts';

/** Progress of the tools' vectors. */
export interface SearchProgress {
  readonly indexed: number;
  readonly pending: number;
  /** Abandoned after several invalid answers of the embedder; keywords still find them. */
  readonly failed: number;
}

/** A version whose vector is wanted. */
export interface Wanted {
  readonly tool: ToolVersion;
  attempts: number;
}

/** State of one tenant's tools; each tool is in at most one of the maps. */
export interface Tenant {
  /** To be looked up in the store: that is fast, so it comes before anything is made. */
  readonly pending: Map<string, Wanted>;
  /** Not in the store: to be made by the embedder. */
  readonly missing: Map<string, Wanted>;
  /** Content hash of the version whose vector is in the index, by tool. */
  readonly indexed: Map<string, string>;
  readonly failed: Map<string, string>;
}

/**
 * Requests a version's vector in place of another version of the same tool; no effect when its vector exists or was
 * abandoned.
 */
export function want(tenant: Tenant, tool: ToolVersion): void {
  const toolId = tool.manifest.tool_id;
  if (tenant.indexed.get(toolId) === tool.contentHash || tenant.failed.get(toolId) === tool.contentHash) return;
  const waiting = tenant.pending.get(toolId) ?? tenant.missing.get(toolId);
  if (waiting?.tool.contentHash === tool.contentHash) return;
  tenant.failed.delete(toolId);
  tenant.missing.delete(toolId);
  tenant.indexed.delete(toolId);
  tenant.pending.set(toolId, { tool, attempts: 0 });
}

/** The state of a tenant, initially empty. */
export function tenantOf(tenants: Map<string, Tenant>, tenantId: string): Tenant {
  let tenant = tenants.get(tenantId);
  if (tenant === undefined) {
    tenant = { pending: new Map(), missing: new Map(), indexed: new Map(), failed: new Map() };
    tenants.set(tenantId, tenant);
  }
  return tenant;
}

/** True while vectors of the tenant are still wanted. */
export const isWaiting = ({ pending, missing }: Tenant): boolean => pending.size > 0 || missing.size > 0;

/** Progress of one tenant, or of all. */
export function progressOf(tenants: ReadonlyMap<string, Tenant>, tenantId: string | undefined): SearchProgress {
  const counted =
    tenantId === undefined ? [...tenants.values()] : [tenants.get(tenantId)].filter((one) => one !== undefined);
  const sum = (part: keyof Tenant): number => counted.reduce((total, tenant) => total + tenant[part].size, 0);
  return { indexed: sum('indexed'), pending: sum('pending') + sum('missing'), failed: sum('failed') };
}
