import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, readlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { KiB } from '@sallyport/std/bytes';
import {
  at,
  codeOf,
  namesIn,
  openFolder,
  openPath,
  openToRead,
  type RawName,
  rawName,
  shownName,
  writeAt,
} from '../../folder-handle.ts';
import { TRANSACTION_BOUNDS } from '../settings.ts';
import { type Scope, scopeOf } from './scope.ts';
import {
  below,
  type Content,
  type Entry,
  entersFolder,
  type Marks,
  NotSecured,
  namesOf,
  type Place,
  type SecuredRoot,
  type Snapshot,
  type Stamp,
  TOP,
} from './snapshot.ts';

/** What to secure, and the target. */
export interface SnapshotOrder {
  /** Granted rw paths, absolute and without links: a path that now contains a link is not what was granted. */
  readonly paths: readonly string[];
  readonly globs: readonly string[];
  /** 0: no limit. */
  readonly bytesMax: number;
  /** File for the contents. */
  readonly pack: FileHandle;
  readonly signal: AbortSignal;
}

interface Taking extends SnapshotOrder {
  readonly scope: Scope;
  readonly contents: Content[];
  /** Contents by device and inode, for hard links. */
  readonly known: Map<string, Promise<number>>;
  entries: number;
  bytes: number;
  position: number;
}

const CHUNK_BYTES = 256 * KiB;
const ZEROS = Buffer.alloc(CHUNK_BYTES);
const BLOCK_BYTES = 512;

/** A snapshot with its folders held open, so that no other folder can get their inode numbers. */
export interface HeldSnapshot extends AsyncDisposable {
  readonly snapshot: Snapshot;
}

/**
 * Reads a tree and stores its content. Each granted folder is opened name by name, never through a link.
 * @throws NotSecured when a part of it cannot be read; the signal's reason
 */
export async function takeSnapshot(order: SnapshotOrder): Promise<HeldSnapshot> {
  const takenAt = Date.now();
  const contents: Content[] = [];
  const taking: Taking = {
    ...order,
    scope: scopeOf(order.globs),
    contents,
    known: new Map(),
    entries: 0,
    bytes: 0,
    position: 0,
  };
  await using opened = new AsyncDisposableStack();
  const granted: GrantedPlace[] = [];
  for (const path of new Set(order.paths)) {
    const place = await openGranted(path);
    opened.use(place.folder);
    granted.push(place);
  }
  const paths = outermost(order.paths);
  const roots: SecuredRoot[] = [];
  for (const place of granted) if (paths.includes(place.granted)) roots.push(await takeRoot(taking, place));
  const held = opened.move();
  return {
    snapshot: { takenAt, globs: order.globs, roots, contents },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** A granted folder, held open; or the folder of one granted file. */
interface GrantedPlace {
  readonly granted: string;
  /** Path of the folder. */
  readonly path: string;
  readonly folder: FileHandle;
  readonly only?: RawName;
}

async function openGranted(path: string): Promise<GrantedPlace> {
  try {
    return { granted: path, path, folder: await openPath(path) };
  } catch (cause) {
    if (codeOf(cause) !== 'ENOTDIR') throw unreachable(path, cause);
  }
  const [parent, only] = [dirname(path), rawName(basename(path))];
  const folder = await openPath(parent).catch((cause: unknown) => {
    throw unreachable(path, cause);
  });
  // Without following links: a link in the file's place is not the granted file.
  const stats = await lstat(at(folder, only)).catch(() => undefined);
  if (stats?.isFile() === true) return { granted: path, path: parent, folder, only };
  await folder.close();
  throw unreachable(path);
}

const unreachable = (path: string, cause?: unknown): NotSecured =>
  new NotSecured(`${path} cannot be reached, or leads through a link`, { cause });

/** A folder within another one is secured with it. */
const outermost = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && path.startsWith(`${other}/`)));

async function takeRoot(taking: Taking, { path, folder, only }: GrantedPlace): Promise<SecuredRoot> {
  const stats = await folder.stat({ bigint: true });
  const entries = await takeFolder(taking, folder, stats.dev, TOP, only);
  const { dev, ino } = stampOf(stats);
  return { path, ...(only === undefined ? {} : { only }), dev, ino, marks: marksOf(stats), entries };
}

async function takeFolder(
  taking: Taking,
  folder: FileHandle,
  dev: bigint,
  place: Place,
  only?: RawName,
): Promise<readonly Entry[]> {
  if (place.depth > TRANSACTION_BOUNDS.depthMax)
    throw new NotSecured(`folders are more than ${TRANSACTION_BOUNDS.depthMax} levels deep`);
  const names = namesOf(await reachable(place, () => namesIn(folder)), only);
  const entries: Entry[] = [];
  for (let from = 0; from < names.length; from += TRANSACTION_BOUNDS.filesAtOnce) {
    taking.signal.throwIfAborted();
    const some = names.slice(from, from + TRANSACTION_BOUNDS.filesAtOnce);
    const taken = await Promise.all(some.map((name) => takeEntry(taking, folder, dev, below(place, name), name)));
    entries.push(...taken.filter((entry) => entry !== undefined));
  }
  return entries;
}

