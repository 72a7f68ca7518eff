import { TokenHolder } from '../../../api/schemas/capability-token.ts';
import { NoInput } from '../../../api/schemas/identifiers.ts';
import { operation } from '../operation.ts';

/** The owner in the asker's token: what a client, or a door, must know to name its own things. */
export const inspectToken = operation({
  name: 'tokens.inspect',
  summary: "Say whom the caller's token speaks for",
  method: 'GET',
  path: '/v1/tokens/current',
  status: 200,
  access: 'token',
  input: NoInput,
  output: TokenHolder,
  run:
    () =>
    (_input, { principal, claims }) => ({
      tenant_id: principal.tenantId,
      agent_did: principal.agentDid,
      ...(principal.userDid === undefined ? {} : { user_did: principal.userDid }),
      ...(principal.sessionId === undefined ? {} : { session_id: principal.sessionId }),
      roles: [...principal.roles],
      ...(principal.trust === undefined ? {} : { trust_level: principal.trust }),
      ...(claims === undefined ? {} : { tool_id: claims.tool_id, ...expiryOf(claims.exp) }),
    }),
});

/** Latest second that Date can represent; a later `exp`, or none, gives no expiry. */
const SECOND_MAX = 8.64e12;

const expiryOf = (exp: number): { expires_at?: string } =>
  exp > SECOND_MAX ? {} : { expires_at: new Date(exp * 1000).toISOString() };
