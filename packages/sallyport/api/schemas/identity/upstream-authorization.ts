import { type Static, Type } from 'typebox';

/** A secret by its name; a value has no place in a definition. */
const SecretReference = Type.String({
  pattern: '^\\{\\{\\s*[A-Za-z0-9][A-Za-z0-9_.-]{0,254}\\s*\\}\\}$',
  description: 'Name of a secret of the layer, as {{NAME}}.',
});
const Text = Type.String({ minLength: 1, maxLength: 2_048 });
const Address = Type.String({ pattern: '^https?://', maxLength: 2_048 });

export const AuthorizationGrant = Type.Enum(
  ['authorization_code', 'client_credentials', 'jwt_bearer', 'enterprise_managed'],
  {
    description:
      'authorization_code: a person logs in (upstreams login). client_credentials: the layer itself is the client. ' +
      'jwt_bearer: a workload identity is exchanged (RFC 7523). enterprise_managed: an identity provider grants the access.',
  },
);
export type AuthorizationGrant = Static<typeof AuthorizationGrant>;

export const TokenEndpointMethod = Type.Enum(['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt']);
export type TokenEndpointMethod = Static<typeof TokenEndpointMethod>;

/** Where an enterprise's identities come from, with the layer's registration there. */
export const IdentityProvider = Type.Object(
  {
    issuer: Address,
    client_id: Text,
    client_secret: Type.Optional(SecretReference),
    id_token: SecretReference,
  },
  { additionalProperties: false },
);
export type IdentityProvider = Static<typeof IdentityProvider>;

/** How the layer gets access tokens for an upstream (MCP authorization); everything has a default. */
export const UpstreamAuthorization = Type.Object(
  {
    grant: Type.Optional(AuthorizationGrant),
    issuer: Type.Optional(
      Type.Unsafe<string>({
        ...Address,
        description:
          'The only authorization server that is accepted. Without it, the first one that the upstream names, from then on.',
      }),
    ),
    client_id: Type.Optional(
      Type.Unsafe<string>({
        ...Text,
        description:
          'Of a client that was registered beforehand. Without it the layer registers itself, or has a document of its own.',
      }),
    ),
    client_secret: Type.Optional(SecretReference),
    private_key: Type.Optional(
      Type.Unsafe<string>({
        ...SecretReference,
        description: 'Secret with the key of private_key_jwt: PKCS #8 or JWK.',
      }),
    ),
    token_endpoint_auth_method: Type.Optional(TokenEndpointMethod),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5B\\x5D-\\x7E]{1,256}$' }), {
        maxItems: 64,
        description: 'Scopes to ask for, in place of the scopes that the upstream names.',
      }),
    ),
    dpop: Type.Optional(
      Type.Boolean({
        description: 'Whether tokens are bound to a key (RFC 9449). Default: where the upstream asks for it.',
      }),
    ),
    assertion: Type.Optional(
      Type.Unsafe<string>({
        ...SecretReference,
        description: 'With jwt_bearer: the secret with the workload identity.',
      }),
    ),
    identity_provider: Type.Optional(IdentityProvider),
  },
  { additionalProperties: false },
);
export type UpstreamAuthorization = Static<typeof UpstreamAuthorization>;

const LoginName = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,39}$' });

export const UpstreamLoginRequest = Type.Object(
  {
    name: LoginName,
    redirect_url: Type.Optional(
      Type.String({
        pattern: '^(?:https://|http://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])[:/])',
        maxLength: 2_048,
        description: 'Where the authorization server leads back to. Default: upstreams.login_redirect_url.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type UpstreamLoginRequest = Static<typeof UpstreamLoginRequest>;

export const UpstreamLoginResponse = Type.Object(
  {
    name: LoginName,
    login_url: Type.String({ description: 'For a person to open in a browser.' }),
    state: Type.String({ description: 'The redirect has the same.' }),
    redirect_url: Type.String(),
    expires_at: Type.String({ format: 'date-time' }),
    layer_receives: Type.Boolean({
      description: 'Whether the redirect comes to the layer itself, which ends the login then.',
    }),
  },
  { additionalProperties: false },
);
export type UpstreamLoginResponse = Static<typeof UpstreamLoginResponse>;

export const UpstreamLoginFinishRequest = Type.Object(
  {
    name: LoginName,
    redirected_to: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 16_384,
        description: 'The whole address that the authorization server led to, with its query.',
      }),
    ),
    state: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_024,
        description: 'In place of the address, where the layer receives the redirect: the login to wait for.',
      }),
    ),
    wait_seconds: Type.Optional(
      Type.Number({ minimum: 0, maximum: 30, description: 'How long to wait for the end of the login. Default 0.' }),
    ),
  },
  { additionalProperties: false },
);
export type UpstreamLoginFinishRequest = Static<typeof UpstreamLoginFinishRequest>;

export const UpstreamLogoutRequest = Type.Object({ name: LoginName }, { additionalProperties: false });
export type UpstreamLogoutRequest = Static<typeof UpstreamLogoutRequest>;

export const UpstreamLogoutResponse = Type.Object(
  { name: LoginName, had_tokens: Type.Boolean({ description: 'Whether anything was kept of a login.' }) },
  { additionalProperties: false },
);
export type UpstreamLogoutResponse = Static<typeof UpstreamLogoutResponse>;
