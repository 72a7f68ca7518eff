import type { HideSecrets } from '../../external/hide-secrets.ts';
import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { Askers } from '../incoming/asker.ts';
import type { RequestOptions } from './request-table.ts';

/** How a tool is called. */
export interface LinkCallOptions extends RequestOptions {
  /** Awaited before the same call is sent once more, after the server asked for input; throws to end it. */
  readonly beforeAgain?: (() => Promise<void> | undefined) | undefined;
}

/** The result of `tools/call` as the upstream sent it. Untrusted. */
export interface UpstreamCallResult {
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [member: string]: unknown;
}

/** What a server offers, bounded and in the form that importers take. */
export interface ToolListing {
  readonly tools: readonly ListedMcpTool[];
  /** Entries that are no tools, with the reason. */
  readonly malformed: readonly { readonly place: string; readonly reason: string }[];
}

/** What the handshake told. */
export interface ServerIdentity {
  readonly protocolVersion?: string;
  readonly server?: { readonly name: string; readonly version: string };
  /** Names of what it says it offers. */
  readonly capabilities?: readonly string[];
}

/** One live connection to an upstream. It never heals: when it ends, a new one is made. */
export interface Link {
  readonly identity: ServerIdentity;
  /** Whether the server has to be spoken to in the older way from the start, since it took the newer one badly. */
  readonly olderProtocolOnly: boolean;
  /**
   * Takes what the connection was made with out of what the server says; undefined when it was made with nothing secret.
   * Listings and `identity` are without it already, results are as they came.
   */
  readonly hide?: HideSecrets | undefined;
  listTools(signal: AbortSignal): Promise<ToolListing>;
  /** @throws whatever `Multiplexer.request` throws */
  call(tool: string, args: Readonly<Record<string, unknown>>, options: LinkCallOptions): Promise<UpstreamCallResult>;
  /** Resolves when the server answers anything at all. */
  ping(timeoutMs: number): Promise<void>;
  /** Resolves with the reason, for a person, once the connection has ended by itself or was closed. Never rejects. */
  readonly ended: Promise<string>;
  /** Ends the connection and, for stdio, every process of the server. Idempotent. */
  close(): Promise<void>;
}

/** What opens a link. */
export interface OpenOptions {
  /** Aborted when the caller no longer waits; nothing is left open then. */
  readonly signal: AbortSignal;
  /** See `Link.olderProtocolOnly`. */
  readonly olderProtocolOnly: boolean;
  /** The server says that its tools changed. */
  onToolsChanged(): void;
  /** The server asked a person something without saying for which of these calls. */
  onAsks?(askers: Askers): void;
}
