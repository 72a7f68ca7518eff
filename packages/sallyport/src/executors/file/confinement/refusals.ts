import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** Characters of a path that a message repeats. */
const SHOWN_MAX = 200;

/** A path as a message may show it: one line, quoted, cut. */
export function shown(path: string): string {
  return JSON.stringify(path.length > SHOWN_MAX ? `${path.slice(0, SHOWN_MAX)}…` : path);
}

/** E3105: the path is not within the call's folders. Says nothing of what is outside. */
export const outside = (path: string): ToolLayerError =>
  new ToolLayerError('E3105', `${shown(path)} lies or leads outside of the folders that this call may use.`);

/** E3210: a glob of the settings, or the kind of file system, forbids it. */
export const forbidden = (path: string, why: string): ToolLayerError =>
  new ToolLayerError('E3210', `${shown(path)} ${why}. Do not try again; use another file.`);

/** E3109: what the model can mend. */
export const fault = (message: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3109', message, cause === undefined ? {} : { cause });

/** E3704: somebody else was faster. */
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

/** What went wrong with a path as E3109; what is ours already passes. */
export function osFault(thrown: unknown, path: string): ToolLayerError {
  if (thrown instanceof ToolLayerError) return thrown;
  const code = codeOf(thrown);
  const reason = (code === undefined ? undefined : REASONS[code]) ?? 'cannot be used';
  return fault(`${shown(path)} ${reason}.`, thrown);
}

/** `ENOENT` and its like. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
