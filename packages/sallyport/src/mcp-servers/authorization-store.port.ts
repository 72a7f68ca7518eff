/** The place of one kept text: a part of what the layer knows of the authorization at an upstream. */
export interface AuthorizationPlace {
  readonly tenantId: string;
  readonly upstream: string;
  readonly part: string;
}

/** A kept text with the number of its version, which no later version has. */
export interface KeptAuthorization {
  readonly text: string;
  readonly revision: number;
}

/** Tokens and registrations of the layer at upstreams. All instances see the same. */
export interface AuthorizationStore {
  /** Undefined when there is none. */
  read(place: AuthorizationPlace): Promise<KeptAuthorization | undefined>;
  /** The revision at each place, in order; undefined where nothing is kept. */
  revisions(places: readonly AuthorizationPlace[]): Promise<readonly (number | undefined)[]>;
  /**
   * Writes a text and ends the claim of the version that it replaces.
   * @param revision of the version that it replaces; 0 when there is none
   * @returns the new revision; undefined when another version is there, and nothing was written
   */
  replace(place: AuthorizationPlace, text: string, revision: number): Promise<number | undefined>;
  /**
   * Claims a version for some time, so that one instance alone replaces it.
   * @returns false when somebody has claimed it, or another version is there
   */
  claim(place: AuthorizationPlace, revision: number, ms: number): Promise<boolean>;
  /** @param part all parts of the upstream when absent @returns whether there were any */
  remove(tenantId: string, upstream: string, part?: string): Promise<boolean>;
}
