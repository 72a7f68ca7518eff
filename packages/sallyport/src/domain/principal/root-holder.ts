import type { CapabilityClaims, RootHolder } from '../../../api/schemas/capability-token.ts';

/**
 * The person to whom a credential goes back. A credential that was asked for with another one names the person of that
 * one; every other credential stands for the agent and user that it was made for.
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
 * True when two credentials go back to one person: to the same user, or to the same agent where one of them names no user.
 * One agent may act for several users, so its name alone does not make two users one person.
 */
export function isSamePerson(one: RootHolder, other: RootHolder): boolean {
  if (one.tenant_id !== other.tenant_id) return false;
  if (one.user_did !== undefined && other.user_did !== undefined) return one.user_did === other.user_did;
  return one.agent_did === other.agent_did;
}
