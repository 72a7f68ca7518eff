import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** Most characters of a path in a message. */
const SHOWN_MAX = 200;

/** A path for messages: one line, quoted, cut. */
export function shown(path: string): string {
  return JSON.stringify(path.length > SHOWN_MAX ? `${path.slice(0, SHOWN_MAX)}…` : path);
}

/** E3105: the path is outside the call's folders. Reveals nothing of what is there. */
export const outside = (path: string): ToolLayerError =>
  new ToolLayerError('E3105', `${shown(path)} lies or leads outside of the folders that this call may use.`);

/** E3210: a glob of the settings, or the kind of file system, forbids it. */
export const forbidden = (path: string, why: string): ToolLayerError =>
  new ToolLayerError('E3210', `${shown(path)} ${why}. Do not try again; use another file.`);

/** E3109: a fault that the model can fix. */
export const fault = (message: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3109', message, cause === undefined ? {} : { cause });

/** E3704: another writer was faster. */
export const conflict = (path: string): ToolLayerError =>
  new ToolLayerError(
    'E3704',
    `${shown(path)} was changed by somebody else meanwhile. Read it again, then repeat the change.`,
  );

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'goes through something that is not a folder',
  EISDIR: 'is a folder',
  EACCES: 'may not be opened by the account that the layer runs under',
  EPERM: 'may not be changed by the account that the layer runs under',
  ENAMETOOLONG: 'has a name that is too long for the file system',
  EROFS: 'lies on a file system that is read-only',
  ENOSPC: 'has no space left on its file system',
  EDQUOT: 'has no space left in the quota of its file system',
  EMFILE: 'cannot be opened now, since too many files are open',
  ENFILE: 'cannot be opened now, since too many files are open',
  ELOOP: 'was replaced by a link while it was opened',
  ENXIO: 'is not a file',
  EIO: 'cannot be read from its disk',
  ESTALE: 'vanished while it was used',
};

/** An error of the operating system as E3109; our own errors pass unchanged. */
export function osFault(thrown: unknown, path: string): ToolLayerError {
  if (thrown instanceof ToolLayerError) return thrown;
  const code = codeOf(thrown);
  const reason = (code === undefined ? undefined : REASONS[code]) ?? 'cannot be used';
  return fault(`${shown(path)} ${reason}.`, thrown);
}

/** The system's error code, such as `ENOENT`. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
