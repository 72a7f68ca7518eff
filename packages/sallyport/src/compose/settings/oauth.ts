import { list, text } from '../../domain/settings/rows.ts';

/** An authorization server whose access tokens are accepted (OAuth 2.1). */
export const OAUTH_ROWS = [
  text('oauth.issuer', {
    default: '',
    sentence: 'Issuer of accepted access tokens, exactly as in iss; empty: none are.',
  }),
  text('oauth.jwks_url', { default: '', sentence: 'Address of its JWKS: https, or http on this machine.' }),
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
