import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { CapabilityClaims, Role, ToolScope } from '../../../api/schemas/capability-token.ts';
import { CapabilityClaims as ClaimsSchema, Confirmation } from '../../../api/schemas/capability-token.ts';
import type { KeySource } from '../key-source.ts';
import type { Algorithm } from '../keys/algorithms.ts';
import { frozen } from './claims.ts';
import type { Introspect } from './introspection.ts';
import { verifySigned } from './signed-token.ts';
import { strictObject } from './strict-json.ts';
import type { TokenReader } from './verified-tokens.ts';

/** Scope that permits calling tools, when the token has no capability claims. */
export const CALL_SCOPE = 'tools:call';
/** Claims of RFC 9068 §2.2 that an access token must have; `client_id` may be spelt `azp`. */
const REQUIRED = ['iss', 'exp', 'aud', 'sub', 'iat'] as const;
/** Longest name that becomes part of an identity. */
const NAME_LENGTH_MAX = 240;

/** The authorization server whose access tokens are accepted (RFC 9068), and their meaning here. */
export interface AccessTokenOptions {
  /** `iss`, exact. */
  readonly issuer: string;
  readonly keys: KeySource;
  /** Asks the server about opaque tokens; absent: none are accepted. */
  readonly introspect?: Introspect;
  /** Names of this layer in `aud`; a token must name one of them (RFC 8707). */
  readonly audiences: readonly string[];
  /**
   * The upstream whose own address of the gateway an audience names: the token is accepted there alone.
   * Undefined for other audiences.
   */
  readonly serverOf: (audience: string) => string | undefined;
  readonly algorithms: readonly Algorithm[];
  /** Accepted `typ`, in lower case (RFC 9068 §4). */
  readonly types: readonly string[];
  /** The role that each scope gives. */
  readonly roles: Readonly<Record<string, Role>>;
  /** Tools that need a scope of their own instead of `tools:call`; the first match decides. */
  readonly toolScopes: readonly Omit<ToolScope, 'held'>[];
  /** True to refuse tokens that are bound to no key (E3216). */
  readonly mustBeBound: boolean;
  /** Claim that names the tenant; absent: every token acts for `tenantId`. */
  readonly tenantClaim?: string;
  /** Tenant of tokens when no claim names it. */
  readonly tenantId: string;
}

const AccessClaims = Type.Object(
  {
    iss: Type.String(),
    sub: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
    aud: Type.Union([Type.String(), Type.Array(Type.String())]),
    exp: Type.Integer(),
    iat: Type.Integer(),
    nbf: Type.Optional(Type.Number()),
    jti: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })),
    azp: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })),
    scope: Type.Optional(Type.String()),
    scp: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    cnf: Type.Optional(Confirmation),
  },
  { additionalProperties: true },
);
type AccessClaims = Static<typeof AccessClaims>;

const shape = Compile(AccessClaims);
const capabilityShape = Compile(ClaimsSchema);

/**
 * Capability claims that an authorization server may put into its tokens; together they replace the scopes for tools.
 */
const CAPABILITIES = [
  'tool_id',
  'tool_version',
  'allowed_operations',
  'filesystem_permissions',
  'network_permissions',
  'credential_permissions',
] as const;

/**
 * Reads access tokens as identities of the layer (PRM-10). Roles come from scopes alone. Tools may be called as the
 * capability claims say, or with the tool's scope (default `tools:call`), without paths, hosts and credentials. Agent
 * and user are `oauth:` plus the server's name for them, so that no client can have the name of another issuer's agent.
 */
export function accessTokenReader(options: AccessTokenOptions): TokenReader {
  const { keys, algorithms, types } = options;
  const signature = { keys, algorithms, types, what: 'access token' };
  return async (token) => {
    const verified = await verifySigned(token, signature);
    if (isFailure(verified)) return verified;
    // An object: its issuer was read from it.
    const claims = judge(strictObject(verified.payload), options);
    if (isFailure(claims)) return claims;
    const speaksFor = verified.key.issuers ?? [options.issuer];
    if (!speaksFor.includes(options.issuer)) return OTHER_ISSUER;
    return { claims, key: verified.key };
  };
}

/** How long an answer about an opaque token counts, in ms: a token that was withdrawn is refused after this at the latest. */
const ANSWER_KEPT_MS = 30_000;
/** Retry delay for a caller whose token the server cannot be asked about, in ms. */
const RETRY_MS = 5_000;

/**
 * Reads opaque tokens by asking the authorization server (RFC 7662). Its answer is judged like the claims of a JWT; it must
 * name an audience. What the answer leaves out is filled in: the issuer, the times of this answer, the client as subject.
 */
export function opaqueTokenReader(options: AccessTokenOptions, introspect: Introspect, clock: Clock): TokenReader {
  return async (token) => {
    let said: Awaited<ReturnType<Introspect>>;
    try {
      said = await introspect(token);
    } catch (cause) {
      const message =
        'The access token cannot be judged, so it is not accepted: its authorization server cannot be asked.';
      return failure('E3206', message, { cause, retryAfterMs: RETRY_MS });
    }
    if (said === undefined) return failure('E3201', 'The access token is not active. Ask for a new one.');
    const now = clock.now();
    const until = now + ANSWER_KEPT_MS;
    const { client_id: client } = said;
    const times = { iat: Math.floor(now / 1000), exp: Math.ceil(until / 1000) };
    const filled = { iss: options.issuer, ...times, ...(client === undefined ? {} : { sub: client }) };
    const claims = judge({ ...filled, ...said }, options);
    return isFailure(claims) ? claims : { claims, key: { goodUntil: () => until } };
  };
}

