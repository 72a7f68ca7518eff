import type { ServerMetadata } from 'openid-client';

/** Lets the server issue a refresh token. */
const OFFLINE = 'offline_access';

/** From where scopes can come. */
export interface ScopeSources {
  /** Stated by the operator. */
  readonly stated?: readonly string[] | undefined;
  /** Named by a challenge of the upstream. */
  readonly challenged: readonly string[];
  /** Asked for before; they are kept (MCP authorization, step-up). */
  readonly before?: readonly string[] | undefined;
  /** Named in the metadata of the upstream. */
  readonly supported?: readonly string[] | undefined;
}

/**
 * The scopes to ask for (MCP authorization, scope selection): those of the challenge, with what was asked for before and
 * what the operator stated; else those of the upstream's metadata. None means that none are named.
 */
export function chooseScopes({
  stated = [],
  challenged,
  before = [],
  supported = [],
}: ScopeSources): readonly string[] {
  const wanted = [...before, ...stated, ...challenged];
  return [...new Set(wanted.length === 0 ? supported : wanted)];
}

/** The scopes of a login: also the one for a refresh token, where the server knows it. */
export function withOffline(
  scopes: readonly string[],
  { scopes_supported: known = [] }: ServerMetadata,
): readonly string[] {
  return known.includes(OFFLINE) && !scopes.includes(OFFLINE) ? [...scopes, OFFLINE] : scopes;
}

/** Parameters of a request: scopes, and with a refresh token the consent that OpenID Connect demands for it (§11). */
export function scopeParameters(scopes: readonly string[]): Record<string, string> {
  return {
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    ...(scopes.includes(OFFLINE) ? { prompt: 'consent' } : {}),
  };
}
