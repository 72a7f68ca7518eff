import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { PolicyFileBody } from '../../../../api/schemas/policy.ts';
import type { CliIo } from '../cli-parts.ts';
import { readTextFile } from './read-source.ts';
import { usageError } from './usage-error.ts';

/** Most files of one command, equal to the layer's limit. */
const FILES_MAX = 1000;

/** Reads the files named, and the files in folders whose names fit. */
export async function readPolicyFiles(paths: readonly string[], fits: RegExp, io: CliIo): Promise<PolicyFileBody[]> {
  const names = (await Promise.all(paths.map((path) => filesAt(path, fits, io)))).flat();
  if (names.length > FILES_MAX) throw usageError(`These are more than ${FILES_MAX} files.`);
  if (names.length === 0) throw usageError(`There is no file of the right kind in ${paths.join(', ')}.`);
  return Promise.all(names.map(async (name) => ({ name: basename(name), text: await readTextFile(name, io) })));
}

async function filesAt(path: string, fits: RegExp, io: CliIo): Promise<string[]> {
  const whole = resolve(io.cwd, path);
  const found = await stat(whole).catch(() => undefined);
  if (found?.isDirectory() !== true) return [path];
  const names = (await readdir(whole)).filter((name) => fits.test(name));
  return names.sort().map((name) => join(path, name));
}
