import type { BigIntStats } from 'node:fs';
import {
  chmod,
  chown,
  type FileHandle,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  readlink,
  rename,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { KiB } from '@sallyport/std/bytes';
import { at, codeOf, makeFile, namesIn, openFolder, openPath, type RawName, writeAt } from '../../folder-handle.ts';
import { TRANSACTION_BOUNDS } from '../settings.ts';
import { removeTree, temporaryName } from './remove-tree.ts';
import { type Scope, scopeOf } from './scope.ts';
import {
  AnotherFolder,
  below,
  type Content,
  type Entry,
  type Marks,
  namesOf,
  type Place,
  type SecuredRoot,
  type Snapshot,
  type Stamp,
  TOP,
} from './snapshot.ts';
import { stampOf } from './take-snapshot.ts';
import type { Moves } from './unless-stalled.ts';

type Of<Kind extends Entry['kind']> = Extract<Entry, { readonly kind: Kind }>;

interface Restoring {
  readonly snapshot: Snapshot;
  readonly scope: Scope;
  readonly pack: FileHandle;
  readonly root: FileHandle;
  readonly moves: Moves;
  /** First name of each content that has several names. */
  readonly placed: Map<number, RawName>;
}

const CHUNK_BYTES = 256 * KiB;

/**
 * Restores every secured tree: changed files are made anew beside their place and renamed over it, new files are
 * removed, untouched ones stay. Restarting it after an interruption gives the same result. All works below the
 * descriptors of the secured folders, so that files put in their places meanwhile are not touched.
 * @param moves called before each change; what it throws ends the work
 * @throws AnotherFolder before anything is done; Error when it cannot be finished, and the work so far stays
 */
export async function restoreTree(snapshot: Snapshot, pack: FileHandle, moves: Moves): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const roots: [SecuredRoot, FileHandle][] = [];
  for (const secured of snapshot.roots) roots.push([secured, opened.use(await openSecured(secured))]);
  for (const [secured, root] of roots)
    await restoreRoot({ snapshot, scope: scopeOf(snapshot.globs), pack, root, moves, placed: new Map() }, secured);
}

async function openSecured(secured: SecuredRoot): Promise<FileHandle> {
  const root = await openPath(secured.path).catch((cause: unknown) => {
    throw new AnotherFolder(secured.path, { cause });
  });
  const stats = await root.stat({ bigint: true });
  if (String(stats.dev) === secured.dev && String(stats.ino) === secured.ino) return root;
  await root.close();
  throw new AnotherFolder(secured.path);
}

async function restoreRoot(restoring: Restoring, secured: SecuredRoot): Promise<void> {
  const { root, moves } = restoring;
  const isWhole = secured.only === undefined;
  moves();
  if (isWhole) await chmod(at(root), secured.marks.mode | 0o700);
  await restoreFolder(restoring, root, secured.entries, TOP, secured.only);
  if (isWhole) await settle(restoring, root, secured.marks);
}

async function restoreFolder(
  restoring: Restoring,
  folder: FileHandle,
  entries: readonly Entry[],
  place: Place,
  only?: RawName,
): Promise<void> {
  const wanted = new Set(entries.map(({ name }) => name));
  for (const name of namesOf(await namesIn(folder), only))
    if (!wanted.has(name)) await removeTree(restoring, folder, name, below(place, name));
  for (const entry of entries) await restoreEntry(restoring, folder, entry, below(place, entry.name));
}

async function restoreEntry(restoring: Restoring, folder: FileHandle, entry: Entry, place: Place): Promise<void> {
  if (entry.kind === 'other') return;
  const now = await lstat(at(folder, entry.name), { bigint: true }).catch((thrown: unknown) => {
    if (codeOf(thrown) !== 'ENOENT') throw thrown;
    return undefined;
  });
  // A folder blocks any other kind at its name, and the reverse.
  if (now !== undefined && now.isDirectory() !== (entry.kind === 'folder'))
    await removeTree({ scope: scopeOf(['**']), moves: restoring.moves }, folder, entry.name, place);
  if (entry.kind === 'folder') await restoreInner(restoring, folder, entry, now?.isDirectory() === true, place);
  else if (entry.kind === 'link') await restoreLink(restoring, folder, entry, now);
  else await restoreFile(restoring, folder, entry, now, place);
}

async function restoreInner(
  restoring: Restoring,
  folder: FileHandle,
  { name, marks, inScope, entries }: Of<'folder'>,
  isThere: boolean,
  place: Place,
): Promise<void> {
  const { moves } = restoring;
  moves();
  if (!isThere) {
    if (!inScope && entries.length === 0) return;
    await mkdir(at(folder, name), 0o700);
  }
  await using inner = await openFolder(folder, name);
  moves();
  // A tool may have removed the rights.
  await chmod(at(inner), marks.mode | 0o700);
  await restoreFolder(restoring, inner, entries, place);
  await settle(restoring, inner, marks);
}

