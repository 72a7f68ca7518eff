import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CapabilityClaims } from '../../../../api/schemas/capability-token.ts';
import { type Algorithm, isAlgorithm } from '../../../identity/capability-token.ts';
import type { KeySource } from '../../../identity/key-source.ts';
import type { AccessTokenOptions } from '../../../identity/token/access-token.ts';
import type { Introspect } from '../../../identity/token/introspection.ts';
import type { Settings } from '../../settings.ts';
import { resourceAudiences, scopeRole, serverAudience, toolScopesOf } from './resource.ts';

/** Default agent of tokens. */
export const DEFAULT_AGENT = 'did:sallyport:agent';
/** Issuer of the layer's own tokens. */
export const OWN_ISSUER = 'sallyport';

/** Algorithms of a setting. @throws E3801 naming an unknown one */
export function algorithmsOf(settings: Settings, key: 'tokens.algorithms' | 'oauth.algorithms'): readonly Algorithm[] {
  const named = settings[key];
  const algorithms = named.filter(isAlgorithm);
  if (algorithms.length === named.length && named.length > 0) return algorithms;
  throw new ToolLayerError(
    'E3801',
    `${key} must name one or more of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA.`,
  );
}

/**
 * Rules for access tokens; undefined when no authorization server is set.
 * @throws E3801 saying which setting is missing or wrong
 */
export function accessTokensOf(
  settings: Settings,
  keys: KeySource,
  introspect?: Introspect,
): AccessTokenOptions | undefined {
  const issuer = settings['oauth.issuer'];
  if (issuer === '') return undefined;
  const audiences = [...settings['oauth.audiences'], ...resourceAudiences(settings)];
  if (audiences.length === 0)
    throw new ToolLayerError(
      'E3801',
      'oauth.issuer is set, so oauth.audiences or server.public_url must say what this layer is called.',
    );
  if (settings['oauth.jwks_url'] === '' && introspect === undefined)
    throw new ToolLayerError(
      'E3801',
      'oauth.issuer is set, so oauth.jwks_url must say where its keys are, or oauth.introspection_url where to ask about tokens.',
    );
  if (issuer === OWN_ISSUER || settings['tokens.issuers'].includes(issuer))
    throw new ToolLayerError(
      'E3801',
      'oauth.issuer stands in tokens.issuers too. One issuer signs either capability tokens or access tokens.',
    );
  const tenantClaim = settings['oauth.tenant_claim'];
  return {
    issuer,
    audiences,
    serverOf: serverAudience(settings),
    keys,
    ...(introspect === undefined ? {} : { introspect }),
    algorithms: algorithmsOf(settings, 'oauth.algorithms'),
    types: settings['oauth.token_types'].map((type) => type.toLowerCase()),
    roles: Object.fromEntries(settings['oauth.scopes'].map(scopeRole)),
    toolScopes: toolScopesOf(settings),
    tenantId: settings['tenant.default'],
    mustBeBound: settings['dpop.required'],
    ...(tenantClaim === '' ? {} : { tenantClaim }),
  };
}

/** Claims of callers without a token; undefined when every caller needs one (PRM-02). */
export function claimsWithoutToken(settings: Settings): CapabilityClaims | undefined {
  const mode = settings['tokens.mode'];
  if (mode === 'required') return undefined;
  const nobody: CapabilityClaims = {
    tool_id: '*',
    agent_did: DEFAULT_AGENT,
    tenant_id: settings['tenant.default'],
    allowed_operations: ['execute'],
    roles: ['agent'],
    trust_level: 'untrusted',
    exp: Number.MAX_SAFE_INTEGER,
    iat: 0,
    iss: OWN_ISSUER,
  };
  if (mode === 'optional') return nobody;
  const { trust_level: _untrusted, ...anybody } = nobody;
  return {
    ...anybody,
    allowed_operations: ['*'],
    filesystem_permissions: { allowed_paths: ['/'], mode: 'rw' },
    network_permissions: { allowed_hosts: ['*'], allowed_ports: [0] },
    roles: ['agent', 'operator'],
  };
}
