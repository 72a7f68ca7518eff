import { isUtf8 } from 'node:buffer';
import { constants, lstat, open, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import type { SkillImportFile } from '../../../../api/schemas/imports.ts';
import type { CliIo } from '../cli-parts.ts';
import { usageError } from './usage-error.ts';

/** Limits of one folder, equal to the layer's. */
const FILES_MAX = 512;
const BYTES_MAX = 8 * MiB;
const DEPTH_MAX = 16;
/** Folders that never belong to a skill. */
const LEFT_OUT = new Set(['.git', 'node_modules', '__pycache__']);
const EXECUTABLE = 0o111;
const ONE_SKILL = 'Name the folder of one skill at a time, or take files out.';

/**
 * Reads the files of a folder, ordered by path. Nothing outside the folder is read: links are refused, wherever they
 * lead.
 */
export async function readFolder(name: string, io: CliIo): Promise<SkillImportFile[]> {
  const root = resolve(io.cwd, name);
  const stat = await lstat(root).catch((cause: unknown) => {
    throw Object.assign(usageError(`${name} does not exist or may not be read. Name the folder of a skill.`), {
      cause,
    });
  });
  if (!stat.isDirectory()) throw usageError(`${name} is no folder. Name the folder that SKILL.md stands in.`);
  const files: SkillImportFile[] = [];
  let bytes = 0;
  for await (const path of pathsIn(root, '', 0)) {
    if (files.length === FILES_MAX) throw usageError(`${name} holds more than ${FILES_MAX} files. ${ONE_SKILL}`);
    const { file, size } = await readOne(root, path);
    bytes += size;
    if (bytes > BYTES_MAX) {
      throw usageError(`The files of ${name} are larger than ${BYTES_MAX} bytes together. ${ONE_SKILL}`);
    }
    files.push(file);
  }
  return files;
}

async function* pathsIn(root: string, folder: string, depth: number): AsyncGenerator<string> {
  if (depth > DEPTH_MAX) throw usageError(`${folder} lies deeper than ${DEPTH_MAX} folders.`);
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isSymbolicLink()) throw usageError(`${path} is a link. Put the file itself there.`);
    if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) yield* pathsIn(root, path, depth + 1);
    if (entry.isFile()) yield path;
  }
}

async function readOne(root: string, path: string): Promise<{ file: SkillImportFile; size: number }> {
  // A file may have been replaced by a link or a pipe since it was listed: links are not followed and pipes are not
  // waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using opened = await open(join(root, path), flags);
  const stat = await opened.stat();
  if (!stat.isFile()) throw usageError(`${path} is no plain file.`);
  if (stat.size > BYTES_MAX) throw usageError(`${path} is larger than ${BYTES_MAX} bytes.`);
  const content = await opened.readFile();
  const executable = (stat.mode & EXECUTABLE) !== 0 ? { executable: true } : {};
  const text = isUtf8(content) ? { content: content.toString('utf8') } : { base64: content.toString('base64') };
  return { file: { path, ...text, ...executable }, size: content.length };
}