/** Sets rights and times of a folder, after its content is done. */
async function settle({ moves }: Restoring, folder: FileHandle, marks: Marks): Promise<void> {
  const path = at(folder);
  const { uid, gid } = await folder.stat();
  moves();
  if (uid !== marks.uid || gid !== marks.gid) await chown(path, marks.uid, marks.gid);
  moves();
  await chmod(path, marks.mode);
  moves();
  await utimes(path, marks.atimeMs / 1000, marks.mtimeMs / 1000);
}

async function restoreLink(
  { moves }: Restoring,
  folder: FileHandle,
  { name, marks, target }: Of<'link'>,
  now: BigIntStats | undefined,
): Promise<void> {
  const isSame =
    now?.isSymbolicLink() === true && (await readlink(at(folder, name), { encoding: 'latin1' })) === target;
  const temporary = isSame ? name : temporaryName();
  moves();
  if (!isSame) await symlink(Buffer.from(target, 'latin1'), at(folder, temporary));
  const made = await lstat(at(folder, temporary));
  moves();
  if (made.uid !== marks.uid || made.gid !== marks.gid) await lchown(at(folder, temporary), marks.uid, marks.gid);
  moves();
  await lutimes(at(folder, temporary), marks.atimeMs / 1000, marks.mtimeMs / 1000);
  moves();
  if (!isSame) await rename(at(folder, temporary), at(folder, name));
}

async function restoreFile(
  restoring: Restoring,
  folder: FileHandle,
  entry: Of<'file'>,
  now: BigIntStats | undefined,
  place: Place,
): Promise<void> {
  const { name, stamp, content } = entry;
  if (now !== undefined && isUntouched(stamp, stampOf(now), restoring.snapshot.takenAt)) return;
  const { moves } = restoring;
  moves();
  const temporary = temporaryName();
  const first = restoring.placed.get(content);
  try {
    if (first === undefined) await makeAnew(restoring, folder, temporary, entry);
    else await linkTo(restoring.root, first, folder, temporary);
    moves();
    await rename(at(folder, temporary), at(folder, name));
  } catch (thrown) {
    await unlink(at(folder, temporary)).catch(() => undefined);
    throw thrown;
  }
  restoring.placed.set(content, place.path);
}

/** A change at the moment of the snapshot may keep the same time, so such a file is made anew. */
function isUntouched(before: Stamp, now: Stamp, takenAt: number): boolean {
  const isOld = Number(before.ctimeNs) / 1e6 < takenAt - TRANSACTION_BOUNDS.ctimeSlackMs;
  return (
    isOld &&
    before.dev === now.dev &&
    before.ino === now.ino &&
    before.size === now.size &&
    before.mtimeNs === now.mtimeNs &&
    before.ctimeNs === now.ctimeNs
  );
}

async function makeAnew(
  { snapshot, pack, moves }: Restoring,
  folder: FileHandle,
  name: RawName,
  { marks, content }: Of<'file'>,
): Promise<void> {
  await using file = await makeFile(folder, name);
  await fill(file, snapshot.contents[content], pack, moves);
  const made = await file.stat();
  if (made.uid !== marks.uid || made.gid !== marks.gid) await file.chown(marks.uid, marks.gid);
  await file.chmod(marks.mode);
  // Not synced, as the tool's own writes were not: a killed layer loses nothing by that, and a thousand syncs take
  // seconds.
  await file.utimes(marks.atimeMs / 1000, marks.mtimeMs / 1000);
}

async function fill(file: FileHandle, content: Content | undefined, pack: FileHandle, moves: Moves): Promise<void> {
  if (content === undefined) throw new Error('the snapshot lacks the content of a file');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (const [start, from, length] of content.extents) {
    for (let done = 0; done < length; ) {
      moves();
      const { bytesRead } = await pack.read(buffer, 0, Math.min(buffer.length, length - done), from + done);
      if (bytesRead === 0) throw new Error('the snapshot lacks the content of a file');
      await writeAt(file, buffer.subarray(0, bytesRead), start + done);
      done += bytesRead;
    }
  }
  await file.truncate(content.size);
}

/** Links a further name of a restored file. Its folder is looked up again, name by name. */
async function linkTo(root: FileHandle, path: RawName, folder: FileHandle, name: RawName): Promise<void> {
  const parts = path.split('/');
  const last = parts.pop() ?? '';
  await using opened = new AsyncDisposableStack();
  let holder = root;
  for (const part of parts) holder = opened.use(await openFolder(holder, part));
  await link(at(holder, last), at(folder, name));
}
