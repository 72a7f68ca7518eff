import type { RawName } from '../../folder-handle.ts';
import type { Scope } from './scope.ts';

/** By what a file is known that nobody touched: every change of content or rights moves `ctime`, which no program can set. */
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
  /** Sockets, pipes and devices: left as they are found. */
  | { readonly kind: 'other' }
);

/** Where the content of one file lies in the pack. Names of one file share it. */
export interface Content {
  readonly size: number;
  /** In the file, in the pack, bytes; what lies between is a hole. */
  readonly extents: readonly (readonly [at: number, from: number, length: number])[];
}

/** One granted folder, or the one granted file in it. */
export interface SecuredRoot {
  /** Path of the folder as it was granted, without links. */
  readonly path: string;
  readonly only?: RawName;
  readonly dev: string;
  readonly ino: string;
  readonly marks: Marks;
  readonly entries: readonly Entry[];
}

/** A tree as it was; plain JSON. */
export interface Snapshot {
  /** Epoch ms when it was begun. */
  readonly takenAt: number;
  readonly globs: readonly string[];
  readonly roots: readonly SecuredRoot[];
  readonly contents: readonly Content[];
}

/** Why no snapshot can be had; a sentence without a full stop, safe for the caller. */
export class NotSecured extends Error {
  override name = 'NotSecured';
  /** Set when `max_snapshot_bytes` was reached. */
  readonly bytesMax: number | undefined;
  constructor(why: string, extras: { readonly cause?: unknown; readonly bytesMax?: number } = {}) {
    super(why, { cause: extras.cause });
    this.bytesMax = extras.bytesMax;
  }
}

/** At its path is another folder than the one that was secured, or a link; nothing was restored. */
export class AnotherFolder extends Error {
  override name = 'AnotherFolder';
  readonly path: string;
  constructor(path: string, extras: { readonly cause?: unknown } = {}) {
    super(`${path} is another folder than the one that was secured`, extras);
    this.path = path;
  }
}

/** What a walk through a tree needs to know of its place. */
export interface Place {
  readonly path: RawName;
  readonly depth: number;
}

/** The place of a name below another. */
export function below({ path, depth }: Place, name: RawName): Place {
  return { path: path === '' ? name : `${path}/${name}`, depth: depth + 1 };
}

export const TOP: Place = { path: '', depth: 0 };

/** Names of a folder that belong to the root: all, or the one file that was granted. */
export function namesOf(names: readonly RawName[], only: RawName | undefined): readonly RawName[] {
  return only === undefined ? names : names.filter((name) => name === only);
}

/** Folders are walked where something in them may be secured. */
export const entersFolder = (scope: Scope, { path }: Place): boolean => scope.mayHoldBelow(path);
