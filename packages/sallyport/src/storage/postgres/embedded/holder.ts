import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '@sallyport/std/error-code';
import { isAlive, startOf } from './processes.ts';
import { folderError, startError } from './start-problem.ts';

/** The user of a data folder. The start time distinguishes a process from a later one with the same id. */
interface Holder {
  readonly pid: number;
  readonly start?: string;
  /** Machine and boot. */
  readonly machine: string;
}

/** Attempts to take a claim whose holder is gone; each fails only when another process was faster. */
const ATTEMPTS_MAX = 5;

/**
 * Claims the data folder for this process. The claim names its holder; that no two servers run on the folder is ensured
 * by the lock that the server inherits (see launch.ts), since this claim cannot see processes in other containers.
 * @returns releases the folder
 * @throws E3812 folder-in-use naming the folder and the holder's process id, folder-unusable, disk-full
 */
export async function claimFolder(dataFolder: string): Promise<() => Promise<void>> {
  const file = join(dataFolder, 'postgres.lock');
  const own = JSON.stringify(await thisProcess());
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (await writeNew(file, own, dataFolder)) return () => release(file, own);
    const text = await readFile(file, 'utf8').catch(() => '');
    const holder = parse(text);
    if (holder !== undefined && (await isHolding(holder))) throw inUse(dataFolder, holder.pid);
    // Removes only the claim that was judged: the text differs when another process took it meanwhile.
    await release(file, text);
  }
  throw inUse(dataFolder, undefined);
}

/** The error for a folder that another layer uses. */
export function inUse(folder: string, pid: number | undefined): Error {
  const holder = pid === undefined ? 'another process, perhaps in another container' : `process ${pid}`;
  const message = `Data folder ${folder} is in use by ${holder}. Stop it, or choose another data folder.`;
  return startError('folder-in-use', message, { folder, ...(pid === undefined ? {} : { pid }) });
}

/** Writes a new file atomically; false when it exists. */
async function writeNew(file: string, text: string, dataFolder: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await link(draft, file);
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false;
    throw folderError(dataFolder, cause);
  } finally {
    await rm(draft, { force: true });
  }
}

async function release(file: string, text: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) await rm(file, { force: true });
}

async function thisProcess(): Promise<Holder> {
  const start = await startOf(process.pid);
  return { pid: process.pid, ...(start === undefined ? {} : { start }), machine: await machine() };
}

/** A claim made before a restart of the machine, or by a process whose id another process has now, is void. */
async function isHolding(holder: Holder): Promise<boolean> {
  if (holder.machine !== (await machine()) || !(await isAlive(holder.pid))) return false;
  return holder.start === undefined || holder.start === (await startOf(holder.pid));
}

async function machine(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return `${hostname()} ${boot}`.trim();
}

function parse(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Partial<Holder>;
    return Number.isInteger(holder.pid) ? (holder as Holder) : undefined;
  } catch {
    return undefined;
  }
}
