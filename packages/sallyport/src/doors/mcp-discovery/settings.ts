/** Settings of the discovery server. */
export interface DiscoverySettings {
  /** Tools on one page of a list that is read as a resource. */
  readonly toolsPageSize: number;
  /** Tools on one page of resources/list. */
  readonly resourcesPageSize: number;
  /** Most resources that one client, a session or a subscription, can watch. */
  readonly watchedPerClientMax: number;
  /** Most resources watched by all clients of one agent and user of a tenant. */
  readonly watchedPerHolderMax: number;
  /** Most resources watched by all clients of one tenant. */
  readonly watchedPerTenantMax: number;
  /** Most resources watched by all clients together. */
  readonly watchedMax: number;
  /** Changes of the tools within this time cause one check, in ms. */
  readonly changesTogetherMs: number;
  /** Least time between two checks of everything watched, in ms; after a long check four times its duration. */
  readonly lookPauseMs: number;
}

export const DISCOVERY_DEFAULTS: DiscoverySettings = {
  toolsPageSize: 100,
  resourcesPageSize: 200,
  watchedPerClientMax: 100,
  watchedPerHolderMax: 1_000,
  watchedPerTenantMax: 2_500,
  watchedMax: 5_000,
  changesTogetherMs: 50,
  lookPauseMs: 250,
};
