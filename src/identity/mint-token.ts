import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { Range } from 'semver';
import type { CapabilityClaims, TokenMintRequest, TokenMintResponse } from '../../api/schemas/capability-token.ts';
import { ToolLayerError } from '../domain/error/tool-layer-error.ts';
import { normalPath } from '../permission/grant/normal-path.ts';
import { type Clock, systemClock } from '../std/clock.ts';
import type { SigningKeys } from './signing-keys.ts';

const EXPIRES_IN_SECONDS = 3600;
/** Port of hosts for which the request names no ports. */
const DEFAULT_PORT = 443;

/** Who signs, and for whom when the request does not say. */
export interface TokenMintOptions {
  readonly keys: SigningKeys;
  /** Value of `iss`. */
  readonly issuer: string;
  readonly tenantId: string;
  readonly agentDid: string;
  readonly clock?: Clock;
}

/** Signs capability tokens with the layer's own key (PRM-02). */
export interface TokenMint {
  /**
   * Signs a token. Absent means: every tool, every version, operation execute, an hour, no paths, no hosts, no secrets,
   * no roles; mode ro where paths are given, port 443 where hosts are given.
   * @throws E3801 for a path that is not absolute or a version that is no range
   */
  mint(request: TokenMintRequest): Promise<TokenMintResponse>;
}

/** Makes a mint. What it signs, a verifier with the same key and issuer accepts. */
export function createTokenMint(options: TokenMintOptions): TokenMint {
  const { keys, clock = systemClock } = options;
  return {
    async mint(request) {
      const claims = claimsFor(request, options, Math.floor(clock.now() / 1000));
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: keys.kid })
        .sign(keys.privateKey);
      return { capability_token: token, claims };
    },
  };
}

function claimsFor(request: TokenMintRequest, options: TokenMintOptions, now: number): CapabilityClaims {
  const { tool_version, user_did, session_id, roles } = request;
  if (tool_version !== undefined) checkRange(tool_version);
  return {
    tool_id: request.tool_id ?? '*',
    ...(tool_version === undefined ? {} : { tool_version }),
    agent_did: request.agent_did ?? options.agentDid,
    tenant_id: request.tenant_id ?? options.tenantId,
    ...(user_did === undefined ? {} : { user_did }),
    ...(session_id === undefined ? {} : { session_id }),
    allowed_operations: ['execute'],
    ...permissionsFor(request),
    ...(roles === undefined ? {} : { roles }),
    iat: now,
    exp: now + (request.expires_in_seconds ?? EXPIRES_IN_SECONDS),
    iss: options.issuer,
    jti: randomUUID(),
  };
}

function permissionsFor({ paths, mode, hosts, ports, secrets }: TokenMintRequest): Partial<CapabilityClaims> {
  const granted: Partial<CapabilityClaims> = {};
  if (paths !== undefined)
    granted.filesystem_permissions = { allowed_paths: paths.map(checkedPath), mode: mode ?? 'ro' };
  if (hosts !== undefined)
    granted.network_permissions = { allowed_hosts: hosts, allowed_ports: ports ?? [DEFAULT_PORT] };
  if (secrets !== undefined) granted.credential_permissions = { allowed_secrets: secrets };
  return granted;
}

function checkedPath(path: string): string {
  const normal = normalPath(path);
  if (normal === undefined) throw new ToolLayerError('E3801', `The path ${JSON.stringify(path)} is not absolute.`);
  return normal;
}

function checkRange(range: string): void {
  try {
    new Range(range);
  } catch (cause) {
    const message = `tool_version ${JSON.stringify(range)} is no SemVer range. Use one such as ^2.1.0, or leave it out.`;
    throw new ToolLayerError('E3801', message, { cause });
  }
}
