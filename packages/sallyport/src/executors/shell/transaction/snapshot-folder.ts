import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@sallyport/std/files/make-folder';
import type { Log } from '../../../telemetry/log.ts';
import { TRANSACTION_BOUNDS } from '../settings.ts';
import { restoreTree } from './restore-tree.ts';
import { NotSecured, type Snapshot } from './snapshot.ts';
import type { HeldSnapshot } from './take-snapshot.ts';
import { unlessStalled } from './unless-stalled.ts';

/** Contents of the secured files, concatenated. */
const PACK = 'contents';
/** The index, written before the first file is restored: its existence means that a restore has begun. */
const JOURNAL = 'restore.json';
/** The index of a restore that failed. People were told, and what they did since then is not theirs to lose at a start. */
const FAILED = 'failed.json';
/** Names of snapshots; other entries of the folder are not ours. */
const OURS = /^\d+-\d+-\d+-[0-9a-f]{18}$/;

/** One snapshot on disk. Closing removes it; when its restore failed it is kept for the operator. */
export interface KeptSnapshot extends AsyncDisposable {
  readonly pack: FileHandle;
  /** Path of the snapshot. */
  readonly path: string;
  /**
   * Restores the tree. If the layer is killed meanwhile, it finishes at its next start.
   * @param begins called before the first change; when it throws, nothing is restored
   * @throws AnotherFolder when nothing was done, Stalled when it was given up
   */
  restore(held: HeldSnapshot, begins?: () => void): Promise<void>;
}

/** Folder of the snapshots while their commands run. */
export interface SnapshotFolder {
  /** Makes room for a new snapshot, outside the folders that the command can see. @throws NotSecured */
  make(seen: readonly string[]): Promise<KeptSnapshot>;
}

/**
 * Opens the folder (created private to its owner) and cleans up after dead layers: a begun restore is finished; the
 * snapshot of an interrupted command is removed, and its files stay as they are. That of a restore that failed is kept.
 */
export async function openSnapshotFolder(folder: string, log: Log): Promise<SnapshotFolder> {
  await makeFolder(folder);
  const path = await realpath(folder);
  for (const name of await readdir(path)) if (OURS.test(name)) await settleLeftover(path, name, log);
  return {
    make: async (seen) => {
      const above = seen.find((each) => path === each || path.startsWith(each === '/' ? '/' : `${each}/`));
      if (above !== undefined) throw new NotSecured(`snapshots would lie in ${above}, which the command may see`);
      return newSnapshot(join(path, `${ownMark()}-${randomBytes(9).toString('hex')}`), log);
    },
  };
}

async function newSnapshot(path: string, log: Log): Promise<KeptSnapshot> {
  await mkdir(path, { mode: 0o700 });
  let pack: FileHandle;
  try {
    pack = await open(join(path, PACK), 'wx+', 0o600);
  } catch (thrown) {
    await rm(path, { recursive: true });
    throw thrown;
  }
  let failed = false;
  return {
    pack,
    path,
    async restore({ snapshot }, begins) {
      failed = true;
      await writeJournal(path, snapshot);
      await restoreOrGiveUp(path, snapshot, pack, begins);
      failed = false;
    },
    async [Symbol.asyncDispose]() {
      await pack.close();
      if (failed) log.error('snapshot-kept', { path });
      else await rm(path, { recursive: true, force: true });
    },
  };
}

/** Written atomically: a truncated journal would restore half a tree. */
async function writeJournal(path: string, snapshot: Snapshot): Promise<void> {
  const draft = join(path, `${JOURNAL}.draft`);
  {
    await using file = await open(draft, 'wx', 0o600);
    await file.writeFile(JSON.stringify(snapshot));
    await file.sync();
  }
  await rename(draft, join(path, JOURNAL));
}

/** @throws what ended the restore; then no start continues it */
async function restoreOrGiveUp(path: string, snapshot: Snapshot, pack: FileHandle, begins?: () => void): Promise<void> {
  try {
    begins?.();
    await unlessStalled((moves) => restoreTree(snapshot, pack, moves), TRANSACTION_BOUNDS.stallMs);
  } catch (thrown) {
    await rename(join(path, JOURNAL), join(path, FAILED));
    throw thrown;
  }
}

async function settleLeftover(folder: string, name: string, log: Log): Promise<void> {
  if (isAlive(name)) return;
  const path = join(folder, name);
  try {
    const journal = await readFile(join(path, JOURNAL), 'utf8').catch(() => undefined);
    if (journal !== undefined) {
      const snapshot = JSON.parse(journal) as Snapshot;
      await using pack = await open(join(path, PACK), 'r');
      await restoreOrGiveUp(path, snapshot, pack);
      log.warn('restore-finished', { roots: snapshot.roots.map((root) => root.path) });
    } else if (existsSync(join(path, FAILED))) {
      log.error('snapshot-kept', { path });
      return;
    } else {
      log.warn('snapshot-left-behind', { path });
    }
    await rm(path, { recursive: true, force: true });
  } catch (cause) {
    // Kept: it holds the only copy of the former files.
    log.error('restore-not-finished', { path, reason: String(cause) });
  }
}

/** Pid namespace, pid and start time: unique among the processes of a machine. */
let mark: string | undefined;
function ownMark(): string {
  mark ??= `${pidNamespace()}-${process.pid}-${startOf(process.pid)}`;
  return mark;
}

/**
 * True when the layer that made it still runs. From another pid namespace this is unknown: a replaced container had
 * one.
 */
function isAlive(name: string): boolean {
  const [space, pid, start] = name.split('-');
  return space === pidNamespace() && start === startOf(Number(pid));
}

const pidNamespace = (): string => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';

/** Clock ticks from boot to the start of a process; undefined when it does not exist. */
function startOf(pid: number): string | undefined {
  try {
    // The second field is the program's name in brackets, and may contain anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19];
  } catch {
    return undefined;
  }
}
