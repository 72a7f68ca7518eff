import type { Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { makeFolder } from '@sallyport/std/files/make-folder';

/** One file of the policy folder; its name is without folder. */
export interface PolicyFile {
  readonly name: string;
  readonly text: string;
}

/** Source of an engine's policies: a folder that is read again at each reload, or fixed texts. */
export type PolicySource = { readonly folder: string } | { readonly files: readonly PolicyFile[] };

/** Most files of one kind in a policy folder. */
const FILES_MAX = 1000;
/** Most bytes of all files together. */
const BYTES_MAX = 4096 * KiB;
/** Most files read at once. */
const AT_ONCE = 16;
/**
 * Age from which a file counts as completely written, and the folder as complete, in ms: writing in place leaves a file
 * empty for a moment, and programs that move a file away before they write it leave the folder without it.
 */
const SETTLED_MS = 30;
/** Most attempts on a folder that keeps changing; then it is read as it is. */
const LOOKS_MAX = 20;

/**
 * The wanted files of a source, ordered by name. Files being written are waited for: a set that lacks a file, or half of
 * it, would permit what that file forbids.
 * @throws E3214 naming the folder when it cannot be read or holds too much
 */
export async function readPolicyFiles(
  source: PolicySource,
  wanted: (name: string) => boolean,
): Promise<readonly PolicyFile[]> {
  if ('files' in source) return inOrder(source.files.filter(({ name }) => wanted(name)));
  const { folder } = source;
  try {
    for (let look = 1; ; look += 1) {
      const before = await filesIn(folder, wanted);
      const isLast = look === LOOKS_MAX;
      if (isLast || [before.folder, ...before.files].every(isSettled)) {
        const files = await readAll(folder, before.files);
        if (isLast || isSame(before, await filesIn(folder, wanted))) return files;
      }
      await sleep(SETTLED_MS);
    }
  } catch (cause) {
    throw cause instanceof ToolLayerError ? cause : unreadable(folder, cause);
  }
}

/**
 * Reads a source whose folder may not exist yet, and creates it then. A layer that runs does not: a person may be about
 * to put another folder into its place.
 * @throws E3214 as {@link readPolicyFiles}
 */
export async function makeAndReadPolicyFiles(
  source: PolicySource,
  wanted: (name: string) => boolean,
): Promise<readonly PolicyFile[]> {
  if ('folder' in source)
    await makeFolder(source.folder).catch((cause: unknown) => Promise.reject(unreadable(source.folder, cause)));
  return readPolicyFiles(source, wanted);
}

function unreadable(folder: string, cause: unknown): ToolLayerError {
  return new ToolLayerError('E3214', `The policy folder ${folder} cannot be read. Check its permissions.`, { cause });
}

const inOrder = (files: readonly PolicyFile[]): readonly PolicyFile[] =>
  files.toSorted((a, b) => (a.name < b.name ? -1 : 1));

interface Found {
  readonly name: string;
  readonly size: number;
  readonly ino: number;
  readonly mtimeMs: number;
}

/** The folder and its wanted files. Checked before reading: a file of gigabytes is never held in memory. */
async function filesIn(
  folder: string,
  wanted: (name: string) => boolean,
): Promise<{ readonly folder: Found; readonly files: readonly Found[] }> {
  const names = (await readdir(folder)).filter(wanted).sort();
  if (names.length > FILES_MAX) throw tooMuch(folder);
  const files: Found[] = [];
  let bytes = 0;
  for (const name of names) {
    const found = await stat(join(folder, name));
    // Reading a pipe would wait without end.
    if (!found.isFile()) throw new ToolLayerError('E3214', `${name} in ${folder} is no file. Remove it.`);
    bytes += found.size;
    if (bytes > BYTES_MAX) throw tooMuch(folder, name);
    files.push(foundOf(name, found));
  }
  return { folder: foundOf('', await stat(folder)), files };
}

const foundOf = (name: string, { size, ino, mtimeMs }: Stats): Found => ({ name, size, ino, mtimeMs });

/** A time in the future comes from another machine's clock and is ignored. */
function isSettled({ mtimeMs }: Found): boolean {
  const age = Date.now() - mtimeMs;
  return age >= SETTLED_MS || age < 0;
}

const isSame = (before: unknown, after: unknown): boolean => JSON.stringify(before) === JSON.stringify(after);

async function readAll(folder: string, found: readonly Found[]): Promise<readonly PolicyFile[]> {
  const files: PolicyFile[] = [];
  for (let at = 0; at < found.length; at += AT_ONCE) {
    files.push(...(await Promise.all(found.slice(at, at + AT_ONCE).map(({ name }) => readOne(folder, name)))));
  }
  return files;
}

/** A file that grows after it was measured is still limited. */
async function readOne(folder: string, name: string): Promise<PolicyFile> {
  await using file = await open(join(folder, name));
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc((await file.stat()).size + 1), position: 0 });
  if (bytesRead > BYTES_MAX) throw tooMuch(folder, name);
  return { name, text: buffer.toString('utf8', 0, bytesRead) };
}

function tooMuch(folder: string, file?: string): ToolLayerError {
  return new ToolLayerError(
    'E3214',
    `The policy folder ${folder} holds more than ${FILES_MAX} files or ${BYTES_MAX / KiB} KiB of policies${
      file === undefined ? '' : ` (counted up to ${file})`
    }. Remove what is not needed.`,
    { details: file === undefined ? {} : { file } },
  );
}
