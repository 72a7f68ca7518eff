import { randomUUID } from 'node:crypto';
import { TokenMintRequest, TokenMintResponse } from '../../../api/schemas/capability-token.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { mayGrant, rootToGrant, trustToGrant } from './may-grant.ts';

/**
 * Signs a capability token for the asker's own tenant, with no role that the asker lacks; the token itself stays out of
 * the record. Only a local caller may act for another tenant: others are refused with E3213.
 */
export const mintToken = operation({
  name: 'tokens.mint',
  summary: 'Sign a capability token',
  method: 'POST',
  path: '/v1/tokens',
  status: 201,
  access: 'operator',
  input: TokenMintRequest,
  output: TokenMintResponse,
  run: (parts: Pick<OperationParts, 'mintToken' | 'apiKeys' | 'ledger' | 'clock'>) => async (input, asker) => {
    const { principal } = asker;
    const { tenant_id: tenantId = principal.tenantId } = input;
    const refused = mayGrant(asker, { tenantId, roles: input.roles ?? [], trust: input.trust_level });
    if (refused !== undefined) return refused;
    const trust = input.trust_level ?? trustToGrant(asker);
    const root = rootToGrant(asker);
    const bounds = {
      ...(trust === undefined ? {} : { trust_level: trust }),
      ...(root === undefined ? {} : { root_holder: root }),
    };
    const minted = await parts.mintToken({ ...input, ...bounds, tenant_id: tenantId });
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
  },
});
