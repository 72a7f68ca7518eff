import { KiB, MiB } from '@sallyport/std/bytes';

/** Which files the tools may touch within the roots of a call. What is denied wins over what is allowed. */
export interface FileSettings {
  /** Globs of paths that are never read, listed or searched. */
  readonly denyRead: readonly string[];
  /** When not empty, only files that fit one of these globs are read. */
  readonly allowRead: readonly string[];
  /** Globs of paths that are never written, beside those of `denyRead`. */
  readonly denyWrite: readonly string[];
  /** When not empty, only files that fit one of these globs are written. */
  readonly allowWrite: readonly string[];
}

/** Used for every setting that is not given (seeds 002, "Per-Path File Read Sandbox"). */
export const FILE_DEFAULTS: FileSettings = {
  denyRead: ['**/.env', '**/secrets/**', '**/.git/config'],
  allowRead: [],
  denyWrite: ['**/.git/**'],
  allowWrite: [],
};

/** What the file tools may take up. Tests narrow or widen them; nobody else does. */
export interface FileBounds {
  /** Text or Base64 of one read, in bytes; the call's own output limit may be lower. */
  readonly readBytesMax: number;
  /** Bytes that a read goes through to find its first line. */
  readonly scanBytesMax: number;
  /** Size up to which a read tells the number of lines and the hash of the whole file, in bytes. */
  readonly wholeBytesMax: number;
  /** Size of a file that is written, and of one that is edited, in bytes. */
  readonly writeBytesMax: number;
  /** Size of a file that is replaced, in bytes: it has to be hashed before. */
  readonly replacedBytesMax: number;
  /** Folders between the searched one and an entry. */
  readonly depthMax: number;
  /** Entries of one folder that are looked at. */
  readonly folderEntriesMax: number;
  /** Entries that one list, glob or grep looks at. */
  readonly entriesMax: number;
  /** Size of a file that is searched, in bytes; larger ones are skipped and counted. */
  readonly grepFileBytesMax: number;
  /** Bytes that one grep goes through. */
  readonly grepBytesMax: number;
  /** Characters of a line that are searched; the rest of a longer line is not. */
  readonly grepLineMax: number;
  /** Time of one glob or grep, in ms; what was found until then is the result. */
  readonly searchMs: number;
}

export const FILE_BOUNDS: FileBounds = {
  readBytesMax: 256 * KiB,
  scanBytesMax: 512 * MiB,
  wholeBytesMax: 8 * MiB,
  writeBytesMax: 8 * MiB,
  replacedBytesMax: 64 * MiB,
  depthMax: 48,
  folderEntriesMax: 50_000,
  entriesMax: 200_000,
  grepFileBytesMax: 16 * MiB,
  grepBytesMax: 256 * MiB,
  grepLineMax: 4 * KiB,
  searchMs: 15_000,
};
