import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Address of the layer that serves this data folder. */
export interface RunningLayer {
  readonly url: string;
  readonly pid: number;
  /** Unix socket of its REST door; any caller on it is its operator. */
  readonly socket: string;
  /** True when it ends with the MCP client that started it (`sallyport mcp`), and is not restarted at this address. */
  readonly endsWithClient?: boolean;
}

const FILE = 'running.json';

/** Publishes the layer's address for the command line of the same user. */
export async function writeRunningLayer(dataFolder: string, running: RunningLayer): Promise<void> {
  const path = join(dataFolder, FILE);
  const fresh = `${path}.${running.pid}`;
  await writeFile(fresh, JSON.stringify(running), { mode: 0o600 });
  await rename(fresh, path);
}

/** The layer that serves this data folder, if its process is alive. */
export async function readRunningLayer(dataFolder: string): Promise<RunningLayer | undefined> {
  try {
    const { url, pid, socket, endsWithClient } = JSON.parse(await readFile(join(dataFolder, FILE), 'utf8'));
    // A layer of an earlier version names no socket.
    if (typeof url !== 'string' || typeof socket !== 'string' || !Number.isSafeInteger(pid)) return undefined;
    if (!isAlive(pid)) return undefined;
    return { url, pid, socket, ...(endsWithClient === true ? { endsWithClient } : {}) };
  } catch {
    return undefined;
  }
}

/** Removes this process's entry; another's stays. */
export async function removeRunningLayer(dataFolder: string): Promise<void> {
  const running = await readRunningLayer(dataFolder);
  if (running?.pid === process.pid) await rm(join(dataFolder, FILE), { force: true });
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
