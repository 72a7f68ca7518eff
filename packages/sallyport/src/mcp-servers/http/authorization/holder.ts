import type { CallOwner } from '../../../domain/invocation/call-owner.ts';

/**
 * The holder of a caller's own authorizations: its user, or the agent where it acts for none. Tenants name their users
 * themselves, and an upstream of the catalogue is called by several tenants, so the tenant is part of it.
 */
export const holderOf = ({ tenantId, agentDid, userDid }: CallOwner): string =>
  `${JSON.stringify(tenantId)} ${userDid === undefined ? `agent ${agentDid}` : `user ${userDid}`}`;
