import type { EventsOf } from '../domain/event/events-of.ts';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { ScanFinding } from './trust/description-scanner.port.ts';
import type { StoredPlace, StoredPrint } from './upstream-store.port.ts';

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
  /** Another one after each write by any instance; absent for a tool that is not on record. */
  readonly revision?: string | undefined;
}

/** Accepted tools of upstreams, and tools that wait for acceptance. */
export interface QuarantineStore {
  /**
   * Adds or replaces by tenant and tool id, all or nothing. A tool that is on record has to have the revision that it has
   * there, or to be equal to what is there but for `noticedAt`.
   * @returns the tools with their new revisions; undefined, with nothing written, when one of them has another revision
   */
  putAll(
    tools: readonly UpstreamTool[],
    events?: EventsOf<readonly UpstreamTool[]>,
  ): Promise<readonly UpstreamTool[] | undefined>;
  /** Deletes every tool of an upstream. Idempotent. */
  removeUpstream(tenantId: string, upstream: string): Promise<void>;
  /** Tools in no order. @param place default: all of every tenant */
  load(place?: StoredPlace): Promise<readonly UpstreamTool[]>;
  /** One print for each upstream, and for each other place, with tools. */
  prints(): Promise<readonly StoredPrint[]>;
}
