import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { BlockReason, UpstreamTool } from '../quarantine-store.port.ts';
import type { StoredPlace } from '../upstream-store.port.ts';
import { isOfferPlace } from './offer-places.ts';

/** A tool of an upstream that may not be seen or called now. */
export interface Block {
  readonly reason: BlockReason;
  readonly upstream: string;
  /** The upstream's own name for it. */
  readonly tool: string;
}

/** The tools of all upstreams, in memory. */
export interface KnownTools {
  blockOf(tenantId: string, toolId: string): Block | undefined;
  find(tenantId: string, toolId: string): UpstreamTool | undefined;
  /** Tools of an upstream by its own names. */
  named(tenantId: string, upstream: string): ReadonlyMap<string, UpstreamTool> | undefined;
  /** Ordered by id. */
  list(tenantId: string, upstream?: string): readonly UpstreamTool[];
  /** Names of tools of the other upstreams, except names that are listed here. */
  foreignNames(tenantId: string, upstream: string, own: readonly ListedMcpTool[]): ReadonlySet<string>;
  /** Where tools are known. */
  places(): readonly StoredPlace[];
  /** Replaces the tools of one place, and their blocks, by those on record; only differences are reported. */
  agree(place: StoredPlace, tools: readonly UpstreamTool[]): void;
  put(tools: readonly UpstreamTool[]): void;
  /** Blocks before the change is written. */
  blockNow(tools: readonly { readonly known: UpstreamTool }[], reason: BlockReason): void;
  /** Notifies of blocks that were set, lifted or changed. */
  onChanged(listener: () => void): Disposable;
}

interface TenantTools {
  readonly byId: Map<string, UpstreamTool>;
  readonly byUpstream: Map<string, Map<string, UpstreamTool>>;
  /** By id. Ahead of the tools while a change is being written. */
  readonly blocks: Map<string, Block>;
}

/** Makes the state, empty. */
export function createKnownTools(log: Log): KnownTools {
  const tenants = new Map<string, TenantTools>();
  const listeners = new Set<{ readonly receive: () => void }>();
  const notify = (): void => {
    for (const { receive } of listeners) {
      try {
        receive();
      } catch (cause) {
        log.error('quarantine-listener-failed', { reason: String(cause) });
      }
    }
  };
  const put = (tools: readonly UpstreamTool[]): void => {
    const changed = tools.filter((tool) => keep(tenantOf(tenants, tool.tenantId), tool));
    if (changed.length > 0) notify();
  };
  return {
    blockOf: (tenantId, toolId) => tenants.get(tenantId)?.blocks.get(toolId),
    find: (tenantId, toolId) => tenants.get(tenantId)?.byId.get(toolId),
    named: (tenantId, upstream) => tenants.get(tenantId)?.byUpstream.get(upstream),
    list(tenantId, upstream) {
      const tenant = tenants.get(tenantId);
      const tools = upstream === undefined ? tenant?.byId.values() : tenant?.byUpstream.get(upstream)?.values();
      return [...(tools ?? [])].sort((a, b) => (a.toolId < b.toolId ? -1 : 1));
    },
    foreignNames: (tenantId, upstream, own) => foreignNames(tenants.get(tenantId), upstream, own),
    places: () =>
      [...tenants].flatMap(([tenantId, { byUpstream }]) => [...byUpstream.keys()].map((name) => ({ tenantId, name }))),
    agree({ tenantId, name }, tools) {
      const tenant = tenantOf(tenants, tenantId);
      const onRecord = new Set(tools.map(({ toolId }) => toolId));
      const gone = [...(tenant.byUpstream.get(name)?.values() ?? [])].filter(({ toolId }) => !onRecord.has(toolId));
      for (const tool of gone) drop(tenant, tool);
      if (gone.length > 0) notify();
      put(tools);
    },
    put,
    blockNow(tools, reason) {
      for (const { known } of tools) {
        const { blocks } = tenantOf(tenants, known.tenantId);
        if (blocks.get(known.toolId)?.reason === reason) continue;
        blocks.set(known.toolId, { reason, upstream: known.upstream, tool: known.tool });
      }
    },
    onChanged(listener) {
      const entry = { receive: listener };
      listeners.add(entry);
      return { [Symbol.dispose]: () => void listeners.delete(entry) };
    },
  };
}

function tenantOf(tenants: Map<string, TenantTools>, tenantId: string): TenantTools {
  const known = tenants.get(tenantId) ?? { byId: new Map(), byUpstream: new Map(), blocks: new Map() };
  tenants.set(tenantId, known);
  return known;
}

/** Its id may belong to a tool of another upstream since. */
function drop({ byId, byUpstream, blocks }: TenantTools, { toolId, upstream, tool }: UpstreamTool): void {
  if (byId.get(toolId)?.upstream === upstream) {
    byId.delete(toolId);
    blocks.delete(toolId);
  }
  const named = byUpstream.get(upstream);
  if (named?.get(tool)?.toolId === toolId) named.delete(tool);
  if (named?.size === 0) byUpstream.delete(upstream);
}

/** True when the tool's block differs from the one on record. */
function keep({ byId, byUpstream, blocks }: TenantTools, tool: UpstreamTool): boolean {
  const { toolId, upstream, block } = tool;
  const before = byId.get(toolId)?.block;
  byId.set(toolId, tool);
  const named = byUpstream.get(upstream) ?? new Map<string, UpstreamTool>();
  named.set(tool.tool, tool);
  byUpstream.set(upstream, named);
  if (block === undefined) blocks.delete(toolId);
  else blocks.set(toolId, { reason: block, upstream, tool: tool.tool });
  return before !== block;
}

function foreignNames(
  tenant: TenantTools | undefined,
  upstream: string,
  own: readonly ListedMcpTool[],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [other, tools] of tenant?.byUpstream ?? []) {
    if (other !== upstream && !isOfferPlace(other)) for (const name of tools.keys()) names.add(name);
  }
  for (const name of tenant?.byUpstream.get(upstream)?.keys() ?? []) names.delete(name);
  for (const { name } of own) names.delete(name);
  return names;
}
