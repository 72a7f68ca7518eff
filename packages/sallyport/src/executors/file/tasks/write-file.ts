import { type FileHandle, mkdir } from 'node:fs/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { PROBE_FOLDER } from '../../folder-handle.ts';
import { codeOf, conflict, fault, outside, shown } from '../confinement/refusals.ts';
import { type Place, resolvePlace } from '../confinement/resolve-place.ts';
import type { WriteParameters } from '../parameters.ts';
import { type FileTask, stopWhenAborted } from './file-task.ts';
import { UNDO_BYTES_MAX } from './record-change.ts';
import { currentFile, replaceFile, type Target } from './replace-file.ts';

/** The tool `file_write`. */
export async function writeFile(task: FileTask, parameters: WriteParameters): Promise<Record<string, unknown>> {
  const content = contentOf(task, parameters);
  await using place = await resolvePlace(task, parameters.path);
  checkWritable(task, place, parameters.path);
  await using made = new AsyncDisposableStack();
  const target = await targetOf(task, place, parameters, made);
  return await inTurn(task, target, async () => {
    const current = await currentFile(task, target, task.bounds.replacedBytesMax, keptBytes(task));
    if (current !== undefined && parameters.if_exists === 'refuse') throw fault(`${shown(place.path)} exists already.`);
    checkExpected(parameters.expected_sha256, current?.before.sha256, place.path);
    const { sha256 } = await replaceFile(task, target, content, current);
    const created = current === undefined;
    return { path: place.path, created, bytes: content.length, sha256, before: current?.before ?? null };
  });
}

/** The former content is kept only when the change may have to be undone. */
const keptBytes = ({ undo }: FileTask): number => (undo === undefined ? 0 : UNDO_BYTES_MAX);

/** @throws ToolLayerError E3105 where the grant is read-only, E3210 where a glob forbids */
export function checkWritable(task: FileTask, { path, writable }: Place, requested: string): void {
  task.policy.checkWrite(path);
  if (writable) return;
  throw new ToolLayerError('E3105', `${shown(requested)} lies in a folder that this call may only read.`);
}

/** Runs changes of one file in sequence; files are identified by place, not by name. */
export async function inTurn<Result>(task: FileTask, target: Target, run: () => Promise<Result>): Promise<Result> {
  const { dev, ino } = await target.folder.stat({ bigint: true });
  return task.turns.inTurn(`${dev}:${ino}:${target.name}`, run);
}

/** @throws ToolLayerError E3704 when the file is not the expected one */
export function checkExpected(expected: string | undefined, found: string | undefined, path: string): void {
  if (expected !== undefined && expected !== found) throw conflict(path);
}

function contentOf({ bounds }: FileTask, { content, encoding }: WriteParameters): Buffer {
  if (encoding === 'base64' && !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(content)) {
    throw new ToolLayerError('E3509', 'content is no Base64. Use the standard alphabet with padding and no spaces.');
  }
  const bytes = Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
  checkSize(bytes, bounds.writeBytesMax);
  return bytes;
}

/** @throws ToolLayerError E3102 */
export function checkSize(content: Buffer, bytesMax: number): void {
  if (content.length <= bytesMax) return;
  throw new ToolLayerError('E3102', `The file would have ${content.length} bytes; it may have ${bytesMax}.`);
}

/** The target of a write; missing folders are created when wanted. */
async function targetOf(
  task: FileTask,
  { folder, name, path, missing }: Place,
  { path: requested, create_folders: createFolders = false }: WriteParameters,
  made: AsyncDisposableStack,
): Promise<Target> {
  if (folder === undefined) throw outside(requested);
  const folders = missing.slice(0, -1);
  if (folders.length > 0 && !createFolders) {
    throw fault(`The folder of ${shown(requested)} does not exist. Say create_folders: true to make it.`);
  }
  let at = folder;
  for (const part of folders) at = made.use(await makeFolder(task, at, part));
  return { folder: at, name, path };
}

async function makeFolder(task: FileTask, folder: FileHandle, name: string): Promise<FileHandle> {
  stopWhenAborted(task);
  await mkdir(task.handles.at(folder, name)).catch((thrown: unknown) => {
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
  });
  return task.handles.openAt(folder, name, PROBE_FOLDER);
}
