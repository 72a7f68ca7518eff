import { randomUUID } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';

/**
 * Creates a file with all of its content at once, durably. Of several processes that do so at the same time one makes
 * the file; an existing file stays as it is.
 * @param mode permissions of the file, 0600 by default
 * @throws the file system's error
 */
export async function createFile(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    const file = await open(draft, 'wx', mode);
    await file
      .writeFile(content)
      .then(() => file.sync())
      .finally(() => file.close());
    await link(draft, path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause;
    });
  } finally {
    await rm(draft, { force: true });
  }
}
