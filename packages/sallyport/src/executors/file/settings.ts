import { KiB, MiB } from '@sallyport/std/bytes';
import { list } from '../../domain/settings/rows.ts';
import type { ValuesOf } from '../../domain/settings/setting.ts';

/**
 * Settings of the files that tools may access within the roots of a call. Deny wins over allow (seeds 002, "Per-Path
 * File Read Sandbox").
 */
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

/** Values of the file settings. */
export type FileSettings = ValuesOf<typeof FILE_SETTINGS>;

/** Limits of the file tools. Only tests change them. */
export interface FileBounds {
  /** Most text or Base64 of one read, in bytes; the call's own output limit may be lower. */
  readonly readBytesMax: number;
  /** Most bytes that a read scans to find its first line. */
  readonly scanBytesMax: number;
  /** Largest file whose number of lines and hash a read reports, in bytes. */
  readonly wholeBytesMax: number;
  /** Largest file that is written or edited, in bytes. */
  readonly writeBytesMax: number;
  /** Largest file that is replaced, in bytes: it must be hashed before. */
  readonly replacedBytesMax: number;
  /** Most folder levels between the searched folder and an entry. */
  readonly depthMax: number;
  /** Most entries of one folder that are read. */
  readonly folderEntriesMax: number;
  /** Most entries that one list, glob or grep visits. */
  readonly entriesMax: number;
  /** Largest file that is searched, in bytes; larger ones are skipped and counted. */
  readonly grepFileBytesMax: number;
  /** Most bytes that one grep reads. */
  readonly grepBytesMax: number;
  /** Most characters of a line that are searched; the rest of a longer line is not. */
  readonly grepLineMax: number;
  /** Longest glob or grep, in ms; the matches found until then are the result. */
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
