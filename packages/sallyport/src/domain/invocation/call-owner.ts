/** Whose call it is: tenant, agent and user together, where a user is known. A principal and a record are owners as they stand. */
export interface CallOwner {
  readonly tenantId: string;
  readonly agentDid: string;
  /** Absent where the agent acts for nobody: then it owns only the calls that have no user either. */
  readonly userDid?: string | undefined;
}

/** True when both are the same tenant, agent and user. An absent owner (a call that never showed who it is of) is nobody's. */
export const isOwner = (asker: CallOwner, owner: CallOwner | undefined): boolean =>
  owner !== undefined &&
  asker.tenantId === owner.tenantId &&
  asker.agentDid === owner.agentDid &&
  asker.userDid === owner.userDid;

/**
 * Parts of a key that is the owner's own within its tenant: the agent, then the user where one is known. The number of parts
 * tells the two forms apart, so join them in a way that keeps it.
 */
export const ownerNames = ({ agentDid, userDid }: Omit<CallOwner, 'tenantId'>): readonly string[] =>
  userDid === undefined ? [agentDid] : [agentDid, userDid];

/** One text for each owner, tenant included. */
export const ownerKey = (owner: CallOwner): string => JSON.stringify([owner.tenantId, ...ownerNames(owner)]);
