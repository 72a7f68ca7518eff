/** Where the access control of the data layer answers. */
export interface AbacSettings {
  /** Base address; `/api/v1/abac/check-permission` is put behind it. */
  readonly endpoint: string;
  /** Default 500. */
  readonly timeoutMs?: number;
}
