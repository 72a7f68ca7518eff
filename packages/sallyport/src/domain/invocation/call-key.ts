/** Key of a call: tenant and id. */
export interface CallKey {
  readonly tenantId: string;
  readonly invocationId: string;
}

/** One text for each call. The length of the tenant keeps keys apart that would otherwise read the same. */
export const textOfCall = ({ tenantId, invocationId }: CallKey): string =>
  `${tenantId.length} ${tenantId}${invocationId}`;
