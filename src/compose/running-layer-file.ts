import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where a layer that serves this data folder can be asked, and the operator's key for it. */
export interface RunningLayer {
  readonly url: string;
  readonly pid: number;
  readonly token: string;
}

const FILE = 'running.json';

/** Tells the command line of the same user where this layer is; readable by its owner alone. */
export async function writeRunningLayer(dataFolder: string, running: RunningLayer): Promise<void> {
  const path = join(dataFolder, FILE);
  const fresh = `${path}.${running.pid}`;
  await writeFile(fresh, JSON.stringify(running), { mode: 0o600 });
  await rename(fresh, path);
}

/** The layer that serves this data folder, when there is one alive. */
export async function readRunningLayer(dataFolder: string): Promise<RunningLayer | undefined> {
  try {
    const running = JSON.parse(await readFile(join(dataFolder, FILE), 'utf8')) as RunningLayer;
    return isAlive(running.pid) ? running : undefined;
  } catch {
    return undefined;
  }
}

/** Forgets this process's entry; another's stays. */
export async function removeRunningLayer(dataFolder: string): Promise<void> {
  const running = await readRunningLayer(dataFolder);
  if (running?.pid === process.pid) await rm(join(dataFolder, FILE), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}
