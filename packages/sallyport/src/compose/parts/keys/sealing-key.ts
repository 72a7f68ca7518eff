import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { createFile } from '@sallyport/std/files/create-file';
import { makePrivateFolder } from '@sallyport/std/files/socket-folder';
import { SEALING_KEY_BYTES } from '@sallyport/std/text/sealed-text';
import type { Settings } from '../../settings.ts';

/** Folder in the data folder, and the file in it; both accessible only to the layer's user. */
const FOLDER = 'secrets';
const FILE = 'key';

/**
 * The key that encrypts secrets and waiting calls in the database. It is kept beside the database, not in it: a copy of
 * the tables reveals none of them. With the embedded database it is made once for each data folder; with a database of
 * the user's own, whose other instances need the same key, `secrets.key_file` names its file.
 * @returns undefined with a database of the user's own when no file is named: then nothing is encrypted
 * @throws ToolLayerError E3900 when others may read the folder, or when the file holds no key
 */
export async function loadSealingKey(
  settings: Pick<Settings, 'data_folder' | 'database.url' | 'secrets.key_file'>,
): Promise<Uint8Array | undefined> {
  const named = settings['secrets.key_file'];
  if (named !== '') return checked(named, await readKey(named));
  if (settings['database.url'] !== '') return undefined;
  const folder = join(settings['data_folder'], FOLDER);
  if (!(await makePrivateFolder(folder)))
    throw new ToolLayerError('E3900', `The folder ${folder} is not private to this user. Make it so: chmod 700.`);
  const path = join(folder, FILE);
  return checked(path, (await readKey(path)) ?? (await makeKey(path)));
}

function checked(path: string, key: Uint8Array | undefined): Uint8Array {
  if (key?.length === SEALING_KEY_BYTES) return key;
  const fault = key === undefined ? 'does not exist' : `holds no key of ${SEALING_KEY_BYTES} bytes`;
  throw new ToolLayerError(
    'E3900',
    `The file ${path} ${fault}. Restore it from a backup; a new key is: openssl rand -base64 ${SEALING_KEY_BYTES}`,
  );
}

/** Undefined when there is no such file. */
async function readKey(path: string): Promise<Uint8Array | undefined> {
  try {
    return Buffer.from(await readFile(path, 'utf8'), 'base64');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ToolLayerError('E3900', `The file ${path} cannot be read. It belongs to the layer's user.`, { cause });
  }
}

/** Of two keys made at once the first stays. */
async function makeKey(path: string): Promise<Uint8Array | undefined> {
  try {
    await createFile(path, `${randomBytes(SEALING_KEY_BYTES).toString('base64')}\n`);
  } catch (cause) {
    throw new ToolLayerError('E3900', `The file ${path} cannot be written.`, { cause });
  }
  return readKey(path);
}
