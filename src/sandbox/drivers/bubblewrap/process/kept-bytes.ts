import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes that lie in a file without a name, to be handed to child processes. */
export interface KeptBytes {
  /** A descriptor of its own, at the beginning of the bytes. Whoever opens it closes it. */
  open(): number;
}

/**
 * Keeps bytes for the life of the process in a temporary file whose name is removed at once. Each reader needs its own
 * descriptor: readers of one would share its position.
 */
export function keepBytes(bytes: string | Uint8Array): KeptBytes {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-sandbox-'));
  try {
    const file = join(folder, 'bytes');
    writeFileSync(file, bytes, { mode: 0o400 });
    const kept = openSync(file, 'r');
    return { open: () => openSync(`/proc/self/fd/${kept}`, 'r') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs `use` with opened descriptors and closes them, whatever happens. */
export function withDescriptors<Result>(kept: readonly KeptBytes[], use: (descriptors: number[]) => Result): Result {
  const opened: number[] = [];
  try {
    for (const bytes of kept) opened.push(bytes.open());
    return use(opened);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
