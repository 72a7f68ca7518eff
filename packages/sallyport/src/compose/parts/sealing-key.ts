import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { makePrivateFolder } from '@sallyport/std/files/socket-folder';
import { SEALING_KEY_BYTES } from '@sallyport/std/text/sealed-text';

/** Folder in the data folder, and the file in it; both accessible only to the layer's user. */
const FOLDER = 'secrets';
const FILE = 'key';

/**
 * The key that encrypts secrets in the database. It is made once for each data folder and kept beside the database, not
 * in it: a copy of the tables reveals no secrets.
 * @throws ToolLayerError E3900 when others may read the folder, or when the file holds no key
 */
export async function loadSealingKey(dataFolder: string): Promise<Uint8Array> {
  const folder = join(dataFolder, FOLDER);
  if (!(await makePrivateFolder(folder)))
    throw new ToolLayerError('E3900', `The folder ${folder} is not private to this user. Make it so: chmod 700.`);
  const path = join(folder, FILE);
  const key = (await knownKey(path)) ?? (await makeKey(path));
  if (key.length === SEALING_KEY_BYTES) return key;
  throw new ToolLayerError(
    'E3900',
    `The file ${path} holds no key of ${SEALING_KEY_BYTES} bytes. Restore it from a backup.`,
  );
}

async function knownKey(path: string): Promise<Uint8Array | undefined> {
  try {
    return Buffer.from(await readFile(path, 'utf8'), 'base64');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ToolLayerError('E3900', `The file ${path} cannot be read. It belongs to the layer's user.`, { cause });
  }
}

/** Creates the file atomically; of two keys made at once the first stays. */
async function makeKey(path: string): Promise<Uint8Array> {
  const draft = `${path}.${process.pid}.new`;
  try {
    await rm(draft, { force: true });
    const file = await open(draft, 'wx', 0o600);
    await file.writeFile(`${randomBytes(SEALING_KEY_BYTES).toString('base64')}\n`).then(() => file.sync());
    await file.close();
    await link(draft, path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause;
    });
  } catch (cause) {
    throw new ToolLayerError('E3900', `The file ${path} cannot be written.`, { cause });
  } finally {
    await rm(draft, { force: true });
  }
  return Buffer.from(await readFile(path, 'utf8'), 'base64');
}
