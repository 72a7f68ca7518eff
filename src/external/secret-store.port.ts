/** Where credentials come from. Values never enter a manifest, an error, an event or a log. */
export interface SecretStore {
  /**
   * Values of the named secrets.
   * @throws E3301 when the store cannot be reached, E3302 naming the secrets that it does not hold
   */
  read(tenantId: string, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
