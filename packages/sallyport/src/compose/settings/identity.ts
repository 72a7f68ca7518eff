import { boolean, list, oneOf, text } from '../../domain/settings/rows.ts';

/** Accepted tokens and keys. */
export const IDENTITY_ROWS = [
  oneOf('tokens.mode', ['required', 'optional', 'development'], {
    default: 'required',
    sentence:
      'required: every call carries a token or API key. optional: calls without one are an untrusted agent that may touch nothing. development: they may do anything. The last two on loopback only, and loudly.',
  }),
  list('tokens.issuers', {
    default: ['sallyport'],
    sentence: "Issuers whose tokens are accepted. The layer's own are accepted in any case, by its own keys alone.",
  }),
  list('tokens.algorithms', {
    default: ['RS256'],
    sentence: 'Signatures that are accepted: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA.',
  }),
  text('tokens.public_key_file', {
    default: '',
    sentence: "PEM or JWKS file with the public keys of a foreign issuer, accepted beside the layer's own.",
  }),
  text('tokens.jwks_url', {
    default: '',
    sentence: 'Address of the JWKS of a foreign issuer: https, or http on this machine.',
  }),
  oneOf('trust.default', ['untrusted', 'provisional', 'trusted'], {
    default: 'trusted',
    sentence: 'Trust level of agents whose token names none.',
  }),
];

/** An authorization server of the layer's own, for development. */
export const DEVELOPMENT_ROWS = [
  boolean('auth.dev', {
    default: false,
    sentence:
      'Serves an authorization server for development beside the other doors, as sallyport auth dev does: MCP clients register and log in with nothing but the address. On loopback only, with the embedded database, and with server.public_url and oauth.issuer empty.',
  }),
  list('auth.dev_users', {
    default: [],
    sentence: 'Names of those who can log in there; empty: the user of this machine who runs the layer.',
  }),
];

/** An authorization server whose access tokens are accepted (OAuth 2.1). */
export const OAUTH_ROWS = [
  text('oauth.issuer', {
    default: '',
    sentence: 'Issuer of accepted access tokens, exactly as in iss; empty: none are.',
  }),
  text('oauth.jwks_url', { default: '', sentence: 'Address of its JWKS: https, or http on this machine.' }),
  text('oauth.introspection_url', {
    default: '',
    sentence:
      'Address at which the server is asked about opaque tokens (RFC 7662): https, or http on this machine; empty: none are accepted.',
  }),
  text('oauth.introspection_client_id', { default: '', sentence: 'Client id of the layer there.' }),
  text('oauth.introspection_secret_file', {
    default: '',
    sentence: 'File with the client secret of the layer there, for its owner alone.',
  }),
  list('oauth.audiences', {
    default: [],
    sentence: 'What this layer is called in aud, usually its address; an access token must name one of them.',
  }),
  list('oauth.algorithms', { default: ['RS256'], sentence: 'Signatures that are accepted, as in tokens.algorithms.' }),
  list('oauth.token_types', {
    default: ['at+jwt'],
    sentence: 'Accepted typ. Add JWT for a server that does not follow RFC 9068.',
  }),
  list('oauth.scopes', {
    default: [
      'tools:call=agent',
      'sallyport:viewer=viewer',
      'sallyport:operator=operator',
      'sallyport:approver=approver',
      'sallyport:admin=admin',
    ],
    sentence:
      'Role that a scope gives, each as scope=role. Tools are called with tools:call or a scope of oauth.tool_scopes, whatever the roles.',
  }),
  list('oauth.tool_scopes', {
    default: [],
    sentence:
      'Scope that tools are called with in place of tools:call, each as scope=TOOL, with * for any run of characters; of several that fit a tool the longest counts.',
  }),
  text('oauth.tenant_claim', {
    default: '',
    sentence: 'Claim that names the tenant; empty: access tokens act for tenant.default.',
  }),
  text('oauth.exchange_file', {
    default: '',
    sentence:
      "TOML file of credentials that are made from the caller's own token (RFC 8693): one table for each, named as the credential that tools ask for.",
  }),
];
