import type { CapabilityClaims, RootHolder } from '../../../api/schemas/capability-token.ts';

/**
 * The person at the root of a credential. A credential that was made with another one has that one's root holder; every
 * other credential stands for its own agent and user.
 */
export function rootHolderOf({
  tenant_id,
  agent_did,
  user_did,
  root_holder,
}: Pick<CapabilityClaims, 'tenant_id' | 'agent_did' | 'user_did' | 'root_holder'>): RootHolder {
  return root_holder ?? { tenant_id, agent_did, ...(user_did === undefined ? {} : { user_did }) };
}

/**
 * True when two credentials have the same person at their root: the same user, or the same agent when one of them names
 * no user. One agent may act for several users, so its name alone does not make two users one person.
 */
export function isSamePerson(one: RootHolder, other: RootHolder): boolean {
  if (one.tenant_id !== other.tenant_id) return false;
  if (one.user_did !== undefined && other.user_did !== undefined) return one.user_did === other.user_did;
  return one.agent_did === other.agent_did;
}
