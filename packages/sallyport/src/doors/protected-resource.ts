import type { IncomingMessage } from 'node:http';
import type { Role } from '../../api/schemas/capability-token.ts';
import { isDpop } from './bearer.ts';

/** Settings of the doors as OAuth 2.1 resource servers. */
export interface ResourceSettings {
  /** Address that clients use, without trailing slash; empty: the `Host` of the request, over http. */
  readonly publicUrl: string;
  /** Issuers whose access tokens are accepted; none: clients use the layer's own tokens and keys. */
  readonly authorizationServers: readonly string[];
  /** Scopes that give a role. */
  readonly scopes: readonly { readonly scope: string; readonly role: Role }[];
  /** Scopes needed to call tools. */
  readonly toolScopes: readonly string[];
  /** True when access tokens must be bound to a key (DPoP, RFC 9449). */
  readonly mustBeBound: boolean;
  /** Nonce for proofs of keys; undefined where they need none. */
  readonly proofNonce: () => string | undefined;
}

/** The parts of an error that a challenge depends on. */
export interface Refusal {
  readonly code: string;
  /** Sufficient roles, lowest first. */
  readonly roles?: readonly string[];
  /** Sufficient scopes, those of the presented token included. */
  readonly scopes?: readonly string[];
}

/** The HTTP doors as OAuth 2.1 resource servers (PRM-11). */
export interface ProtectedResource {
  /**
   * Value of `WWW-Authenticate` (RFC 6750 §3, RFC 9728 §5.1).
   * @param path of the requested resource: '' for REST, else the endpoint's own
   */
  challenge(request: IncomingMessage, path: string, refusal: Refusal): string;
  /** Metadata of the resource at a path (RFC 9728 §2). */
  metadata(request: IncomingMessage, path: string): object;
  /** Nonce that the answer to a request with a proof carries; undefined where proofs need none. */
  proofNonce(): string | undefined;
}

/** Path prefix of the metadata; the path of the resource follows (RFC 9728 §3). */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';
/** Path of the layer's public keys. */
const KEYS_PATH = '/.well-known/jwks.json';

/** Role that is enough to call tools. */
const TO_CALL: readonly Role[] = ['agent'];

/** Signatures that proofs may have (RFC 9728 §2): the algorithms of tokens. A test holds them equal. */
const PROOF_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Makes the resource server of the doors. */
export function createProtectedResource({
  publicUrl,
  authorizationServers,
  scopes,
  toolScopes,
  mustBeBound,
  proofNonce,
}: ResourceSettings): ProtectedResource {
  const base = publicUrl.replace(/\/+$/, '');
  const baseOf = (request: IncomingMessage): string => (base === '' ? `http://${hostOf(request)}` : base);
  const scopeOf = (roles: readonly string[] = []): string | undefined =>
    roles.map((role) => scopes.find((known) => known.role === role)?.scope).find((scope) => scope !== undefined);
  const supported = [...new Set([...scopes.map(({ scope }) => scope), ...toolScopes])];
  return {
    challenge(request, path, { code, roles, scopes: needed }) {
      // A caller without a valid token learns which scope to request first (MCP 2025-11-25, authorization).
      const first = path !== '' && authorizationServers.length > 0 && !SCOPE_ERRORS.has(code) ? TO_CALL : undefined;
      const scope = needed?.join(' ') ?? scopeOf(roles ?? first);
      const { authorization = '' } = request.headers;
      const withProof = mustBeBound || isDpop(authorization) || Object.hasOwn(PROOF_ERRORS, code);
      return [
        `${withProof ? 'DPoP' : 'Bearer'} realm="sallyport"`,
        // A challenge to a request without a token names no error (RFC 6750 §3.1).
        ...(code === 'E3212' ? [] : [`error="${errorOf(code, authorization)}"`]),
        ...(withProof ? [`algs="${PROOF_ALGORITHMS.join(' ')}"`] : []),
        ...(scope === undefined ? [] : [`scope="${scope.replaceAll(/["\\]/g, '')}"`]),
        `resource_metadata="${baseOf(request)}${METADATA_PATH}${path}"`,
      ].join(', ');
    },
    metadata(request, path) {
      const at = baseOf(request);
      return {
        resource: `${at}${path}`,
        ...(authorizationServers.length === 0 ? {} : { authorization_servers: authorizationServers }),
        ...(supported.length === 0 ? {} : { scopes_supported: supported }),
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
        ...(mustBeBound ? { dpop_bound_access_tokens_required: true } : {}),
        jwks_uri: `${at}${KEYS_PATH}`,
        resource_name: 'Sallyport',
      };
    },
    proofNonce,
  };
}

/** Errors that another proof of the key could resolve, as RFC 9449 §7.1 and §9 name them. */
const PROOF_ERRORS: Readonly<Record<string, string>> = { E3216: 'invalid_dpop_proof', E3217: 'use_dpop_nonce' };

/** A token that needs a proof and came as a bearer token is itself at fault (RFC 9449 §7.2). */
function errorOf(code: string, authorization: string): string {
  if (SCOPE_ERRORS.has(code)) return 'insufficient_scope';
  return (isDpop(authorization) ? PROOF_ERRORS[code] : undefined) ?? 'invalid_token';
}

/** Errors that another token of the same caller could resolve. */
const SCOPE_ERRORS: ReadonlySet<string> = new Set(['E3209', 'E3213', 'E3215']);

/** True for answers with a challenge: 401 always, 403 where more scope would help. */
export const isChallenged = (status: number, code: string): boolean =>
  status === 401 || (status === 403 && SCOPE_ERRORS.has(code));

/** Roles and scopes named in an error's details. */
export function refusalOf(code: string, details: Readonly<Record<string, unknown>> | undefined): Refusal {
  const { roles, scopes } = details ?? {};
  return {
    code,
    ...(Array.isArray(roles) ? { roles: roles.map(String) } : {}),
    ...(code === 'E3215' && Array.isArray(scopes) ? { scopes: scopes.map(String) } : {}),
  };
}

/** The host that a client names for this server; it is quoted in a header, so unusual values are ignored. */
function hostOf({ headers }: IncomingMessage): string {
  const { host = '' } = headers;
  return /^[A-Za-z0-9.:[\]-]{1,255}$/.test(host) ? host : 'localhost';
}

/** Path of the gateway to one upstream; its name follows. */
const SERVERS_PATH = '/mcp/servers/';
/** Form of the name of an upstream. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,39}$/;

/** The upstream that the address of a request names; undefined for the address of all of them. */
export function serverNameIn(url: string | undefined): string | undefined {
  if (url?.startsWith(SERVERS_PATH) !== true) return undefined;
  const [path = ''] = url.slice(SERVERS_PATH.length).split('?', 1);
  // Names of upstreams hold nothing that is encoded in a path.
  return path;
}

/**
 * The upstream whose own address a request came to, where its name is well-formed; whether there is such an upstream
 * shows only to those who may use it.
 */
export function addressedServer(url: string | undefined): string | undefined {
  const name = serverNameIn(url);
  return name !== undefined && NAME.test(name) ? name : undefined;
}

/** Path of the address of one upstream. */
export const pathOfServer = (name: string): string => SERVERS_PATH + name;
