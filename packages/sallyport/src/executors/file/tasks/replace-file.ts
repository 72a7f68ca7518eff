// The only way in which a file gets new content: a new file beside it, synced, then renamed over it. A reader sees the
// old content or the new; a link put in the file's place is replaced, never written through.
import { createHash, randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, rename, unlink } from 'node:fs/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { PROBE } from '../../folder-handle.ts';
import { MAKE, READ } from '../confinement/handles.ts';
import { codeOf, conflict, fault, shown } from '../confinement/refusals.ts';
import { type FileTask, stopWhenAborted } from './file-task.ts';
import { recordChange } from './record-change.ts';
import { sweepLeftovers } from './sweep-leftovers.ts';

/** A name in an open folder, to be written. */
export interface Target {
  readonly folder: FileHandle;
  readonly name: string;
  /** Canonical, for messages. */
  readonly path: string;
}

/** The file that existed before. */
export interface Before {
  readonly sha256: string;
  readonly bytes: number;
  /** Permission bits, in octal. */
  readonly mode: string;
}

/** The current state of a file. */
export interface Current {
  readonly stats: BigIntStats;
  readonly before: Before;
  /** Present when requested and not too large. */
  readonly content?: Buffer;
}

const PERMISSION_BITS = 0o777;
const NEW_FILE_MODE = 0o666;
const CHUNK_BYTES = 256 * KiB;

/**
 * Hashes the file of that name; undefined when there is none.
 * @param keepBytesMax largest size whose content is kept too; 0 for none
 * @throws ToolLayerError E3109 when it is no file, E3704 when it is now a link, E3102 when it is too large
 */
export async function currentFile(
  task: FileTask,
  { folder, name, path }: Target,
  bytesMax: number,
  keepBytesMax: number,
): Promise<Current | undefined> {
  await using probe = await probeOf(task, folder, name);
  if (probe === undefined) return undefined;
  const stats = await probe.stat({ bigint: true });
  if (stats.isSymbolicLink()) throw conflict(path);
  if (stats.isDirectory()) throw fault(`${shown(path)} is a folder.`);
  if (!stats.isFile()) throw fault(`${shown(path)} is a device, a socket or a pipe, not a file.`);
  if (stats.size > bytesMax) throw tooLarge(path, Number(stats.size), bytesMax);
  await using file = await task.handles.reopen(probe, READ);
  const hash = createHash('sha256');
  const keep = stats.size <= keepBytesMax && keepBytesMax > 0;
  const kept: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    stopWhenAborted(task);
    const buffer = Buffer.alloc(Math.min(CHUNK_BYTES, Number(stats.size) + 1));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, bytes);
    if (bytesRead === 0) break;
    bytes += bytesRead;
    if (bytes > bytesMax) throw tooLarge(path, bytes, bytesMax);
    const part = buffer.subarray(0, bytesRead);
    hash.update(part);
    if (keep) kept.push(part);
  }
  const mode = (Number(stats.mode) & PERMISSION_BITS).toString(8).padStart(4, '0');
  const before = { sha256: hash.digest('hex'), bytes, mode };
  return { stats, before, ...(keep ? { content: Buffer.concat(kept) } : {}) };
}

const tooLarge = (path: string, bytes: number, bytesMax: number): ToolLayerError =>
  new ToolLayerError('E3102', `${shown(path)} has ${bytes} bytes; a file that is changed has at most ${bytesMax}.`);

async function probeOf(task: FileTask, folder: FileHandle, name: string): Promise<FileHandle | undefined> {
  try {
    return await task.handles.openAt(folder, name, PROBE);
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

/**
 * Replaces the file described by `current` with new content, completely or not at all.
 * @throws ToolLayerError E3704 when the file is no longer that of `current`
 */
export async function replaceFile(
  task: FileTask,
  target: Target,
  content: Buffer,
  current: Current | undefined,
): Promise<{ readonly sha256: string }> {
  const { handles } = task;
  await sweepLeftovers(task, target.folder);
  const temporary = `.${randomBytes(9).toString('base64url')}.sallyport-tmp`;
  const made = await handles.openAt(target.folder, temporary, MAKE, current === undefined ? NEW_FILE_MODE : 0o600);
  try {
    await using file = made;
    await file.writeFile(content);
    if (current !== undefined) await keepOwnership(file, current.stats);
    await file.sync();
    await recordChange(task, target.path, content, current);
    await mustBeUnchanged(task, target, current);
    stopWhenAborted(task);
    await rename(handles.at(target.folder, temporary), handles.at(target.folder, target.name));
  } catch (thrown) {
    await unlink(handles.at(target.folder, temporary)).catch(() => undefined);
    throw thrown;
  }
  await makeDurable(task, target.folder);
  return { sha256: sha256(content) };
}

/** Permissions are kept; set-user-id and similar bits are not, as always when a program writes. */
async function keepOwnership(file: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  const made = await file.stat({ bigint: true });
  // Only root may change the owner; for others the new file belongs to them, as with every editor.
  if (made.uid !== uid || made.gid !== gid) await file.chown(Number(uid), Number(gid)).catch(() => undefined);
  await file.chmod(Number(mode) & PERMISSION_BITS);
}

async function mustBeUnchanged(task: FileTask, target: Target, current: Current | undefined): Promise<void> {
  await using probe = await probeOf(task, target.folder, target.name);
  if (probe === undefined && current === undefined) return;
  if (probe === undefined || current === undefined) throw conflict(target.path);
  const now = await probe.stat({ bigint: true });
  const { stats } = current;
  const same =
    now.dev === stats.dev &&
    now.ino === stats.ino &&
    now.size === stats.size &&
    now.mtimeNs === stats.mtimeNs &&
    now.ctimeNs === stats.ctimeNs;
  if (!same) throw conflict(target.path);
}

/**
 * A rename is durable once its folder is synced. Some file systems cannot sync a folder; durability is then theirs to
 * provide.
 */
async function makeDurable(task: FileTask, folder: FileHandle): Promise<void> {
  await using opened = await task.handles.reopen(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  await opened.sync().catch(() => undefined);
}
