import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { boundedBody } from '@sallyport/std/web/bounded-body';
import type { ExchangeProfile } from './profile.ts';

/** Largest answer of an authorization server that is read. */
const ANSWER_BYTES_MAX = 64 * KiB;
/** Longest time for its answer. */
const TIMEOUT_MS = 10_000;
/** Lifetime of a token whose server states none. */
const LIFETIME_SECONDS_DEFAULT = 60;
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:';
/** RFC 6749 §5.2 and RFC 8693 §2.2.2: error codes that reveal nothing of the token. */
const ERROR_WORD = /^[a-z_]{1,64}$/;

/** A token for another service. */
export interface IssuedToken {
  readonly value: string;
  readonly lifetimeSeconds: number;
}

/**
 * Exchanges a token (RFC 8693 §2). Redirects are refused, since they would send the token elsewhere.
 * @param clientSecret undefined for a client that has none
 * @throws ToolLayerError E3307 when the server refuses, E3304 E3306 E3308 E3310 when it fails; of the server's text
 *   only the error code
 */
export async function askServer(
  profile: ExchangeProfile,
  subjectToken: string,
  clientSecret: string | undefined,
  signal: AbortSignal | undefined,
): Promise<IssuedToken> {
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  const { origin } = new URL(profile.endpoint);
  let status: number | undefined;
  let text: string;
  try {
    const response = await fetch(profile.endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        ...clientHeader(profile, clientSecret),
      },
      body: formOf(profile, subjectToken, clientSecret),
      redirect: 'error',
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    });
    status = response.status;
    text = await boundedText(response);
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ToolLayerError) throw cause;
    if (deadline.aborted)
      throw new ToolLayerError('E3306', `The authorization server ${origin} took longer than ${TIMEOUT_MS} ms.`);
    const what = status === undefined ? 'cannot be reached' : 'broke its answer off';
    throw new ToolLayerError('E3310', `The authorization server ${origin} ${what}.`, { cause });
  }
  return issuedToken(profile, origin, status, text);
}

function formOf(
  { audience, resource, scope, clientId, subjectTokenType = 'access_token' }: ExchangeProfile,
  subjectToken: string,
  clientSecret: string | undefined,
): URLSearchParams {
  return new URLSearchParams({
    grant_type: GRANT_TYPE,
    subject_token: subjectToken,
    subject_token_type: TOKEN_TYPE + subjectTokenType,
    requested_token_type: `${TOKEN_TYPE}access_token`,
    ...(audience === undefined ? {} : { audience }),
    ...(resource === undefined ? {} : { resource }),
    ...(scope === undefined ? {} : { scope }),
    // A client with a secret identifies itself in the header (RFC 6749 §2.3.1).
    ...(clientId === undefined || clientSecret !== undefined ? {} : { client_id: clientId }),
  });
}

function clientHeader({ clientId }: ExchangeProfile, clientSecret: string | undefined): Record<string, string> {
  if (clientId === undefined || clientSecret === undefined) return {};
  const pair = [clientId, clientSecret].map((each) => new URLSearchParams({ _: each }).toString().slice(2)).join(':');
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

async function boundedText(response: Response): Promise<string> {
  const body = await boundedBody(response, ANSWER_BYTES_MAX);
  if (body !== undefined) return body.toString('utf8');
  throw new ToolLayerError('E3308', `The authorization server sent more than ${ANSWER_BYTES_MAX} bytes.`);
}

function issuedToken({ name }: ExchangeProfile, origin: string, status: number, text: string): IssuedToken {
  const answer = tableOf(text);
  if (status >= 500) throw new ToolLayerError('E3304', `The authorization server ${origin} answered with ${status}.`);
  if (status !== 200) {
    const said = answer?.['error'];
    const word = typeof said === 'string' && ERROR_WORD.test(said) ? ` (${said})` : '';
    throw new ToolLayerError(
      'E3307',
      `The authorization server ${origin} does not exchange the caller's token for ${name}${word}.`,
      { details: { exchange: name, status } },
    );
  }
  const value = answer?.['access_token'];
  const type = answer?.['token_type'];
  // `N_A` marks a token that is no bearer token (RFC 8693 §2.2.1); a DPoP token cannot be used as one.
  const usable = typeof type === 'string' && /^(?:bearer|n_a)$/i.test(type);
  if (typeof value !== 'string' || value === '' || !usable) {
    throw new ToolLayerError('E3308', `The authorization server ${origin} sent no bearer token for ${name}.`);
  }
  const seconds = answer?.['expires_in'];
  return {
    value,
    lifetimeSeconds: typeof seconds === 'number' && seconds >= 0 ? seconds : LIFETIME_SECONDS_DEFAULT,
  };
}

function tableOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
