import type { Setting } from './setting.ts';

/** An authorization server whose access tokens are accepted (OAuth 2.1). */
export const OAUTH_SETTINGS = [
  {
    key: 'oauth.issuer',
    type: 'string',
    default: '',
    sentence: 'Issuer of accepted access tokens, exactly as in iss; empty: none are.',
  },
  {
    key: 'oauth.jwks_url',
    type: 'string',
    default: '',
    sentence: 'Address of its JWKS: https, or http on this machine.',
  },
  {
    key: 'oauth.audiences',
    type: 'list',
    default: [],
    sentence: 'What this layer is called in aud, usually its address; an access token must name one of them.',
  },
  {
    key: 'oauth.algorithms',
    type: 'list',
    default: ['RS256'],
    sentence: 'Signatures that are accepted, as in tokens.algorithms.',
  },
  {
    key: 'oauth.token_types',
    type: 'list',
    default: ['at+jwt'],
    sentence: 'Accepted typ. Add JWT for a server that does not follow RFC 9068.',
  },
  {
    key: 'oauth.scopes',
    type: 'list',
    default: [
      'tools:call=agent',
      'sallyport:viewer=viewer',
      'sallyport:operator=operator',
      'sallyport:approver=approver',
      'sallyport:admin=admin',
    ],
    sentence:
      'Role that a scope gives, each as scope=role. Tools are called with tools:call or a scope of oauth.tool_scopes, whatever the roles.',
  },
  {
    key: 'oauth.tool_scopes',
    type: 'list',
    default: [],
    sentence:
      'Scope that tools are called with in place of tools:call, each as scope=TOOL, with * for any run of characters; of several that fit a tool the longest counts.',
  },
  {
    key: 'oauth.tenant_claim',
    type: 'string',
    default: '',
    sentence: 'Claim that names the tenant; empty: access tokens act for tenant.default.',
  },
  {
    key: 'oauth.exchange_file',
    type: 'string',
    default: '',
    sentence:
      "TOML file of credentials that are made from the caller's own token (RFC 8693): one table for each, named as the credential that tools ask for.",
  },
] as const satisfies readonly Setting[];
