import type { UpstreamDefinition } from '../../api/schemas/upstream.ts';

/** An upstream of one tenant. */
export interface StoredUpstream {
  readonly tenantId: string;
  readonly definition: UpstreamDefinition;
}

/** The registered upstreams. */
export interface UpstreamStore {
  /** Adds or replaces by tenant and name. */
  put(upstream: StoredUpstream): Promise<void>;
  /** False when there was no such upstream. */
  remove(tenantId: string, name: string): Promise<boolean>;
  /** Undefined when there is no such upstream. */
  find(tenantId: string, name: string): Promise<UpstreamDefinition | undefined>;
  loadAll(): Promise<readonly StoredUpstream[]>;
  /** Another text after each change of any upstream, by whichever instance. Costs less than `loadAll`. */
  print(): Promise<string>;
}
