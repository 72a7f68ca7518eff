import { KiB, MiB } from '@sallyport/std/bytes';
import { list } from '../../domain/settings/rows.ts';
import { defaultsOf, type ValuesOf } from '../../domain/settings/setting.ts';

/** Which files the tools may touch within the roots of a call. What is denied wins over what is allowed (seeds 002, "Per-Path File Read Sandbox"). */
export const FILE_SETTINGS = {
  denyRead: list('file.deny_read', {
    default: ['**/.env', '**/secrets/**', '**/.git/config'],
    sentence: 'Globs over canonical paths that file tools never read, list or search. Asked before what is allowed.',
  }),
  allowRead: list('file.allow_read', {
    default: [],
    sentence: 'When not empty, file tools read only files that fit one of these globs.',
  }),
  denyWrite: list('file.deny_write', {
    default: ['**/.git/**'],
    sentence: 'Globs over canonical paths that file tools never write, beside those of file.deny_read.',
  }),
  allowWrite: list('file.allow_write', {
    default: [],
    sentence: 'When not empty, file tools write only files that fit one of these globs.',
  }),
};

/** Which files the tools may touch. */
export type FileSettings = ValuesOf<typeof FILE_SETTINGS>;

/** Used for every setting that is not given. */
export const FILE_DEFAULTS: FileSettings = defaultsOf(FILE_SETTINGS);

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
