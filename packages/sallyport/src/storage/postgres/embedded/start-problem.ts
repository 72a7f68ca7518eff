import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { codeOf } from '@sallyport/std/error-code';

/** Why the embedded PostgreSQL did not start; `details.problem` of the E3812. */
export type StartProblem =
  | 'platform-unsupported'
  | 'folder-in-use'
  | 'folder-unusable'
  | 'other-major-version'
  | 'disk-full'
  | 'no-unprivileged-user'
  | 'server-failed';

/** Further details for an operator. */
export interface StartProblemDetails {
  readonly folder?: string;
  /** Process that has the folder. */
  readonly pid?: number;
  readonly cause?: unknown;
}

/** The error of a start that failed: E3812, with the problem's name in `details.problem`. */
export function startError(problem: StartProblem, message: string, details: StartProblemDetails = {}): ToolLayerError {
  const { cause, ...places } = details;
  return new ToolLayerError('E3812', message, {
    details: { problem, ...places },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Advice when the embedded server is not available. */
export const USE_A_SERVER = 'set SALLYPORT_DATABASE_URL to the URL of a PostgreSQL server (15 or later)';

/** The error for a folder that cannot be created, read or written. */
export function folderError(folder: string, cause: unknown): ToolLayerError {
  const code = codeOf(cause);
  const reason = REASONS[code] ?? `it cannot be used (${code || 'unknown reason'})`;
  const problem = code === 'ENOSPC' || code === 'EDQUOT' ? 'disk-full' : 'folder-unusable';
  return startError(problem, `Data folder ${folder}: ${reason}.`, { folder, cause });
}

const READ_ONLY = 'it is not writable; make it writable for this user, or choose another data folder';
const REASONS: Readonly<Record<string, string>> = {
  EACCES: READ_ONLY,
  EPERM: READ_ONLY,
  EROFS: 'it lies on a read-only file system; choose another data folder',
  ENOENT: 'it cannot be made there; choose a data folder on a writable file system',
  ENOTDIR: 'a part of the path is a file, not a folder; choose another data folder',
  EEXIST: 'there is a file of this name; choose another data folder',
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: "this user's disk quota is used up; free some space",
};
