import { randomUUID } from 'node:crypto';
import type { Run } from './operation.ts';
import type { OperationParts } from './parts.ts';

/** Signs a capability token for the asker's own tenant; the token itself stays out of the record. */
export function mintToken(parts: Pick<OperationParts, 'mintToken' | 'ledger' | 'clock'>): Run<'token.mint'> {
  return async (input, { principal, caller }) => {
    const minted = await parts.mintToken({
      ...input,
      tenant_id: tenantFor(input.tenant_id, principal.tenantId, caller.local),
    });
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

/** Only who sits at the machine may act for another tenant. */
const tenantFor = (asked: string | undefined, own: string, local: boolean | undefined): string =>
  local === true ? (asked ?? own) : own;
