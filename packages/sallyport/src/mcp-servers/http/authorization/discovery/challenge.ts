import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';

/** Most scopes of a challenge that are read. */
const SCOPES_MAX = 64;
const SCOPE_CHARS_MAX = 256;

/** What an upstream asks for in place of an answer. */
export interface Challenge {
  /** `token`: none, or one that is not valid any more. `scope`: one that may do more. */
  readonly needs: 'token' | 'scope';
  readonly scopes: readonly string[];
  readonly metadataUrl?: URL;
  /** Whether it asks for a token that is bound to a key (RFC 9449 §7.1). */
  readonly asksDpop: boolean;
}

/** The challenge of an answer (RFC 6750 §3); undefined for every other answer. */
export function challengeOf(response: Response): Challenge | undefined {
  const { status, headers } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { error, scope = '', resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== 'insufficient_scope') return undefined;
  return {
    needs: status === 401 ? 'token' : 'scope',
    scopes: scopesOf(scope),
    asksDpop: /(?:^|,)\s*dpop\b/i.test(headers.get('www-authenticate') ?? ''),
    ...(resourceMetadataUrl === undefined ? {} : { metadataUrl: resourceMetadataUrl }),
  };
}

/** The scopes of a text, each once. */
export function scopesOf(text: string): readonly string[] {
  const scopes = text.split(' ').filter((scope) => scope !== '' && scope.length <= SCOPE_CHARS_MAX);
  return [...new Set(scopes)].slice(0, SCOPES_MAX);
}
