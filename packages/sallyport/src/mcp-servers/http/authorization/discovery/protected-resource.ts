import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { AuthorizationFetch } from '../authorization-fetch.ts';
import { authorizationFailure } from '../failures.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const SERVERS_MAX = 16;
const SCOPES_MAX = 64;

/** What an upstream says of itself as a protected resource (RFC 9728). */
export interface ProtectedResource {
  /** Canonical address, as tokens name it. */
  readonly resource: string;
  /** Issuers of tokens for it. */
  readonly servers: readonly string[];
  readonly scopes?: readonly string[];
  readonly asksDpop: boolean;
}

/**
 * Reads the metadata of an upstream: those that its challenge names, else those at the well-known addresses, first with
 * the path of the upstream.
 * @returns undefined when it has none
 * @throws E3307 when they are those of another resource; E3104 for an address that may not be reached
 */
export async function readProtectedResource(
  name: string,
  upstream: URL,
  named: URL | undefined,
  send: AuthorizationFetch,
): Promise<ProtectedResource | undefined> {
  for (const address of named === undefined ? addressesOf(upstream) : [named]) {
    const metadata = await readMetadata(name, address, send);
    if (metadata !== undefined) return resourceOf(name, upstream, metadata);
  }
  return undefined;
}

function addressesOf({ origin, pathname }: URL): readonly URL[] {
  const path = pathname.replace(/\/$/, '');
  const root = new URL(WELL_KNOWN, origin);
  return path === '' ? [root] : [new URL(WELL_KNOWN + path, origin), root];
}

async function readMetadata(
  name: string,
  address: URL,
  send: AuthorizationFetch,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const response = await send(address.href, { headers: { accept: 'application/json' } });
    if (response.status !== 200) return undefined;
    const metadata: unknown = await response.json();
    return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : undefined;
  } catch (thrown) {
    // A page that is no JSON is no metadata.
    if (thrown instanceof SyntaxError) return undefined;
    throw authorizationFailure(name, address.origin, thrown);
  }
}

function resourceOf(name: string, upstream: URL, metadata: Readonly<Record<string, unknown>>): ProtectedResource {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = metadata;
  if (typeof resource !== 'string' || !covers(resource, upstream)) {
    throw new ToolLayerError(
      'E3307',
      `The metadata of the upstream '${name}' are those of another resource, so nothing is asked for it. ` +
        'Its own address has to be in their member resource.',
      { details: { reached: false } },
    );
  }
  const named = textsIn(servers, SERVERS_MAX);
  return {
    resource,
    servers: named.length === 0 ? [upstream.origin] : named,
    asksDpop: metadata['dpop_bound_access_tokens_required'] === true,
    ...(Array.isArray(scopes) ? { scopes: textsIn(scopes, SCOPES_MAX) } : {}),
  };
}

/** True for the address itself, or one above it on the same host. */
function covers(resource: string, upstream: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, hash } = new URL(resource);
  const folder = (path: string): string => (path.endsWith('/') ? path : `${path}/`);
  return hash === '' && origin === upstream.origin && folder(upstream.pathname).startsWith(folder(pathname));
}

function textsIn(value: unknown, max: number): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((entry): entry is string => typeof entry === 'string').slice(0, max);
}
