import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '@sallyport/std/error-code';

/** Address of a layer that serves this data folder. */
export interface RunningLayer {
  readonly url: string;
  readonly pid: number;
  /** Unix socket of its REST door; any caller on it is its operator. */
  readonly socket: string;
  /** True when it ends with the MCP client that started it (`sallyport mcp`), and is not restarted at this address. */
  readonly endsWithClient?: boolean;
}

/** `running.json`, and beside it `running-2.json` and so on, where several layers serve one data folder. */
const FILE = /^running(?:-\d+)?\.json$/;
/** Most layers of one data folder that are published. */
const LAYERS_MAX = 64;

const nameOf = (place: number): string => (place === 1 ? 'running.json' : `running-${place}.json`);

/** Publishes the layer's address for the command line of the same user, beside those of other layers that run. */
export async function writeRunningLayer(dataFolder: string, running: RunningLayer): Promise<void> {
  const fresh = join(dataFolder, `running.${running.pid}-${randomUUID()}`);
  await writeFile(fresh, JSON.stringify(running), { mode: 0o600 });
  try {
    for (let place = 1; place <= LAYERS_MAX; place += 1) {
      const path = join(dataFolder, nameOf(place));
      const before = await entryIn(path);
      if (before === undefined || before.socket === running.socket) await rm(path, { force: true });
      if (await isLinked(fresh, path)) return;
    }
  } finally {
    await rm(fresh, { force: true });
  }
}

/** False when there is one already. */
async function isLinked(fresh: string, path: string): Promise<boolean> {
  try {
    await link(fresh, path);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/** The layers that serve this data folder and whose processes are alive, the oldest first. */
export async function readRunningLayers(dataFolder: string): Promise<readonly RunningLayer[]> {
  const names = await readdir(dataFolder).catch(() => []);
  const found = names.filter((name) => FILE.test(name)).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const entries = await Promise.all(found.map((name) => entryIn(join(dataFolder, name))));
  return entries.filter((each) => each !== undefined);
}

/** Undefined for a file that names no layer, and for the layer of a process that has ended. */
async function entryIn(path: string): Promise<RunningLayer | undefined> {
  try {
    const { url, pid, socket, endsWithClient } = JSON.parse(await readFile(path, 'utf8'));
    // A layer of an earlier version names no socket.
    if (typeof url !== 'string' || typeof socket !== 'string' || !Number.isSafeInteger(pid)) return undefined;
    if (!isAlive(pid)) return undefined;
    return { url, pid, socket, ...(endsWithClient === true ? { endsWithClient } : {}) };
  } catch {
    return undefined;
  }
}

/** Removes the entry of the layer that listens on this socket; those of others stay. */
export async function removeRunningLayer(dataFolder: string, socket: string): Promise<void> {
  for (let place = 1; place <= LAYERS_MAX; place += 1) {
    const path = join(dataFolder, nameOf(place));
    if ((await entryIn(path))?.socket === socket) await rm(path, { force: true });
  }
}

/** True when a process with this id exists, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}