async function takeEntry(
  taking: Taking,
  folder: FileHandle,
  dev: bigint,
  place: Place,
  name: RawName,
): Promise<Entry | undefined> {
  taking.entries += 1;
  if (taking.entries > TRANSACTION_BOUNDS.entriesMax)
    throw new NotSecured(`there are more than ${TRANSACTION_BOUNDS.entriesMax} files`);
  return reachable(place, async () => {
    const stats = await lstat(at(folder, name), { bigint: true });
    const marks = marksOf(stats);
    const inScope = taking.scope.holds(place.path);
    if (stats.isDirectory()) {
      if (!inScope && !entersFolder(taking.scope, place)) return undefined;
      if (stats.dev !== dev) throw new NotSecured(`another file system is mounted at ${shownName(place.path)}`);
      await using inner = await openFolder(folder, name);
      return { name, kind: 'folder', marks, inScope, entries: await takeFolder(taking, inner, dev, place) };
    }
    if (!inScope) return undefined;
    if (stats.isFile()) return { name, kind: 'file', marks, ...(await takeFile(taking, folder, name, stats)) };
    if (!stats.isSymbolicLink()) return { name, kind: 'other' };
    const target = await readlink(at(folder, name), { encoding: 'latin1' });
    return { name, kind: 'link', marks, target };
  });
}

/** Adds the place to errors of reading. */
async function reachable<Result>({ path }: Place, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    const code = codeOf(cause);
    if (code === undefined || cause instanceof NotSecured) throw cause;
    throw new NotSecured(`${shownName(path) || 'the granted folder'} cannot be read (${code})`, { cause });
  }
}

async function takeFile(
  taking: Taking,
  folder: FileHandle,
  name: RawName,
  stats: BigIntStats,
): Promise<{ stamp: Stamp; content: number }> {
  const key = `${stats.dev}:${stats.ino}`;
  const stamp = stampOf(stats);
  const known = stats.nlink > 1n ? taking.known.get(key) : undefined;
  if (known !== undefined) return { stamp, content: await known };
  const taken = takeContent(taking, folder, name, stats);
  if (stats.nlink > 1n) taking.known.set(key, taken);
  return { stamp, content: await taken };
}

async function takeContent(taking: Taking, folder: FileHandle, name: RawName, stats: BigIntStats): Promise<number> {
  const size = Number(stats.size);
  const allocated = Number(stats.blocks) * BLOCK_BYTES;
  count(taking, Math.min(size, allocated));
  const from = taking.position;
  taking.position += size;
  await using file = await openToRead(folder, name);
  mustBeSame(stats, await file.stat({ bigint: true }), name);
  const extents = size === 0 ? [] : await copy(taking, file, { size, from, hasHoles: allocated < size });
  mustBeSame(stats, await file.stat({ bigint: true }), name);
  return taking.contents.push({ size, extents }) - 1;
}

function count(taking: Taking, bytes: number): void {
  taking.bytes += bytes;
  const { bytesMax } = taking;
  if (bytesMax > 0 && taking.bytes > bytesMax)
    throw new NotSecured(`the files hold more than max_snapshot_bytes (${bytesMax})`, { bytesMax });
}

/** Holes of the file stay holes in the pack and in the restored file. */
async function copy(
  { pack, signal }: Taking,
  file: FileHandle,
  { size, from, hasHoles }: { readonly size: number; readonly from: number; readonly hasHoles: boolean },
): Promise<Content['extents']> {
  if (size > TRANSACTION_BOUNDS.fileBytesMax)
    throw new NotSecured(`a file is larger than ${TRANSACTION_BOUNDS.fileBytesMax} bytes`);
  const extents: [number, number, number][] = [];
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size));
  for (let position = 0; position < size; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - position), position);
    if (bytesRead === 0) break;
    const part = buffer.subarray(0, bytesRead);
    if (!hasHoles || !part.equals(ZEROS.subarray(0, part.length))) {
      await writeAt(pack, part, from + position);
      const last = extents.at(-1);
      if (last !== undefined && last[0] + last[2] === position) last[2] += bytesRead;
      else extents.push([position, from + position, bytesRead]);
    }
    position += bytesRead;
  }
  return extents;
}

function mustBeSame(before: BigIntStats, now: BigIntStats, name: RawName): void {
  const same =
    now.isFile() &&
    now.dev === before.dev &&
    now.ino === before.ino &&
    now.size === before.size &&
    now.mtimeNs === before.mtimeNs;
  if (!same) throw new NotSecured(`${shownName(name)} was changed by somebody else meanwhile`);
}

/** Identity and state of a file. */
export const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): Stamp => ({
  dev: String(dev),
  ino: String(ino),
  size: String(size),
  mtimeNs: String(mtimeNs),
  ctimeNs: String(ctimeNs),
});

/** Owner, rights and time of a file. */
export const marksOf = ({ mode, uid, gid, atimeNs, mtimeNs }: BigIntStats): Marks => ({
  mode: Number(mode) & 0o7777,
  uid: Number(uid),
  gid: Number(gid),
  atimeMs: Number(atimeNs) / 1e6,
  mtimeMs: Number(mtimeNs) / 1e6,
});
