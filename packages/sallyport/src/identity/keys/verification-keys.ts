import { readFile } from 'node:fs/promises';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { VerificationKey } from '../key-source.ts';
import { fetchDocument, jwksUrlFault } from './fetch-document.ts';
import { keysOfDocument } from './key-document.ts';
import { type RefreshedKeys, type RefreshOptions, refreshedKeys } from './refreshed-keys.ts';

export type { RefreshedKeys } from './refreshed-keys.ts';

/** Options shared by file and URL. */
export type KeySourceOptions = Omit<RefreshOptions, 'load' | 'name'>;

/**
 * Public keys of a file: PEM blocks (PUBLIC KEY, CERTIFICATE) or a JWKS (RFC 7517); read again from time to time.
 * @throws ToolLayerError E3900 saying what to put into the file, when it is unusable at the start
 */
export async function openKeyFile(file: string, options: KeySourceOptions): Promise<RefreshedKeys> {
  const keys = refreshedKeys({ ...options, name: `the key file ${file}`, load: () => loadVerificationKeys(file) });
  await keys.loadFirst();
  return keys;
}

/**
 * Public keys that an issuer publishes at a URL as a JWKS (RFC 7517). Does not wait for the first load: until it
 * succeeds, the issuer's tokens are refused.
 * @throws ToolLayerError E3801 for a URL that is neither https nor http on this machine
 */
export function openKeyUrl(url: string, options: KeySourceOptions): RefreshedKeys {
  const fault = jwksUrlFault(url);
  if (fault !== undefined) throw new ToolLayerError('E3801', fault);
  const load = async (signal: AbortSignal) => keysOfDocument(await fetchDocument(url, signal), url, options.log);
  return refreshedKeys({ ...options, name: `the key set at ${url}`, load });
}

/**
 * Loads public keys from a PEM or JWKS file, at most 64.
 * @throws ToolLayerError E3900 saying what to put into the file
 */
export async function loadVerificationKeys(file: string): Promise<readonly VerificationKey[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const absent = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const what = absent
      ? 'does not exist. Put the public key of the token issuer there.'
      : 'cannot be read. Check its permissions.';
    throw new ToolLayerError('E3900', `The key file ${file} ${what}`, { cause });
  }
  try {
    return await keysOfDocument(text, file);
  } catch (cause) {
    const why = messageOf(cause);
    throw new ToolLayerError('E3900', `The key file ${file} ${why}`, { cause });
  }
}
