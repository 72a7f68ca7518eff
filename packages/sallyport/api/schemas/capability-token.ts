import { type Static, Type } from 'typebox';
import { AgentDid, JsonValue, TenantId, Timestamp, VersionRange } from './identifiers.ts';
import { AccessMode } from './tool-manifest.ts';

export const Role = Type.Enum(['agent', 'viewer', 'operator', 'approver', 'admin']);
export type Role = Static<typeof Role>;

/** How far its issuer trusts an agent; decides what runs without confirmation (PRM-06). */
export const TrustLevel = Type.Enum(['untrusted', 'provisional', 'trusted']);
export type TrustLevel = Static<typeof TrustLevel>;

/** A scope of an authorization server, and the tools that are called with it. */
export const ToolScope = Type.Object(
  {
    tool: Type.String({ minLength: 1, description: 'Tool id; * stands for any run of characters.' }),
    scope: Type.String({ minLength: 1 }),
    held: Type.Boolean({ description: 'Whether the token has the scope.' }),
  },
  { additionalProperties: false },
);
export type ToolScope = Static<typeof ToolScope>;

/** RFC 7638 thumbprint (SHA-256) of a public key. */
export const KeyThumbprint = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' });

/**
 * The person at the root of a credential: for whom the first credential was made, with which a second one was asked for,
 * and so on to this one.
 */
export const RootHolder = Type.Object(
  { tenant_id: TenantId, agent_did: AgentDid, user_did: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
export type RootHolder = Static<typeof RootHolder>;

/** The key that a token is bound to (RFC 7800, RFC 9449 §6.1). Members of another kind of binding are refused. */
export const Confirmation = Type.Object({ jkt: KeyThumbprint }, { additionalProperties: false });

/** Claims of a capability token, 000 §4.1.1 (G-006). `cnf`, `roles`, `trust_level`, `root_holder` and `max_tool_calls_per_session` are ours. */
export const CapabilityClaims = Type.Object(
  {
    tool_id: Type.String({ minLength: 1, description: 'Tool id; * stands for any run of characters.' }),
    tool_version: Type.Optional(VersionRange),
    agent_did: AgentDid,
    tenant_id: TenantId,
    user_did: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String()),
    allowed_operations: Type.Array(Type.String(), { description: 'execute, or * for any.' }),
    filesystem_permissions: Type.Optional(
      Type.Object({ allowed_paths: Type.Array(Type.String()), mode: AccessMode }, { additionalProperties: true }),
    ),
    network_permissions: Type.Optional(
      Type.Object(
        {
          allowed_hosts: Type.Array(Type.String(), {
            description: 'Exact hosts; *.example.com for one label or more; * for any.',
          }),
          allowed_ports: Type.Array(Type.Integer(), { description: '0 for any.' }),
        },
        { additionalProperties: true },
      ),
    ),
    credential_permissions: Type.Optional(
      Type.Object({ allowed_secrets: Type.Array(Type.String()) }, { additionalProperties: true }),
    ),
    tool_scopes: Type.Optional(
      Type.Array(ToolScope, {
        description: 'What the layer made of the scopes of an access token: the first whose tool fits decides.',
      }),
    ),
    server_audiences: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Upstreams at whose own addresses alone the token is accepted, as the layer read them from aud.',
      }),
    ),
    roles: Type.Optional(Type.Array(Role)),
    trust_level: Type.Optional(TrustLevel),
    root_holder: Type.Optional(RootHolder),
    cnf: Type.Optional(Confirmation),
    max_tool_calls_per_session: Type.Optional(
      Type.Integer({ minimum: 0, description: "Lowers the layer's own quota for this token's session." }),
    ),
    exp: Type.Integer(),
    iat: Type.Integer(),
    nbf: Type.Optional(Type.Number({ description: 'When it begins to count.' })),
    iss: Type.String(),
    jti: Type.Optional(Type.String()),
    aud: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  },
  { additionalProperties: true, title: 'Capability token claims' },
);
export type CapabilityClaims = Static<typeof CapabilityClaims>;

export const TokenMintRequest = Type.Object(
  {
    tool_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    tool_version: Type.Optional(VersionRange),
    agent_did: Type.Optional(AgentDid),
    tenant_id: Type.Optional(TenantId),
    user_did: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String()),
    paths: Type.Optional(Type.Array(Type.String({ description: 'Absolute path the token allows.' }))),
    mode: Type.Optional(AccessMode),
    hosts: Type.Optional(Type.Array(Type.String())),
    ports: Type.Optional(Type.Array(Type.Integer())),
    secrets: Type.Optional(Type.Array(Type.String())),
    roles: Type.Optional(Type.Array(Role)),
    trust_level: Type.Optional(TrustLevel),
    key_thumbprint: Type.Optional(KeyThumbprint),
    expires_in_seconds: Type.Optional(
      Type.Integer({ minimum: -86_400, maximum: 31_536_000, description: 'Default 3600.' }),
    ),
  },
  { additionalProperties: false },
);
export type TokenMintRequest = Static<typeof TokenMintRequest>;

export const TokenMintResponse = Type.Object(
  { capability_token: Type.String(), claims: CapabilityClaims },
  { additionalProperties: false },
);
export type TokenMintResponse = Static<typeof TokenMintResponse>;

/** A token or API key to judge. It is not kept, and not in the answer. */
export const TokenExplainRequest = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 65_536 }) },
  { additionalProperties: false },
);
export type TokenExplainRequest = Static<typeof TokenExplainRequest>;

/** What a token says, and every reason why it would be refused here and now. */
export const TokenExplanation = Type.Object(
  {
    kind: Type.Enum(['capability_token', 'access_token', 'api_key', 'unreadable']),
    accepted: Type.Boolean(),
    header: Type.Optional(
      Type.Object(
        { alg: Type.String(), kid: Type.Optional(Type.String()), typ: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
    ),
    claims: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          value: JsonValue,
          means: Type.Optional(Type.String({ description: 'Absent for a claim that means nothing to this layer.' })),
        },
        { additionalProperties: false },
      ),
    ),
    reasons: Type.Array(
      Type.Object({ e_code: Type.String(), message: Type.String() }, { additionalProperties: false }),
      { description: 'Empty when the token is accepted.' },
    ),
  },
  { additionalProperties: false },
);
export type TokenExplanation = Static<typeof TokenExplanation>;

/** Whom a token speaks for, and how far. */
export const TokenHolder = Type.Object(
  {
    tenant_id: TenantId,
    agent_did: AgentDid,
    user_did: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String()),
    roles: Type.Array(Role),
    trust_level: Type.Optional(TrustLevel),
    tool_id: Type.Optional(
      Type.String({ description: 'Tools that the token is for; * stands for any run of characters.' }),
    ),
    expires_at: Type.Optional(Timestamp),
  },
  { additionalProperties: false },
);
export type TokenHolder = Static<typeof TokenHolder>;
