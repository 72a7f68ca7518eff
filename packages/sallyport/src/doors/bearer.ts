import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Caller } from '../domain/principal/principal.ts';

/** The credential of a request: the bearer token or, when there is none, the API key of the header `X-API-Key`. */
export function presentedCredential({ authorization, 'x-api-key': key }: IncomingHttpHeaders): string | undefined {
  if (authorization !== undefined) return bearerToken(authorization);
  if (typeof key !== 'string') return undefined;
  const trimmed = key.trim();
  return trimmed === '' ? undefined : trimmed;
}

/** The credential of a request as its caller has it; a token of the scheme DPoP comes with the proof of its key. */
export function callerCredential(request: IncomingMessage): Pick<Caller, 'token' | 'proof'> | undefined {
  const token = presentedCredential(request.headers);
  // Fast path: the usual schemes.
  return token === undefined ? boundCredential(request) : { token };
}

/** Token of an `Authorization: DPoP` header (RFC 9449 §7.1), with what its proof must be for. */
function boundCredential({
  headers,
  method = '',
  url = '',
}: IncomingMessage): Required<Pick<Caller, 'token' | 'proof'>> | undefined {
  const { authorization, dpop, host = '' } = headers;
  if (authorization === undefined || !isDpop(authorization)) return undefined;
  const token = authorization.slice(SCHEME.length).trim();
  if (token === '') return undefined;
  const path = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(url)?.[1] ?? '';
  return { token, proof: { jwt: typeof dpop === 'string' ? dpop : '', method, host, path } };
}

const SCHEME = 'dpop ';

/** True for a credential of the scheme DPoP. */
export const isDpop = (authorization: string): boolean =>
  authorization.slice(0, SCHEME.length).toLowerCase() === SCHEME;

/** Token of an `Authorization: Bearer` header (RFC 6750 §2.1); undefined when there is none. */
function bearerToken(authorization: string): string | undefined {
  if (authorization.length < 8) return undefined;
  // The scheme is case-insensitive (RFC 9110 §11.1); the usual spelling is tried first.
  if (!authorization.startsWith('Bearer ') && authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  const token = authorization.slice(7).trim();
  return token === '' ? undefined : token;
}

/** Names under which credentials are put into addresses, in lower case without marks between words. */
const IN_ADDRESS: ReadonlySet<string> = new Set([
  'accesstoken',
  'apikey',
  'authorization',
  'authtoken',
  'bearer',
  'bearertoken',
  'capabilitytoken',
  'idtoken',
  'jwt',
  'token',
  'xapikey',
]);

/**
 * Refuses a credential in the address, where logs and histories keep it (OAuth 2.1 §5.1.1, MCP authorization), and more
 * than one credential, of which each reader on the way may take another (RFC 6750 §2). Returns undefined when all is well.
 */
export function refuseCredentials({ url = '', rawHeaders }: IncomingMessage): Failure | undefined {
  const query = url.indexOf('?');
  // Fast path: an address without a query.
  const name = query < 0 ? undefined : credentialNameIn(url.slice(query + 1));
  if (name !== undefined) {
    const message = `The query holds ${name}. Credentials do not belong in an address: send the header Authorization, and have this one revoked if it was real.`;
    return failure('E3801', message, { details: { query: name } });
  }
  return credentialHeaders(rawHeaders) < 2
    ? undefined
    : failure(
        'E3801',
        'The request carries more than one credential. Send one header Authorization or X-API-Key, once.',
      );
}

function credentialNameIn(query: string): string | undefined {
  for (const name of new URLSearchParams(query).keys()) {
    if (IN_ADDRESS.has(name.toLowerCase().replaceAll(/[^a-z]/g, '')))
      return name.replaceAll(/[^\w-]/g, '?').slice(0, 40);
  }
  return undefined;
}

/** Counts the headers that carry a credential; names stand at the even places. */
function credentialHeaders(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    // Most names differ in length already.
    if (name.length !== 13 && name.length !== 9) continue;
    const lower = name.toLowerCase();
    if (lower === 'authorization' || lower === 'x-api-key') count += 1;
  }
  return count;
}
