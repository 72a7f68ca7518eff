import type { RawName } from '../../folder-handle.ts';
import type { Scope } from './scope.ts';

/**
 * Identifies the state of an untouched file: every change of content or rights moves `ctime`, which no program can set.
 */
export interface Stamp {
  readonly dev: string;
  readonly ino: string;
  readonly size: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

/** Owner, rights and time. */
export interface Marks {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly atimeMs: number;
  readonly mtimeMs: number;
}

/** One name of the secured tree. */
export type Entry = { readonly name: RawName } & (
  | { readonly kind: 'folder'; readonly marks: Marks; readonly inScope: boolean; readonly entries: readonly Entry[] }
  | { readonly kind: 'file'; readonly marks: Marks; readonly stamp: Stamp; readonly content: number }
  | { readonly kind: 'link'; readonly marks: Marks; readonly target: RawName }
  /** Sockets, pipes and devices: left unchanged. */
  | { readonly kind: 'other' }
);

/** Position of one file's content in the pack. Hard links share it. */
export interface Content {
  readonly size: number;
  /** Offset in the file, offset in the pack, bytes; gaps are holes. */
  readonly extents: readonly (readonly [at: number, from: number, length: number])[];
}

/** One granted folder, or the folder of one granted file. */
export interface SecuredRoot {
  /** Path of the folder when granted, without links. */
  readonly path: string;
  readonly only?: RawName;
  readonly dev: string;
  readonly ino: string;
  readonly marks: Marks;
  readonly entries: readonly Entry[];
}

/** A tree at the time of the snapshot; plain JSON. */
export interface Snapshot {
  /** Epoch ms of its beginning. */
  readonly takenAt: number;
  readonly globs: readonly string[];
  readonly roots: readonly SecuredRoot[];
  readonly contents: readonly Content[];
}

/** Reason why no snapshot can be made; a sentence without a full stop, safe for the caller. */
export class NotSecured extends Error {
  override name = 'NotSecured';
  /** Set when `max_snapshot_bytes` was reached. */
  readonly bytesMax: number | undefined;
  constructor(why: string, extras: { readonly cause?: unknown; readonly bytesMax?: number } = {}) {
    super(why, { cause: extras.cause });
    this.bytesMax = extras.bytesMax;
  }
}

/** The path now leads to another folder than the secured one, or is a link; nothing was restored. */
export class AnotherFolder extends Error {
  override name = 'AnotherFolder';
  readonly path: string;
  constructor(path: string, extras: { readonly cause?: unknown } = {}) {
    super(`${path} is another folder than the one that was secured`, extras);
    this.path = path;
  }
}

/** Position of a walk in a tree. */
export interface Place {
  readonly path: RawName;
  readonly depth: number;
}

/** The position of a name below another. */
export function below({ path, depth }: Place, name: RawName): Place {
  return { path: path === '' ? name : `${path}/${name}`, depth: depth + 1 };
}

export const TOP: Place = { path: '', depth: 0 };

/** Names of a folder that belong to the root: all, or the one granted file. */
export function namesOf(names: readonly RawName[], only: RawName | undefined): readonly RawName[] {
  return only === undefined ? names : names.filter((name) => name === only);
}

/** Only folders that may contain secured files are walked. */
export const entersFolder = (scope: Scope, { path }: Place): boolean => scope.mayHoldBelow(path);
