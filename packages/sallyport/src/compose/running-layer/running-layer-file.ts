import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Address of a layer that serves this data folder. */
export interface RunningLayer {
  readonly url: string;
  readonly pid: number;
  /** Unix socket of its REST door; any caller on it is its operator. */
  readonly socket: string;
  /** True when it ends with the MCP client that started it (`sallyport mcp`), and is not restarted at this address. */
  readonly endsWithClient?: boolean;
}

/** Each layer has a file of its own, so that layers that start or end at once cannot touch another's. */
const FILE = /^running-.+\.json$/;
const fileOf = (dataFolder: string, socket: string): string => join(dataFolder, `running-${basename(socket)}.json`);

/** A layer as it stands in its file. */
interface Entry extends RunningLayer {
  /** When it was published, epoch ms. */
  readonly since: number;
}

/** Publishes the layer's address for the command line of the same user, and removes those of layers that were killed. */
export async function writeRunningLayer(dataFolder: string, running: RunningLayer): Promise<void> {
  for (const path of await filesIn(dataFolder)) {
    const entry = await entryIn(path);
    if (entry !== undefined && !isAlive(entry.pid)) await rm(path, { force: true });
  }
  const path = fileOf(dataFolder, running.socket);
  const entry: Entry = { ...running, since: Date.now() };
  await writeFile(`${path}.new`, JSON.stringify(entry), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** The layers that serve this data folder and whose processes are alive, the oldest first. */
export async function readRunningLayers(dataFolder: string): Promise<readonly RunningLayer[]> {
  const entries = await Promise.all((await filesIn(dataFolder)).map(entryIn));
  const alive = entries.filter((entry) => entry !== undefined && isAlive(entry.pid)) as readonly Entry[];
  return alive.toSorted((a, b) => a.since - b.since).map(({ since: _since, ...running }) => running);
}

/** Removes the entry of the layer that listens on this socket. */
export const removeRunningLayer = (dataFolder: string, socket: string): Promise<void> =>
  rm(fileOf(dataFolder, socket), { force: true });

async function filesIn(dataFolder: string): Promise<readonly string[]> {
  const names = await readdir(dataFolder).catch(() => []);
  return names.filter((name) => FILE.test(name)).map((name) => join(dataFolder, name));
}

/** Undefined for a file that names no layer. */
async function entryIn(path: string): Promise<Entry | undefined> {
  try {
    const { url, pid, socket, since, endsWithClient } = JSON.parse(await readFile(path, 'utf8'));
    if (typeof url !== 'string' || typeof socket !== 'string' || !Number.isSafeInteger(pid)) return undefined;
    return { url, pid, socket, since: Number(since), ...(endsWithClient === true ? { endsWithClient } : {}) };
  } catch {
    return undefined;
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
