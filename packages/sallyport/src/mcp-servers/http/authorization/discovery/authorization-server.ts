import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isLoopback } from '@sallyport/std/web/loopback';
import { allowInsecureRequests, customFetch, discovery, None, type ServerMetadata } from 'openid-client';
import type { AuthorizationFetch } from '../authorization-fetch.ts';
import { keptMetadata } from '../authorization-state.ts';
import { authorizationFailure } from '../failures.ts';

const OAUTH = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';
/** A name for requests that need one before the client has one. */
const NOBODY = 'none';

/** Metadata of an authorization server, and their address. */
export interface AuthorizationServer {
  readonly metadata: ServerMetadata;
  readonly address: URL;
}

/**
 * Reads the metadata of an authorization server (RFC 8414, OpenID Connect Discovery), in the order of the MCP
 * specification. Their issuer must be the one that was asked for, letter by letter.
 * @returns undefined when it has none at any of the addresses
 * @throws E3307 for metadata of another issuer; E3104 E3306 E3310 when they cannot be read
 */
export async function readAuthorizationServer(
  name: string,
  issuer: string,
  send: AuthorizationFetch,
): Promise<AuthorizationServer | undefined> {
  if (!URL.canParse(issuer)) throw noAddress(name);
  for (const address of addressesOf(new URL(issuer))) {
    const metadata = await readAt(name, issuer, address, send);
    if (metadata === undefined) continue;
    if (metadata.issuer !== issuer) throw otherIssuer(name, issuer);
    return { metadata: keptMetadata(metadata as unknown as Record<string, unknown>), address };
  }
  return undefined;
}

function addressesOf({ origin, pathname }: URL): readonly URL[] {
  const path = pathname.replace(/\/$/, '');
  const paths = path === '' ? [OAUTH, OPENID] : [OAUTH + path, OPENID + path, path + OPENID];
  return paths.map((each) => new URL(each, origin));
}

async function readAt(
  name: string,
  issuer: string,
  address: URL,
  send: AuthorizationFetch,
): Promise<ServerMetadata | undefined> {
  let isAnswered = false;
  const observed: AuthorizationFetch = async (url, init) => {
    const response = await send(url, init);
    isAnswered = true;
    return response;
  };
  try {
    const found = await discovery(address, NOBODY, undefined, None(), {
      [customFetch]: observed as never,
      ...(isLoopback(address.hostname) ? { execute: [allowInsecureRequests] } : {}),
    });
    return found.serverMetadata();
  } catch (thrown) {
    // Whatever is at this address is no metadata; they may be at the next one.
    if (isAnswered) return undefined;
    throw authorizationFailure(name, issuer, thrown);
  }
}

function noAddress(name: string): ToolLayerError {
  return new ToolLayerError(
    'E3308',
    `The upstream '${name}' names an authorization server by something that is no URL.`,
    {
      details: { reached: false },
    },
  );
}

function otherIssuer(name: string, issuer: string): ToolLayerError {
  return new ToolLayerError(
    'E3307',
    `The metadata at ${issuer}, which the upstream '${name}' names, are those of another authorization server. They are not used.`,
    { details: { reached: false } },
  );
}
