import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { makeFolder } from '@sallyport/std/files/make-folder';

/** One file of the policy folder, by its name without folder. */
export interface PolicyFile {
  readonly name: string;
  readonly text: string;
}

/** Where an engine's policies come from: a folder that is read anew at each reload, or texts that stay as they are. */
export type PolicySource = { readonly folder: string } | { readonly files: readonly PolicyFile[] };

/** Files of one kind in a policy folder. */
const FILES_MAX = 1000;
/** Bytes of all of them together. */
const BYTES_MAX = 4096 * KiB;
/** Files read at once. */
const AT_ONCE = 16;
/** Age from which a file counts as wholly written, in ms: who writes in place leaves it empty for a moment. */
const SETTLED_MS = 30;
/** Looks at a folder that somebody keeps writing to; then it is read as it stands. */
const LOOKS_MAX = 20;

/**
 * The files of a source whose names are wanted, in the order of their names. A folder that is absent is made. Files that
 * are being written are waited for: a set that lacks half of a file would permit what that file forbids.
 * @throws E3214 naming the folder when it cannot be read or holds too much
 */
export async function readPolicyFiles(
  source: PolicySource,
  wanted: (name: string) => boolean,
): Promise<readonly PolicyFile[]> {
  if ('files' in source) return inOrder(source.files.filter(({ name }) => wanted(name)));
  const { folder } = source;
  try {
    await makeFolder(folder);
    for (let look = 1; ; look += 1) {
      const before = await filesIn(folder, wanted);
      const isLast = look === LOOKS_MAX;
      if (isLast || before.every(isSettled)) {
        const files = await readAll(folder, before);
        if (isLast || isSame(before, await filesIn(folder, wanted))) return files;
      }
      await sleep(SETTLED_MS);
    }
  } catch (cause) {
    if (cause instanceof ToolLayerError) throw cause;
    throw new ToolLayerError('E3214', `The policy folder ${folder} cannot be read. Check its permissions.`, { cause });
  }
}

const inOrder = (files: readonly PolicyFile[]): readonly PolicyFile[] =>
  files.toSorted((a, b) => (a.name < b.name ? -1 : 1));

interface Found {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Asked before anything is read: a file of gigabytes is never held in memory. */
async function filesIn(folder: string, wanted: (name: string) => boolean): Promise<readonly Found[]> {
  const names = (await readdir(folder)).filter(wanted).sort();
  if (names.length > FILES_MAX) throw tooMuch(folder);
  const files: Found[] = [];
  let bytes = 0;
  for (const name of names) {
    const found = await stat(join(folder, name));
    // A pipe would be waited for without end.
    if (!found.isFile()) throw new ToolLayerError('E3214', `${name} in ${folder} is no file. Remove it.`);
    bytes += found.size;
    if (bytes > BYTES_MAX) throw tooMuch(folder, name);
    files.push({ name, size: found.size, mtimeMs: found.mtimeMs });
  }
  return files;
}

/** A time in the future, of another machine's clock, says nothing. */
function isSettled({ mtimeMs }: Found): boolean {
  const age = Date.now() - mtimeMs;
  return age >= SETTLED_MS || age < 0;
}

const isSame = (before: readonly Found[], after: readonly Found[]): boolean =>
  JSON.stringify(before) === JSON.stringify(after);

async function readAll(folder: string, found: readonly Found[]): Promise<readonly PolicyFile[]> {
  const files: PolicyFile[] = [];
  for (let at = 0; at < found.length; at += AT_ONCE) {
    files.push(...(await Promise.all(found.slice(at, at + AT_ONCE).map(({ name }) => readOne(folder, name)))));
  }
  return files;
}

/** What grows after it was measured is still bounded. */
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
