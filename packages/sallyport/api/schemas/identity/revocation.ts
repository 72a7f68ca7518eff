import { type Static, Type } from 'typebox';
import { AgentDid, TenantId, Timestamp } from '../identifiers.ts';

/** What to revoke: exactly one of token, jti, agent_did and whole_tenant. */
export const TokenRevokeRequest = Type.Object(
  {
    token: Type.Optional(
      Type.String({ minLength: 1, maxLength: 65_536, description: 'The token or API key itself; it is not kept.' }),
    ),
    jti: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: 'The token with this id.' })),
    agent_did: Type.Optional(
      Type.String({ ...AgentDid, description: 'Every token of this agent, those to come too.' }),
    ),
    whole_tenant: Type.Optional(
      Type.Literal(true, { description: 'Every token of the tenant that was issued until now.' }),
    ),
    issued_before: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'Tokens of the agent or tenant that were issued before. Absent: of an agent all, and those to come; of the tenant those issued until now.',
      }),
    ),
    expires_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When the token with this jti expires; its revocation is forgotten later. Absent: it is kept.',
      }),
    ),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'Why, for people.' })),
  },
  { additionalProperties: false },
);
export type TokenRevokeRequest = Static<typeof TokenRevokeRequest>;

/** Tokens that do not count any more. */
export const Revocation = Type.Object(
  {
    revocation_id: Type.String(),
    tenant_id: TenantId,
    kind: Type.Enum(['token', 'agent', 'tenant', 'api_key']),
    subject: Type.String({ description: 'jti, agent DID or key id; empty for the tenant.' }),
    issued_before: Type.Optional(Timestamp),
    expires_at: Type.Optional(Timestamp),
    revoked_at: Timestamp,
    revoked_by: Type.String(),
    reason: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type Revocation = Static<typeof Revocation>;

export const RevocationListRequest = Type.Object(
  {
    page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'Which page; the first when absent.' }),
    ),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'Default 50.' })),
  },
  { additionalProperties: false },
);
export type RevocationListRequest = Static<typeof RevocationListRequest>;

export const RevocationListResponse = Type.Object(
  { revocations: Type.Array(Revocation), total: Type.Integer() },
  { additionalProperties: false },
);
export type RevocationListResponse = Static<typeof RevocationListResponse>;

export const RevocationLiftRequest = Type.Object(
  { revocation_id: Type.String({ minLength: 1, maxLength: 64 }) },
  { additionalProperties: false },
);
export type RevocationLiftRequest = Static<typeof RevocationLiftRequest>;
