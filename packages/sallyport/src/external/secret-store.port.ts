/** For whom secrets are read, where some belong to the caller alone (PRM-11). */
export interface SecretCaller {
  /** The bearer token that the caller came with; absent for callers without one. */
  readonly token?: string | undefined;
  /** Ends the wait for a service that has to be asked. */
  readonly signal?: AbortSignal;
}

/** Where credentials come from. Values never enter a manifest, an error, an event or a log. */
export interface SecretStore {
  /**
   * Values of the named secrets.
   * @param caller whose call they are for; absent where the layer itself is the one who needs them
   * @throws E3301 when the store cannot be reached, E3302 naming the secrets that it does not hold
   */
  read(tenantId: string, names: readonly string[], caller?: SecretCaller): Promise<ReadonlyMap<string, string>>;
  /** Those of the names that are made from the token that the caller came with; none when absent. At once. */
  ofCaller?(names: readonly string[]): readonly string[];
}
