import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { errors, Provider } from 'oidc-provider';
import type { Log } from '../../../telemetry/log.ts';
import { send } from '../../http-answer.ts';
import type { BodyBudget } from '../../request-body.ts';
import { AUTHORIZATION_PATH } from './authorization-path.ts';
import type { AuthorizationTerms } from './authorization-settings.ts';
import { createInteractions } from './interactions.ts';
import { type ProviderParts, providerConfiguration } from './provider-configuration.ts';

/** Parts of the development authorization server. */
export interface AuthorizationServerParts extends Omit<ProviderParts, 'errors'> {
  readonly log: Log;
  readonly bodies: BodyBudget;
  /** Seals forms. */
  readonly formKey: Uint8Array;
}

/** Where its metadata are: both forms of RFC 8414 and OpenID Connect Discovery, for an issuer without a path. */
const METADATA = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];

/**
 * Adds an authorization server for development to an HTTP server, which checks `Host` and `Origin` (adr/0022). Loads
 * oidc-provider, so import this file only where it is asked for.
 */
export function mountAuthorizationServer(app: FastifyInstance, parts: AuthorizationServerParts): void {
  const { log, terms } = parts;
  const provider = new Provider(terms.issuer, providerConfiguration({ ...parts, errors }));
  provider.on('server_error', (_context, cause) => log.error('authorization-server-failed', { cause }));
  const answer = provider.callback();
  const interact = createInteractions({ ...parts, provider });
  const host = new URL(terms.issuer).host;
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Addresses in answers are the issuer's, by whatever name of this machine it was asked.
    request.headers.host = host;
    request.url = withScope(request.url ?? '', terms);
    for (const [name, value] of HEADERS) response.setHeader(name, value);
    await answer(request, response);
  };
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The body is read by the library, or by the page.
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    for (const url of [...METADATA, `${AUTHORIZATION_PATH}/*`])
      scope.all(url, (request, reply) => {
        reply.hijack();
        return respond(request.raw, reply.raw).catch(failed(reply.raw, log));
      });
    scope.route({
      method: ['GET', 'POST'],
      url: `${AUTHORIZATION_PATH}/consent/:uid`,
      handler: (request, reply) => {
        reply.hijack();
        const { uid } = request.params as { readonly uid: string };
        return interact(request.raw, reply.raw, uid).catch(failed(reply.raw, log));
      },
    });
    done();
  });
}

/** A login that asks for no scope asks for the calling of tools, as a challenge would (RFC 6749 §3.3). */
function withScope(url: string, { scopes }: AuthorizationTerms): string {
  const query = url.startsWith(`${AUTHORIZATION_PATH}/authorize?`)
    ? new URLSearchParams(url.slice(url.indexOf('?')))
    : undefined;
  const scope = scopes.find(({ role }) => role === 'agent')?.scope;
  if (query === undefined || query.has('scope') || scope === undefined) return url;
  return `${url}&${new URLSearchParams({ scope })}`;
}

/** As for every answer; the library's own win. */
const HEADERS = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
] as const;

const failed =
  (response: ServerResponse, log: Log) =>
  (cause: unknown): void => {
    log.error('authorization-server-failed', { cause });
    send(response, 500, 'application/json', JSON.stringify({ error: 'server_error' }));
  };
