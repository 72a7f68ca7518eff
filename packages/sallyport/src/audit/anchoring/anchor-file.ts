import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ChainCheckpoint } from '../ledger-store.port.ts';
import { anchorOf } from './anchor.ts';

/**
 * Appends signed heads to a file, one a line, each synced to the disk. The file is opened anew each time: it may have
 * been rotated, or be on a disk that is not always mounted.
 * @throws the file system's error; the caller retries
 */
export function anchorFile(path: string): (checkpoint: ChainCheckpoint) => Promise<void> {
  return async (checkpoint) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await using file = await open(path, 'a', 0o600);
    const { size } = await file.stat();
    // A part of a line would make the whole file one that `audit verify --anchors` does not read.
    await file.appendFile(`${JSON.stringify(anchorOf(checkpoint))}\n`).catch(async (cause: unknown) => {
      await file.truncate(size).catch(() => undefined);
      throw cause;
    });
    await file.datasync();
  };
}
