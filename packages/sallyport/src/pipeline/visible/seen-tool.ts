import type { Failure } from '@sallyport/std/error/failure';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { ToolListRequest } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { Quarantine } from '../../mcp-servers/quarantine.ts';
import type { Registry } from '../../registry/registry.ts';
import { type Showing, shownManifest } from '../../visibility/shown-tool.ts';
import type { Visibility } from '../../visibility/visibility.ts';
import type { DependencyGates, HeldTools } from './dependency-gates.ts';

/** Dependencies of the visibility of tools. */
export interface VisibleToolsParts {
  readonly registry: Registry;
  readonly visibility: Visibility;
  /** Tenant whose tools are offered to every tenant. */
  readonly catalogTenant: string;
  /** Upstream tools that wait for an operator. */
  readonly quarantine: Pick<Quarantine, 'blocks' | 'supersededBy' | 'onChanged'>;
  /** Hold back tools in lists; absent: nothing is held back (MOD-05). */
  readonly gates?: DependencyGates;
}

/** The caller; without claims only the role narrows what it sees. */
export interface Asking {
  readonly principal: Principal;
  readonly claims?: CapabilityClaims;
  /** Tools that lists leave out until others completed in the session; none when absent. */
  readonly held?: HeldTools;
  /** Added to the similarity of tools in searches; nothing when absent. */
  readonly boosts?: ReadonlyMap<string, number>;
}

/** A tool for a call, with what the agent's view and activation say of it. */
export interface FoundTool extends Showing {
  readonly tool: ToolVersion;
  readonly warnings: readonly Warning[];
  /** The user whom the activation with these `overrides` is for; absent when it is for all users of the agent. */
  readonly overridesUser?: string;
}

/** A tool as one asker sees it. */
export interface SeenTool extends Showing {
  /** The name that it is called by: its id, or what a view says. */
  readonly name: string;
  readonly tool: ToolVersion;
}

/** Finds a tool by the name that the caller knows. */
export type Find = (asking: Asking, name: string, range?: string) => FoundTool | Failure;

/** Selects tools of a list: those that match every member. */
export type ToolFilter = Pick<ToolListRequest, 'category' | 'tags' | 'executor'>;

/** The lists of VIS-01. */
export type TierList = 'catalog' | 'tenant-available' | 'agent-enabled' | 'agent-unavailable';

/** Versions of a tool that the caller may name, newest first: a view that pins a definition shows only that one. */
export function versionsOf(registry: Pick<Registry, 'versions'>, { tool, rule }: SeenTool | FoundTool): string[] {
  const { tenantId, manifest } = tool;
  if (rule?.content_hash !== undefined) return [manifest.version];
  return registry.versions(tenantId, manifest.tool_id).map((known) => known.manifest.version);
}

/** The manifest as the caller sees it. */
export function manifestOf({ tool, ...showing }: SeenTool | FoundTool): ToolManifest {
  return shownManifest(tool.manifest, showing);
}
