import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MARKED_FOLDER } from './crash/clear-leftovers.ts';
import { ownMark } from './crash/layer-mark.ts';

/** Bytes in an unnamed file, to be passed to child processes. */
export interface KeptBytes {
  /** Opens a descriptor of its own, at the beginning of the bytes. The caller closes it. */
  open(): number;
}

/**
 * Keeps bytes for the life of the process in an unnamed temporary file. Each reader needs its own descriptor: a shared
 * one would share its position.
 */
export function keepBytes(bytes: string): KeptBytes {
  const kept = openNameless();
  writeSync(kept, bytes);
  return { open: () => openSync(`/proc/self/fd/${kept}`, 'r') };
}

/** Runs `use` with opened descriptors and always closes them. */
export function withDescriptors<Result>(kept: readonly KeptBytes[], use: (descriptors: number[]) => Result): Result {
  const opened: number[] = [];
  try {
    for (const bytes of kept) opened.push(bytes.open());
    return use(opened);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** `__O_TMPFILE` of Linux on x86-64 and arm64, which Node does not define. */
const TEMPORARY = 0o20_000_000;
const OWNER_MAY_READ = 0o400;

function openNameless(): number {
  try {
    return openSync(tmpdir(), TEMPORARY | constants.O_DIRECTORY | constants.O_RDWR, OWNER_MAY_READ);
  } catch {
    // A file system without such files: the name exists for a moment.
    const folder = mkdtempSync(join(tmpdir(), `${MARKED_FOLDER}${ownMark()}-`));
    try {
      return openSync(join(folder, 'bytes'), 'wx+', OWNER_MAY_READ);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}
