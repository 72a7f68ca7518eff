import { randomUUID } from 'node:crypto';
import { failure } from '../domain/error/failure.ts';
import type { Run } from './operation.ts';
import type { OperationParts } from './parts.ts';

/**
 * Signs a capability token for the asker's own tenant; the token itself stays out of the record. Only who sits at the
 * machine may act for another tenant: anybody else is refused, with E3213.
 */
export function mintToken(parts: Pick<OperationParts, 'mintToken' | 'ledger' | 'clock'>): Run<'token.mint'> {
  return async (input, { principal, caller }) => {
    const { tenant_id: tenantId = principal.tenantId } = input;
    if (tenantId !== principal.tenantId && caller.local !== true) {
      return failure(
        'E3213',
        `Your token signs tokens of the tenant ${principal.tenantId} alone. For ${tenantId} ask with a token of its operator, or on the machine itself while no layer serves the data folder.`,
      );
    }
    const minted = await parts.mintToken({ ...input, tenant_id: tenantId });
    const { jti, agent_did, tool_id, exp, roles, tenant_id } = minted.claims;
    await parts.ledger.commit({
      events: [
        {
          id: randomUUID(),
          type: 'ai.agent.token.minted',
          time: parts.clock.now(),
          tenantId: tenant_id,
          subject: jti ?? agent_did,
          data: { agent_did, by: principal.agentDid, exp, roles: roles ?? ['agent'], tenant_id, tool_id },
        },
      ],
      durability: 'synchronous',
    });
    return minted;
  };
}
