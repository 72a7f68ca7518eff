import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@sallyport/std/clock';

/** A folder of a layer on another machine is left to it for so long after its last change, in ms: no run is longer. */
const OTHERS_KEPT_MS = 2 * 86_400_000;
/** Machine, process and a random part. */
const NAME = /^([^~]+)~(\d+)~[0-9a-f-]+$/;

/** Folders of layers in this process. */
const ownNames = new Set<string>();

/** A name for the folder of one layer, among those of layers that share a data folder. */
export function layerFolderName(): string {
  const name = `${machine()}~${process.pid}~${randomUUID()}`;
  ownNames.add(name);
  return name;
}

/** Removes the folders of layers that run no more. Never rejects: what cannot be removed is left to a later layer. */
export async function removeLeft(root: string, clock: Pick<Clock, 'now'>): Promise<void> {
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    const path = join(root, name);
    if (await isLeft(name, path, clock.now())) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function isLeft(name: string, path: string, now: number): Promise<boolean> {
  const [, on, pid] = NAME.exec(name) ?? [];
  // A process with this one's number that ended was one of an earlier container.
  if (on === machine()) return Number(pid) === process.pid ? !ownNames.has(name) : !isRunning(Number(pid));
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now }));
  return now - mtimeMs > OTHERS_KEPT_MS;
}

const machine = (): string => hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_') || 'unnamed';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // A process of another user runs too.
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
