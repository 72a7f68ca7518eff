import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { SignJWT } from 'jose';
import { Range } from 'semver';
import type {
  CapabilityClaims,
  Role,
  RootHolder,
  TokenMintRequest,
  TokenMintResponse,
} from '../../api/schemas/capability-token.ts';
import type { SigningKeys } from './keys/signing-keys.ts';

const EXPIRES_IN_SECONDS = 3600;
/** Longest path, in UTF-16 units; Linux takes 4096 bytes. */
const PATH_LENGTH_MAX = 4096;
/** Port of hosts for which the request names no ports. */
const DEFAULT_PORT = 443;

/** Signer, and defaults for requests. */
export interface TokenMintOptions {
  /** The signing pair, called for each token. */
  readonly keys: () => SigningKeys;
  /** Value of `iss`. */
  readonly issuer: string;
  readonly tenantId: string;
  readonly agentDid: string;
  /**
   * Second before which an agent's tokens count as revoked; infinite when all of them are. New tokens begin then, so
   * that none is revoked from the start.
   */
  readonly revokedBefore: (tenantId: string, agentDid: string) => number;
  readonly clock: Clock;
}

/** Rights of a new credential, and its root holder; without one it goes back to the agent and user it names. */
export type Granted<Request> = Request & { readonly root_holder?: RootHolder };

/** Signs capability tokens with the layer's own key (PRM-02). */
export interface TokenMint {
  /**
   * Signs a token. Defaults: every tool, every version, operation execute, an hour, no paths, no hosts, no secrets, no
   * roles; mode ro where paths are given, port 443 where hosts are given.
   * @throws E3801 for a path that is not absolute or an invalid version range; E3208 for a revoked agent
   */
  mint(request: Granted<TokenMintRequest>): Promise<TokenMintResponse>;
}

/** Makes a mint. A verifier with the same key and issuer accepts its tokens. */
export function createTokenMint(options: TokenMintOptions): TokenMint {
  return {
    async mint(request) {
      const claims = claimsFor(request, options, Math.floor(options.clock.now() / 1000));
      const { kid, privateKey } = options.keys();
      const token = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid }).sign(privateKey);
      return { capability_token: token, claims };
    },
  };
}

function claimsFor(request: Granted<TokenMintRequest>, options: TokenMintOptions, now: number): CapabilityClaims {
  const granted = grantedClaims(request, options);
  const issuedAt = Math.max(now, options.revokedBefore(granted.tenant_id, granted.agent_did));
  if (issuedAt === Number.POSITIVE_INFINITY) {
    const message = `Every token of the agent ${granted.agent_did} is revoked. Lift that first, see "token revocations".`;
    throw new ToolLayerError('E3208', message);
  }
  return {
    ...granted,
    iat: issuedAt,
    exp: now + (request.expires_in_seconds ?? EXPIRES_IN_SECONDS),
    iss: options.issuer,
    jti: randomUUID(),
  };
}

/** The claims of a request, without the times, issuer and id of a token. */
export function grantedClaims(
  request: Granted<Omit<TokenMintRequest, 'expires_in_seconds'>>,
  defaults: Pick<TokenMintOptions, 'tenantId' | 'agentDid'>,
): Omit<CapabilityClaims, 'exp' | 'iat' | 'iss' | 'jti'> {
  const { tool_version, user_did, session_id, roles, trust_level, root_holder, key_thumbprint: jkt } = request;
  if (tool_version !== undefined) checkRange(tool_version);
  return {
    tool_id: request.tool_id ?? '*',
    ...(tool_version === undefined ? {} : { tool_version }),
    agent_did: request.agent_did ?? defaults.agentDid,
    tenant_id: request.tenant_id ?? defaults.tenantId,
    ...(user_did === undefined ? {} : { user_did }),
    ...(session_id === undefined ? {} : { session_id }),
    allowed_operations: callsTools(roles ?? []) ? ['execute'] : [],
    ...permissionsFor(request),
    ...(roles === undefined ? {} : { roles }),
    ...(trust_level === undefined ? {} : { trust_level }),
    ...(root_holder === undefined ? {} : { root_holder }),
    ...(jkt === undefined ? {} : { cnf: { jkt } }),
  };
}

/** Read-only and approver roles call no tools: a credential for both also names the role agent. */
const callsTools = (roles: readonly Role[]): boolean =>
  roles.length === 0 || roles.some((role) => role !== 'viewer' && role !== 'approver');

function permissionsFor({ paths, mode, hosts, ports, secrets }: TokenMintRequest): Partial<CapabilityClaims> {
  const granted: Partial<CapabilityClaims> = {};
  if (paths !== undefined)
    granted.filesystem_permissions = { allowed_paths: paths.map(checkedPath), mode: mode ?? 'ro' };
  if (hosts !== undefined)
    granted.network_permissions = { allowed_hosts: hosts, allowed_ports: ports ?? [DEFAULT_PORT] };
  if (secrets !== undefined) granted.credential_permissions = { allowed_secrets: secrets };
  return granted;
}

/** The normal form of an absolute path, purely textual. */
function checkedPath(path: string): string {
  if (!posix.isAbsolute(path) || path.includes('\0') || path.length > PATH_LENGTH_MAX)
    throw new ToolLayerError('E3801', `The path ${JSON.stringify(path.slice(0, 200))} is not absolute.`);
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

function checkRange(range: string): void {
  try {
    new Range(range);
  } catch (cause) {
    const message = `tool_version ${JSON.stringify(range)} is no SemVer range. Use one such as ^2.1.0, or leave it out.`;
    throw new ToolLayerError('E3801', message, { cause });
  }
}
