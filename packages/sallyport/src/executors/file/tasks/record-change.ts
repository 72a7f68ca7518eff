import { MiB } from '@sallyport/std/bytes';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import type { FileTask } from './file-task.ts';

/** Kind of this executor's undo steps. */
export const FILE_STEP = 'file';

/** Largest file whose content is kept for a rollback, in bytes; replacing a larger one cannot be undone. */
export const UNDO_BYTES_MAX = 4 * MiB;

/** Content of a file before and after the change. */
export interface FileStep {
  /** Canonical. */
  readonly path: string;
  /** Folders of the grant, in which the path to the file is walked again. */
  readonly roots: readonly string[];
  /** Null when the file did not exist. */
  readonly before: { readonly sha256: string; readonly content: string } | null;
  readonly afterSha256: string;
}

/** Records how to undo the change, where the call can and the file is not too large (PIPE-03). */
export async function recordChange(
  { undo, roots }: Pick<FileTask, 'undo' | 'roots'>,
  path: string,
  content: Buffer,
  current: { readonly before: { readonly sha256: string }; readonly content?: Buffer } | undefined,
): Promise<void> {
  if (undo === undefined) return;
  if (current !== undefined && current.content === undefined) return;
  if (current?.content !== undefined && current.content.length > UNDO_BYTES_MAX) return;
  const before =
    current?.content === undefined
      ? null
      : { sha256: current.before.sha256, content: current.content.toString('base64') };
  const step: FileStep = { path, roots: roots.map((root) => root.path), before, afterSha256: sha256(content) };
  await undo.record({ kind: FILE_STEP, ...step }).catch((cause: unknown) => {
    throw notReached(cause);
  });
}

/** The file is unchanged: an unavailable journal prevented the change. */
function notReached(cause: unknown): unknown {
  const { code, message } = failureOf(cause);
  return code === 'E3812' ? new ToolLayerError(code, message, { cause, details: { reached: false } }) : cause;
}
