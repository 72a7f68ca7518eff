import type { Approver } from '../../orchestration/approvals.ts';
import type { Asker } from '../operation.ts';

/** The approver: the user, or the agent if there is none. A local caller decides as an admin, and is one person. */
export function approverOf({ principal, caller, claims }: Asker): Approver {
  const { tenantId, agentDid, userDid, roles } = principal;
  const isLocal = caller.local === true && claims === undefined;
  return {
    tenantId,
    id: userDid ?? agentDid,
    names: userDid === undefined ? [agentDid] : [userDid, agentDid],
    agentDid,
    roles: isLocal ? ['approver', 'admin'] : roles,
    via: isLocal ? 'local' : 'token',
    ...(claims === undefined ? {} : { claims }),
  };
}
