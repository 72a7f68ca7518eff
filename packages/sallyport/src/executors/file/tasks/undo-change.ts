// File changes are undone in the same way as they were made: within the roots of the call, serialised with other
// writers, by a rename.
import { constants } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UndoStep } from '../../../domain/invocation/undo-step.ts';
import { conflict, shown } from '../confinement/refusals.ts';
import { resolvePlace } from '../confinement/resolve-place.ts';
import { rootsOf } from '../confinement/roots.ts';
import { type FileTask, stopWhenAborted } from './file-task.ts';
import { FILE_STEP, type FileStep } from './record-change.ts';
import { currentFile, replaceFile, type Target } from './replace-file.ts';
import { inTurn } from './write-file.ts';

/**
 * Restores the former content of a file. An unchanged file is left alone.
 * @throws E3704 when somebody else has changed it since, E3900 for a step of another kind
 */
export async function undoChange(task: Omit<FileTask, 'roots'>, given: UndoStep): Promise<void> {
  const { path, roots, before, afterSha256 } = stepOf(given);
  const within: FileTask = { ...task, roots: rootsOf(roots.map((root) => ({ path: root, mode: 'rw' }))) };
  await using place = await resolvePlace(within, path);
  const { folder, name } = place;
  // Its folder is gone, with its content.
  if (folder === undefined || place.missing.length > 1) {
    if (before === null) return;
    throw conflict(path);
  }
  const target: Target = { folder, name, path };
  await inTurn(within, target, async () => {
    const current = await currentFile(within, target, task.bounds.replacedBytesMax, 0);
    if (current?.before.sha256 === before?.sha256) return;
    if (current?.before.sha256 !== afterSha256) throw conflict(path);
    if (before !== null) await replaceFile(within, target, Buffer.from(before.content, 'base64'), current);
    else {
      stopWhenAborted(within);
      await unlink(task.handles.at(folder, name));
      await using opened = await task.handles.reopen(folder, constants.O_RDONLY | constants.O_DIRECTORY);
      await opened.sync().catch(() => undefined);
    }
  });
}

function stepOf({ kind, path, roots, before, afterSha256 }: UndoStep): FileStep {
  const isWhole =
    kind === FILE_STEP && typeof path === 'string' && Array.isArray(roots) && typeof afterSha256 === 'string';
  if (isWhole) return { path, roots, before: before as FileStep['before'], afterSha256 };
  throw new ToolLayerError('E3900', `A step of kind ${shown(kind)} is none of the file executor.`);
}
