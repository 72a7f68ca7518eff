import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';

/** RFC 6749 §4.1.2.1 and §5.2: error codes, which reveal nothing of a token. */
const ERROR_WORD = /^[a-z_]{1,64}$/;

/** The OAuth error code of a refusal; undefined for any other error. */
export function errorWordOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof ResponseBodyError || thrown instanceof AuthorizationResponseError)) return undefined;
  return ERROR_WORD.test(thrown.error) ? thrown.error : 'unknown';
}

/**
 * A failure of a request to an authorization server as an error of the layer. Of the server's own text it holds the
 * error code alone, since that text may quote what was sent.
 */
export function authorizationFailure(name: string, issuer: string, thrown: unknown): ToolLayerError {
  if (thrown instanceof ToolLayerError) return thrown;
  const cause = thrown instanceof ClientError && thrown.cause !== undefined ? thrown.cause : thrown;
  if (cause instanceof ToolLayerError) return cause;
  const server = `The authorization server ${issuer} of the upstream '${name}'`;
  const details = { reached: false };
  const word = errorWordOf(thrown);
  if (word !== undefined)
    return new ToolLayerError('E3307', `${server} refuses (${word}).`, { details: { ...details, oauth_error: word } });
  const status = cause instanceof Response ? cause.status : undefined;
  if (status !== undefined && status >= 500)
    return new ToolLayerError('E3304', `${server} answered with HTTP ${status}.`, { details });
  if (thrown instanceof TypeError && thrown.message === 'fetch failed')
    return new ToolLayerError('E3310', `${server} cannot be reached.`, { cause, details });
  const said = status === undefined ? 'sent something that cannot be read' : `answered with HTTP ${status}`;
  return new ToolLayerError('E3308', `${server} ${said}.`, { details });
}

/** Nobody has logged in at the upstream yet, or not with all rights that it asks for. */
export function needsLogin(name: string, holder: string | undefined, link?: string): ToolLayerError {
  const type = `sallyport upstreams login ${name}`;
  const what =
    holder === undefined
      ? `The upstream '${name}' needs a login. Its operator types: ${type}`
      : `The upstream '${name}' needs your login. Type: ${type}` +
        (link === undefined
          ? ''
          : `\nOr open ${link} and finish with the address that it leads to: ${type} --redirected ADDRESS`);
  return new ToolLayerError('E3311', what, {
    details: { reached: false, upstream: name, ...(link === undefined ? {} : { login_url: link }) },
  });
}
