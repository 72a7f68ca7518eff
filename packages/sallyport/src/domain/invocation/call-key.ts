/** A call by tenant and id. */
export interface CallKey {
  readonly tenantId: string;
  readonly invocationId: string;
}

/** One text for one call. The length keeps apart what would read the same. */
export const textOfCall = ({ tenantId, invocationId }: CallKey): string =>
  `${tenantId.length} ${tenantId}${invocationId}`;
