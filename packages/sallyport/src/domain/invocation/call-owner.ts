/** Owner of a call: tenant, agent and user together, if a user is known. A principal and a record are owners too. */
export interface CallOwner {
  readonly tenantId: string;
  readonly agentDid: string;
  /** Absent when the agent acts for no user: then it owns only calls that have no user either. */
  readonly userDid?: string | undefined;
}

/** True when both are the same tenant, agent and user. A call that never identified its owner is nobody's. */
export const isOwner = (asker: CallOwner, owner: CallOwner | undefined): boolean =>
  owner !== undefined &&
  asker.tenantId === owner.tenantId &&
  asker.agentDid === owner.agentDid &&
  asker.userDid === owner.userDid;

/**
 * Parts of a key that is unique to the owner within its tenant: the agent, then the user if one is known. The number of
 * parts distinguishes the two forms, so join them in a way that keeps it.
 */
export const ownerNames = ({ agentDid, userDid }: Omit<CallOwner, 'tenantId'>): readonly string[] =>
  userDid === undefined ? [agentDid] : [agentDid, userDid];

/** One text for each owner, tenant included. */
export const ownerKey = (owner: CallOwner): string => JSON.stringify([owner.tenantId, ...ownerNames(owner)]);