const OTHER_ISSUER = failure('E3201', 'The issuer of the access token is not accepted here.');

/** The claims of a token that its server vouches for. */
function judge(given: Readonly<Record<string, unknown>>, options: AccessTokenOptions): CapabilityClaims | Failure {
  const access = readAccessClaims(given);
  if (isFailure(access)) return access;
  if (access.iss !== options.issuer) return OTHER_ISSUER;
  const servers = serversMeant([access.aud].flat(), options);
  if (servers?.length === 0)
    return failure('E3201', 'The access token is meant for another audience. Ask for one with this resource.');
  if (options.mustBeBound && access.cnf === undefined)
    return failure('E3216', 'The access token is bound to no key. Ask for one that is (DPoP, RFC 9449).');
  const claims = claimsOf(access, options);
  if (isFailure(claims)) return claims;
  return frozen(servers === undefined ? claims : { ...claims, server_audiences: [...servers] });
}

/** The upstreams at whose addresses alone a token counts; undefined for a token that counts at all addresses. */
function serversMeant(
  meant: readonly string[],
  { audiences, serverOf }: AccessTokenOptions,
): readonly string[] | undefined {
  if (meant.some((audience) => audiences.includes(audience))) return undefined;
  return meant.map((audience) => serverOf(audience)).filter((server) => server !== undefined);
}

function readAccessClaims(claims: Readonly<Record<string, unknown>>): AccessClaims | Failure {
  const missing = REQUIRED.filter((name) => !Object.hasOwn(claims, name));
  if (missing.length > 0)
    return failure('E3207', `The access token lacks ${missing.join(', ')}.`, { details: { missing } });
  if (shape.Check(claims)) return claims;
  const names = [...new Set(shape.Errors(claims).map(({ instancePath }) => instancePath.split('/')[1] ?? ''))];
  return failure('E3201', `The access token has claims of the wrong form: ${names.join(', ')}.`, {
    details: { claims: names },
  });
}

function claimsOf(access: AccessClaims, options: AccessTokenOptions): CapabilityClaims | Failure {
  const tenantId = tenantOf(access, options);
  if (isFailure(tenantId)) return tenantId;
  const given = access.scp ?? access.scope ?? [];
  const scopes = typeof given === 'string' ? given.split(' ') : given;
  const roles = scopes.map((scope) => roleOf(scope, options));
  const client = access.client_id ?? access.azp ?? access.sub;
  const { iss, exp, iat, nbf, jti, sub, cnf } = access;
  const claims = {
    ...capabilitiesOf(access, scopes, options),
    agent_did: `oauth:${client}`,
    tenant_id: tenantId,
    ...(sub === client ? {} : { user_did: `oauth:${sub}` }),
    roles: [...new Set(roles)].filter((role) => role !== undefined),
    iss,
    exp,
    iat,
    ...(nbf === undefined ? {} : { nbf }),
    ...(jti === undefined ? {} : { jti }),
    ...(cnf === undefined ? {} : { cnf }),
  };
  if (capabilityShape.Check(claims)) return claims;
  return failure('E3201', 'The capability claims of the access token have the wrong form.');
}

function tenantOf(access: AccessClaims, { tenantClaim, tenantId }: AccessTokenOptions): string | Failure {
  if (tenantClaim === undefined) return tenantId;
  const tenant = (access as Record<string, unknown>)[tenantClaim];
  if (typeof tenant === 'string' && tenant !== '') return tenant;
  return failure('E3207', `The access token lacks ${tenantClaim}, which names the tenant.`, {
    details: { missing: [tenantClaim] },
  });
}

/** Any scope that permits calling a tool makes the holder an agent. */
function roleOf(scope: string, { roles, toolScopes }: AccessTokenOptions): Role | undefined {
  if (Object.hasOwn(roles, scope)) return roles[scope];
  return toolScopes.some((each) => each.scope === scope) ? 'agent' : undefined;
}

/** Nothing may be called without a scope or claim that permits it. */
function capabilitiesOf(
  access: AccessClaims,
  scopes: readonly string[],
  { toolScopes }: AccessTokenOptions,
): Partial<CapabilityClaims> {
  const given = CAPABILITIES.filter((name) => Object.hasOwn(access, name));
  if (given.length === 0) {
    const known = [...toolScopes, { tool: '*', scope: CALL_SCOPE }];
    const tool_scopes = known.map(({ tool, scope }) => ({ tool, scope, held: scopes.includes(scope) }));
    return { tool_id: '*', allowed_operations: ['execute'], tool_scopes };
  }
  const claims = Object.fromEntries(given.map((name) => [name, (access as Record<string, unknown>)[name]]));
  return { tool_id: '', allowed_operations: [], ...claims };
}
