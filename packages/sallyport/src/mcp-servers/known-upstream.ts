import type { UpstreamDefinition, UpstreamStatus } from '../../api/schemas/upstream.ts';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { ServerOffers } from './server-offers.ts';

/** Result of adding an upstream. */
export interface AddedUpstream {
  readonly status: UpstreamStatus;
  /** Its tools as listed; empty for a disabled upstream. */
  readonly tools: readonly ListedMcpTool[];
  /** The server's version as it states it; empty when it states none. */
  readonly serverVersion: string;
  /** Invalid entries of its list, with the reason. */
  readonly malformed: readonly { readonly place: string; readonly reason: string }[];
}

/** The current state of an upstream. */
export interface CurrentUpstream {
  readonly status: UpstreamStatus;
  readonly definition: UpstreamDefinition;
  /** The last known list. */
  readonly tools: readonly ListedMcpTool[];
  /** The server's version as it states it; empty when it states none, and before the first connection. */
  readonly serverVersion: string;
  /** Invalid entries of its list, with the reason; the first hundred. */
  readonly malformed: AddedUpstream['malformed'];
}

/** Called when the tools of an upstream differ from the last list known in this process; never for `add`. */
export type ToolsChanged = (
  tenantId: string,
  name: string,
  tools: readonly ListedMcpTool[],
  serverVersion: string,
) => void;

/** An upstream and what it offers beside its tools. */
export interface OfferingUpstream {
  readonly upstream: string;
  readonly serverVersion: string;
  readonly offers: ServerOffers;
}
