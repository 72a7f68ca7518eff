import type { UpstreamDefinition } from '../../api/schemas/upstream.ts';
import type { EventsOf } from '../domain/event/events-of.ts';

/** An upstream, or another place at which something of one is stored. */
export interface StoredPlace {
  readonly tenantId: string;
  readonly name: string;
}

/** A place at which something is stored, and a text that is another one after each change of it by any instance. */
export interface StoredPrint extends StoredPlace {
  readonly print: string;
}

/** An upstream of one tenant. */
export interface StoredUpstream {
  readonly tenantId: string;
  readonly definition: UpstreamDefinition;
}

/** The registered upstreams. */
export interface UpstreamStore {
  /** Adds or replaces by tenant and name. */
  put(upstream: StoredUpstream, events?: EventsOf<void>): Promise<void>;
  /** False when there was no such upstream. */
  remove(tenantId: string, name: string, events?: EventsOf<void>): Promise<boolean>;
  /** Undefined when there is no such upstream. */
  find(tenantId: string, name: string): Promise<UpstreamDefinition | undefined>;
  loadAll(): Promise<readonly StoredUpstream[]>;
  /** One print for each upstream. */
  prints(): Promise<readonly StoredPrint[]>;
}
