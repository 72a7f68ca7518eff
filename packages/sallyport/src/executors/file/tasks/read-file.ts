import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { KiB, MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { READ } from '../confinement/handles.ts';
import { fault, shown } from '../confinement/refusals.ts';
import { type Place, resolvePlace } from '../confinement/resolve-place.ts';
import type { ReadParameters } from '../parameters.ts';
import { type DetectedEncoding, detectEncoding, HEAD_BYTES, textDecoder } from '../text/encoding.ts';
import { createLineWindow, type LineWindow } from '../text/line-window.ts';
import { type FileTask, stopWhenAborted } from './file-task.ts';

const CHUNK_BYTES = 256 * KiB;
/** Bytes between two progress reports of a long read. */
const PROGRESS_BYTES = 16 * MiB;
const LINES_DEFAULT = 2000;
/** Four characters of Base64 stand for three bytes. */
const BASE64_SHARE = 3 / 4;

/** Opens the regular file at a place for reading. Never blocks: other kinds of files are not opened. */
export async function openRegular(
  task: Pick<FileTask, 'handles'>,
  place: Place,
  requested: string,
): Promise<FileHandle> {
  const { node, stats } = place;
  if (node === undefined || stats === undefined) throw fault(`${shown(requested)} does not exist.`);
  if (stats.isDirectory()) throw fault(`${shown(requested)} is a folder. Use a tool that lists.`);
  if (!stats.isFile()) throw fault(`${shown(requested)} is a device, a socket or a pipe, not a file.`);
  return task.handles.reopen(node, READ);
}

/** The tool `file_read`. */
export async function readFile(task: FileTask, parameters: ReadParameters): Promise<Record<string, unknown>> {
  await using place = await resolvePlace(task, parameters.path);
  task.policy.checkRead(place.path);
  await using file = await openRegular(task, place, parameters.path);
  const size = Number(place.stats?.size ?? 0n);
  const head = Buffer.alloc(Math.min(HEAD_BYTES, size));
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  const detected = detectEncoding(head.subarray(0, bytesRead));
  const room = Math.min(task.bounds.readBytesMax, task.outputBytesMax);
  const open = { task, file, size, path: place.path, room };
  if (detected.encoding === 'binary' || parameters.encoding === 'base64') return await readBytes(open);
  return await readLines(open, detected, parameters);
}

interface OpenFile {
  readonly task: FileTask;
  readonly file: FileHandle;
  readonly size: number;
  readonly path: string;
  readonly room: number;
}

async function readBytes({ file, size, path, room }: OpenFile): Promise<Record<string, unknown>> {
  const length = Math.min(size, Math.floor(room * BASE64_SHARE));
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, 0);
  const more = bytesRead < size;
  return {
    path,
    encoding: 'base64',
    content: buffer.toString('base64', 0, bytesRead),
    bytes: size,
    more,
    note: `Bytes 0 to ${bytesRead} in Base64, as this is no text${more ? '; the rest was left out' : ''}.`,
  };
}

async function readLines(
  open: OpenFile,
  detected: DetectedEncoding,
  { offset = 1, limit = LINES_DEFAULT }: ReadParameters,
): Promise<Record<string, unknown>> {
  const { path, size, room, task } = open;
  const window = createLineWindow(offset, limit, room);
  const whole = size <= task.bounds.wholeBytesMax;
  const hash = createHash('sha256');
  const read = await scan(open, detected, window, whole ? (bytes) => hash.update(bytes) : undefined);
  const { text, lastLine, lines, cut } = window.result();
  const ended = read.atEnd;
  const nothing = text === '' && offset > 1 && ended;
  if (nothing && offset > lines) throw fault(`${shown(path)} has only ${lines} lines.`);
  return {
    path,
    encoding: detected.encoding,
    content: text,
    from_line: offset,
    to_line: lastLine,
    more: cut || !ended || lastLine < lines,
    bytes: size,
    ...(ended ? { total_lines: lines } : {}),
    ...(ended && whole ? { sha256: hash.digest('hex') } : {}),
    ...(cut ? { note: `Cut within line ${lastLine}, since the result may take ${room} bytes. Read fewer lines.` } : {}),
  };
}

/** Feeds the file to the window until that is full; to the file's end when a hash is wanted. */
async function scan(
  { task, file, size }: OpenFile,
  detected: DetectedEncoding,
  window: LineWindow,
  hash: ((bytes: Uint8Array) => void) | undefined,
): Promise<{ readonly atEnd: boolean }> {
  const decode = textDecoder(detected);
  const buffer = Buffer.alloc(Math.min(CHUNK_BYTES, size + 1));
  let reported = 0;
  for (let at = 0; ; ) {
    stopWhenAborted(task);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    const bytes = buffer.subarray(0, bytesRead);
    at += bytesRead;
    hash?.(bytes);
    window.push(decode(bytes, bytesRead === 0));
    if (bytesRead === 0) return { atEnd: true };
    if (window.isFull() && (hash === undefined || at > task.bounds.wholeBytesMax)) return { atEnd: false };
    if (at > task.bounds.scanBytesMax) throw tooFar(task);
    if (at - reported < PROGRESS_BYTES) continue;
    reported = at;
    task.onProgress?.({ progress: at, total: size });
  }
}

const tooFar = ({ bounds }: FileTask): ToolLayerError =>
  new ToolLayerError(
    'E3102',
    `The wanted lines begin more than ${bounds.scanBytesMax} bytes into the file. Read earlier lines, or search with file_grep.`,
  );
