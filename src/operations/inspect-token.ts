import type { Run } from './operation.ts';

/** Whom the asker's token speaks for: what a client, or a door, must know to name its own things. */
export function inspectToken(): Run<'token.inspect'> {
  return (_input, { principal, claims }) => ({
    tenant_id: principal.tenantId,
    agent_did: principal.agentDid,
    ...(principal.userDid === undefined ? {} : { user_did: principal.userDid }),
    ...(principal.sessionId === undefined ? {} : { session_id: principal.sessionId }),
    roles: [...principal.roles],
    ...(claims === undefined ? {} : { tool_id: claims.tool_id, expires_at: new Date(claims.exp * 1000).toISOString() }),
  });
}
