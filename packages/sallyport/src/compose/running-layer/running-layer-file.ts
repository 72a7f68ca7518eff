import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where a layer that serves this data folder can be asked. */
export interface RunningLayer {
  readonly url: string;
  readonly pid: number;
  /** Unix socket of its REST door; who asks there is its operator. */
  readonly socket: string;
  /** It ends with the MCP client that started it (`sallyport mcp`), and is not started again at this address. */
  readonly endsWithClient?: boolean;
}

const FILE = 'running.json';

/** Tells the command line of the same user where this layer is. */
export async function writeRunningLayer(dataFolder: string, running: RunningLayer): Promise<void> {
  const path = join(dataFolder, FILE);
  const fresh = `${path}.${running.pid}`;
  await writeFile(fresh, JSON.stringify(running), { mode: 0o600 });
  await rename(fresh, path);
}

/** The layer that serves this data folder, when there is one alive. */
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

/** Forgets this process's entry; another's stays. */
export async function removeRunningLayer(dataFolder: string): Promise<void> {
  const running = await readRunningLayer(dataFolder);
  if (running?.pid === process.pid) await rm(join(dataFolder, FILE), { force: true });
}

/** Whether there is a process of this number, anybody's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}
