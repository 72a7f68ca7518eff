/** The caller that secrets are read for; some secrets belong to the caller alone (PRM-11). */
export interface SecretCaller {
  /** The caller's bearer token; absent when it has none. */
  readonly token?: string | undefined;
  /** Ends the wait for a remote service. */
  readonly signal?: AbortSignal;
}

/** Source of credentials. Values never enter a manifest, an error, an event or a log. */
export interface SecretStore {
  /**
   * Values of the named secrets.
   * @param caller caller whose call needs them; absent when the layer itself needs them
   * @throws E3301 when the store cannot be reached, E3302 naming the missing secrets
   */
  read(tenantId: string, names: readonly string[], caller?: SecretCaller): Promise<ReadonlyMap<string, string>>;
  /** Those of the names that are derived from the caller's token; default none. Synchronous. */
  ofCaller?(names: readonly string[]): readonly string[];
}
