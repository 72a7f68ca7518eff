import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { ScanFinding } from './trust/description-scanner.port.ts';

/**
 * Why a tool may not be seen or called. `changed`: its server lists a definition other than the accepted one.
 * `flagged`: its description may hold hidden instructions. `new`: it appeared later and its upstream accepts no new
 * tools. `rejected`: an operator refused the listed definition. `absent`: the server no longer lists it.
 */
export type BlockReason = 'changed' | 'flagged' | 'new' | 'rejected' | 'absent';

/** A definition that nobody has accepted, as its server lists it. */
export interface ServedDefinition {
  /** SHA-256 of the definition, hex. */
  readonly hash: string;
  readonly definition: ListedMcpTool;
  /** The server's version as it states it; empty when it states none. */
  readonly serverVersion: string;
  readonly findings: readonly ScanFinding[];
}

/** What is known of one tool of an upstream. It owns its id for as long as the upstream is registered. */
export interface UpstreamTool {
  readonly tenantId: string;
  readonly toolId: string;
  readonly upstream: string;
  /** The server's own name of it. */
  readonly tool: string;
  /** Hash of the last accepted definition; absent when none ever was. */
  readonly acceptedHash?: string;
  /** Version under which that definition is registered. */
  readonly version?: string;
  /** Hash of the definition that an operator refused last. */
  readonly rejectedHash?: string;
  /** Absent when the tool may be called. */
  readonly block?: BlockReason;
  /**
   * The definition that waits for a decision or was refused; absent for tools that may be called and for absent tools.
   */
  readonly served?: ServedDefinition;
  /** When it last changed, ISO 8601. */
  readonly noticedAt: string;
}

/** Accepted tools of upstreams, and tools that wait for acceptance. */
export interface QuarantineStore {
  /** Adds or replaces by tenant and tool id, all or nothing. */
  putAll(tools: readonly UpstreamTool[]): Promise<void>;
  /** Deletes every tool of an upstream. Idempotent. */
  removeUpstream(tenantId: string, upstream: string): Promise<void>;
  /** All tools of every tenant, in no order. */
  loadAll(): Promise<readonly UpstreamTool[]>;
  /** Another text after each change of any tool, by whichever instance. Costs less than `loadAll`. */
  print(): Promise<string>;
}
