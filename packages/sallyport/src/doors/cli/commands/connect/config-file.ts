import { chmod, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const READABLE_BY_OTHERS = 0o077;

/** A client's settings file, under its real path (links resolved). */
export interface ConfigFile {
  readonly path: string;
  /** Undefined when the file does not exist. */
  readonly text: string | undefined;
  /** Path of the copy made before our first entry was written. */
  readonly backup: string;
}

export async function readConfigFile(named: string): Promise<ConfigFile> {
  const path = await realpath(named).catch(absentAs(named));
  const text = await readFile(path, 'utf8').catch(absentAs(undefined));
  return { path, text, backup: `${path}.before-sallyport` };
}

/** Replaces a file atomically and keeps its mode; a new file is readable by its owner alone. */
export async function replaceFile(path: string, text: string): Promise<{ readonly isReadByOthers: boolean }> {
  await mkdir(dirname(path), { recursive: true });
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const fresh = `${path}.${process.pid}.new`;
  try {
    await writeFile(fresh, text, { mode: 0o600, flag: 'wx' });
    await chmod(fresh, mode);
    await rename(fresh, path);
  } catch (cause) {
    await rm(fresh, { force: true });
    throw cause;
  }
  return { isReadByOthers: (mode & READABLE_BY_OTHERS) !== 0 };
}

export const removeFile = (path: string): Promise<void> => rm(path, { force: true });

const absentAs =
  <T>(value: T) =>
  (cause: NodeJS.ErrnoException): T => {
    if (cause.code === 'ENOENT') return value;
    throw cause;
  };
