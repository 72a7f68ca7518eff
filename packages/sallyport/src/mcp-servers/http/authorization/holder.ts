import type { Principal } from '../../../domain/principal/principal.ts';

/** The holder of a caller's own authorizations: its user, or the agent where it acts for none. */
export const holderOf = ({ agentDid, userDid }: Pick<Principal, 'agentDid' | 'userDid'>): string =>
  userDid === undefined ? `agent ${agentDid}` : `user ${userDid}`;
