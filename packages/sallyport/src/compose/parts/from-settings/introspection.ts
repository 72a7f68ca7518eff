import { readFile } from 'node:fs/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { jwksUrlFault } from '../../../identity/keys/fetch-document.ts';
import { createIntrospection, type Introspect } from '../../../identity/token/introspection.ts';
import type { Settings } from '../../settings.ts';

/**
 * Asks the authorization server about opaque tokens; undefined where it is not to be asked.
 * @throws E3801 for settings that do not fit together, or a file that cannot be read
 */
export async function introspectionOf(settings: Settings): Promise<Introspect | undefined> {
  const {
    'oauth.introspection_url': url,
    'oauth.introspection_client_id': clientId,
    'oauth.introspection_secret_file': file,
  } = settings;
  if (url === '') return undefined;
  if (settings['oauth.issuer'] === '') throw new ToolLayerError('E3801', `${KEY} is set, so oauth.issuer must be.`);
  if (clientId === '' || file === '')
    throw new ToolLayerError(
      'E3801',
      `${KEY} is set, so oauth.introspection_client_id and oauth.introspection_secret_file must be.`,
    );
  const fault = jwksUrlFault(url);
  if (fault !== undefined) throw new ToolLayerError('E3801', `${KEY}: ${fault.replace('the key set', 'the endpoint')}`);
  try {
    return createIntrospection({ url, clientId, clientSecret: (await readFile(file, 'utf8')).trim() });
  } catch (cause) {
    throw new ToolLayerError('E3801', `oauth.introspection_secret_file: ${file} cannot be read.`, { cause });
  }
}

const KEY = 'oauth.introspection_url';
