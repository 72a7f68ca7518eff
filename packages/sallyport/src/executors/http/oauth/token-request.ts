import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { NetworkPermission } from '../../../../api/schemas/tool-manifest.ts';
import { refusalOf } from '../../../external/http-refusals.ts';
import type { OutboundAnswer, OutboundHttp, OutboundRequest } from '../../../external/outbound-http.ts';
import type { HttpAuth } from '../../../registry/http-operation.ts';
import { isHeaderValue } from '../request/credentials.ts';
import { escapeAll } from '../request/styles.ts';

/** A credential that a token is fetched for. */
export type ClientCredentials = Extract<HttpAuth, { readonly type: 'oauth2_client_credentials' }>;

/** A token as issued by its server. */
export interface AccessToken {
  readonly value: string;
  /** Undefined when the server does not state it. */
  readonly expiresInMs: number | undefined;
}

/** Inputs of one token request. */
export interface TokenQuestion {
  readonly auth: ClientCredentials;
  /** `client_id:client_secret` */
  readonly secret: string;
  readonly allowed: readonly NetworkPermission[];
  readonly userAgent: string;
  /** Wall time in ms. */
  readonly now: number;
}

const ANSWER_BYTES_MAX = 64 * KiB;
const BOUNDS = { wireBytesMax: ANSWER_BYTES_MAX, bodyBytesMax: ANSWER_BYTES_MAX };
/** Characters of a token server's error code (RFC 6749 §5.2). */
const ERROR_CODE = /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/;

/**
 * Requests a token for the client itself (RFC 6749 §4.4).
 * @throws ToolLayerError E3302 for a secret that is not `client_id:client_secret`, E3307 when the server refuses the
 *   client, E3308 when its answer contains no bearer token, and the errors of `OutboundHttp.send` and `refusalOf`
 */
export async function requestToken(
  outbound: OutboundHttp,
  question: TokenQuestion,
  signal: AbortSignal,
): Promise<AccessToken> {
  const request = requestOf(question);
  const answer = await outbound.send(request, () => BOUNDS, { allowed: question.allowed, signal });
  const { host } = request.url;
  const hide = (text: string): string => (text === '' ? '' : '[hidden]');
  const refusal = refusalOf(answer, { host, secretNames: [question.auth.secret], hide, now: question.now });
  if (refusal === undefined) return tokenOf(answer, host);
  // RFC 6749 §5.2: a refused client may also be answered with 400.
  throw answer.status === 400 ? refused(answer, host, question.auth.secret) : refusal;
}

function requestOf({ auth, secret, userAgent }: TokenQuestion): OutboundRequest {
  const colon = secret.indexOf(':');
  if (colon < 1) {
    throw new ToolLayerError('E3302', `The secret ${auth.secret} must be client_id:client_secret, with a colon.`);
  }
  const id = secret.slice(0, colon);
  const key = secret.slice(colon + 1);
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (auth.scopes !== undefined && auth.scopes.length > 0) form.set('scope', auth.scopes.join(' '));
  if (auth.audience !== undefined) form.set('audience', auth.audience);
  const inBody = auth.client_auth === 'body';
  if (inBody) {
    form.set('client_id', id);
    form.set('client_secret', key);
  }
  const pair = Buffer.from(`${escapeAll(id)}:${escapeAll(key)}`).toString('base64');
  return {
    url: new URL(auth.token_url),
    method: 'POST',
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': userAgent,
      ...(inBody ? {} : { authorization: `Basic ${pair}` }),
    },
    body: Buffer.from(form.toString()),
  };
}

function tokenOf({ body }: OutboundAnswer, host: string): AccessToken {
  const answer = parsed(body);
  const value = answer?.['access_token'];
  const type = answer?.['token_type'];
  if (typeof value !== 'string' || value === '' || !isHeaderValue(value) || String(type).toLowerCase() !== 'bearer') {
    throw new ToolLayerError('E3308', `The token server ${host} answered with something that is no bearer token.`);
  }
  const seconds = Number(answer?.['expires_in']);
  return { value, expiresInMs: Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined };
}

function refused({ body }: OutboundAnswer, host: string, secretName: string): ToolLayerError {
  const code = parsed(body)?.['error'];
  const reason = typeof code === 'string' && ERROR_CODE.test(code) ? code : 'no reason given';
  return new ToolLayerError('E3307', `The token server ${host} refused the client: ${reason}. Check ${secretName}.`, {
    details: { status: 400, error: reason },
  });
}

function parsed(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
