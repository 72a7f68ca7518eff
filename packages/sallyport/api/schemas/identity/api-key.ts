import { type Static, Type } from 'typebox';
import { Role, TokenMintRequest, TrustLevel } from '../capability-token.ts';
import { AgentDid, TenantId, Timestamp } from '../identifiers.ts';

const KeyName = Type.String({ minLength: 1, maxLength: 100, description: 'For people; need not be unique.' });

/** What a new key stands for; the same as in a token. */
export const ApiKeyCreateRequest = Type.Object(
  {
    name: KeyName,
    ...Type.Omit(TokenMintRequest, ['expires_in_seconds']).properties,
    expires_in_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 315_360_000, description: 'Absent: it does not expire.' }),
    ),
  },
  { additionalProperties: false },
);
export type ApiKeyCreateRequest = Static<typeof ApiKeyCreateRequest>;

/** A key, without what its owner presents. */
export const ApiKey = Type.Object(
  {
    key_id: Type.String(),
    name: KeyName,
    prefix: Type.String({ description: 'First characters of the key.' }),
    tenant_id: TenantId,
    agent_did: AgentDid,
    roles: Type.Array(Role),
    trust_level: Type.Optional(TrustLevel),
    tool_id: Type.String({ description: 'Tools that it may call; * stands for any run of characters.' }),
    state: Type.Enum(['active', 'expired', 'revoked']),
    created_at: Timestamp,
    created_by: Type.String(),
    expires_at: Type.Optional(Timestamp),
    revoked_at: Type.Optional(Timestamp),
    last_used_at: Type.Optional(Type.String({ description: 'ISO 8601, a minute late at most.' })),
  },
  { additionalProperties: false },
);
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyCreateResponse = Type.Object(
  { api_key: Type.String({ description: 'Shown this once; only its hash is kept.' }), key: ApiKey },
  { additionalProperties: false },
);
export type ApiKeyCreateResponse = Static<typeof ApiKeyCreateResponse>;

export const ApiKeyListResponse = Type.Object({ keys: Type.Array(ApiKey) }, { additionalProperties: false });
export type ApiKeyListResponse = Static<typeof ApiKeyListResponse>;

export const ApiKeyRevokeRequest = Type.Object(
  { key_id: Type.String({ minLength: 1, maxLength: 64 }) },
  { additionalProperties: false },
);
export type ApiKeyRevokeRequest = Static<typeof ApiKeyRevokeRequest>;
