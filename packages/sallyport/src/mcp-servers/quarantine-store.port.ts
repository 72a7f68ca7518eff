import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { ScanFinding } from './trust/description-scanner.port.ts';

/**
 * Why a tool is not to be seen or called. `changed`: its server serves another definition than the accepted one. `flagged`:
 * its description may hold hidden instructions. `new`: it came later and its upstream takes no new tools. `rejected`: an
 * operator refused what is served. `absent`: the server no longer lists it.
 */
export type BlockReason = 'changed' | 'flagged' | 'new' | 'rejected' | 'absent';

/** A definition that nobody has accepted, as its server lists it. */
export interface ServedDefinition {
  /** SHA-256 of the definition, hex. */
  readonly hash: string;
  readonly definition: ListedMcpTool;
  /** As the server says; empty when it says nothing. */
  readonly serverVersion: string;
  readonly findings: readonly ScanFinding[];
}

/** What is known of one tool of an upstream. Its id belongs to it for as long as the upstream is registered. */
export interface UpstreamTool {
  readonly tenantId: string;
  readonly toolId: string;
  readonly upstream: string;
  /** As the server names it. */
  readonly tool: string;
  /** Of the definition that was accepted last; absent when none ever was. */
  readonly acceptedHash?: string;
  /** Version under which that definition is registered. */
  readonly version?: string;
  /** Of the definition that an operator refused last. */
  readonly rejectedHash?: string;
  /** Absent for a tool that may be called. */
  readonly block?: BlockReason;
  /** What waits for a decision, or was refused; absent for a tool that may be called, and for one that is absent. */
  readonly served?: ServedDefinition;
  /** When it last changed, ISO 8601. */
  readonly noticedAt: string;
}

/** Which tools of upstreams were accepted, and which wait for that. */
export interface QuarantineStore {
  /** Adds or replaces by tenant and tool id, all or none. */
  putAll(tools: readonly UpstreamTool[]): Promise<void>;
  /** Forgets every tool of an upstream. Idempotent. */
  removeUpstream(tenantId: string, upstream: string): Promise<void>;
  /** Everything of every tenant, in no order. */
  loadAll(): Promise<readonly UpstreamTool[]>;
}
