import { lstat, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { makeFolder } from '@sallyport/std/files/make-folder';
import { isPrivate, makePrivateFolder } from '@sallyport/std/files/socket-folder';

type Environment = Readonly<Record<string, string | undefined>>;

const FILE = 'last-layer.json';

/** Folder for the state of programs of one user (XDG Base Directory Specification). */
function stateFolder(environment: Environment): string {
  const { XDG_STATE_HOME: named = '', HOME: home = homedir() } = environment;
  return join(isAbsolute(named) ? named : join(home, '.local', 'state'), 'sallyport');
}

/**
 * Stores, for this user, the data folder of the layer that was started last: MCP clients start `sallyport mcp` in
 * folders of their own. A home folder that is not writable costs only that.
 */
export async function rememberLayer(dataFolder: string, environment: Environment = process.env): Promise<void> {
  const folder = stateFolder(environment);
  try {
    await makeFolder(dirname(folder));
    if (!(await makePrivateFolder(folder))) return;
    const path = join(folder, FILE);
    const fresh = `${path}.${process.pid}`;
    await writeFile(fresh, JSON.stringify({ data_folder: dataFolder }), { mode: 0o600 });
    await rename(fresh, path);
  } catch {
    // Optional, so a failure is ignored.
  }
}

/** The data folder of the layer that this user started last; undefined when others could have written the file. */
export async function lastLayer(environment: Environment = process.env): Promise<string | undefined> {
  const folder = stateFolder(environment);
  try {
    if (!isPrivate(await lstat(folder), process.getuid?.())) return undefined;
    const { data_folder: found } = JSON.parse(await readFile(join(folder, FILE), 'utf8'));
    return isAbsolute(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
