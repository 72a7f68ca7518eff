import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { AUTHORIZATION_PATH } from '../../doors/rest/authorization-server/authorization-path.ts';
import type { Settings } from '../settings.ts';

/** Folder of the keys and the state of the authorization server for development. */
export const developmentFolder = (settings: Pick<Settings, 'data_folder'>): string =>
  join(settings['data_folder'], 'keys', 'authorization-server');

/** Addresses that only this machine can reach. */
export const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/**
 * The settings of a layer with an authorization server for development: it accepts that server's tokens, and is called
 * by its own address. Unchanged where `auth.dev` is not set.
 * @throws E3801 for a layer that others can reach, that has several instances, or another authorization server
 */
export function withDevelopmentServer(settings: Settings): Settings {
  if (!settings['auth.dev']) return settings;
  const { 'server.host': host, 'server.port': port } = settings;
  const refused = faultOf(settings);
  if (refused !== undefined) throw new ToolLayerError('E3801', `${FOR} ${refused}`);
  const issuer = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    ...settings,
    'server.public_url': issuer,
    'oauth.issuer': issuer,
    'oauth.jwks_url': `${issuer}${AUTHORIZATION_PATH}/jwks`,
    'oauth.algorithms': ['RS256'],
    'oauth.token_types': ['at+jwt'],
    'oauth.tenant_claim': '',
  };
}

const FOR = 'auth.dev is for development on this machine:';

function faultOf(settings: Settings): string | undefined {
  const { 'server.host': host, 'server.port': port } = settings;
  if (!LOOPBACK.has(host)) return `the layer must listen on loopback only, not on ${host}.`;
  if (port === 0) return 'server.port must name a port, which is part of its address.';
  if (settings['server.public_url'] !== '') return 'server.public_url must be empty, since nobody else can reach it.';
  if (settings['database.url'] !== '')
    return 'database.url must be empty, since its logins are known to one instance alone.';
  if (settings['oauth.issuer'] !== '') return `oauth.issuer must be empty; it is ${settings['oauth.issuer']}.`;
  return undefined;
}
