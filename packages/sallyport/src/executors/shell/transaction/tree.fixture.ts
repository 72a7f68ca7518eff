import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restoreTree } from './restore-tree.ts';
import type { Snapshot } from './snapshot.ts';
import { takeSnapshot } from './take-snapshot.ts';

const never = new AbortController().signal;

/** A temporary folder with a tree to take snapshots of (`tree`), and one that must not change (`outside`). */
export function newScratch(): { readonly folder: string; readonly tree: string; remove(): void } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'transaction-')));
  return { folder, tree: join(folder, 'tree'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A tree as text: kinds, contents, rights, times in ms, links, and which names are hard links of one file. */
export function described(folder: string): readonly string[] {
  const inodes = new Map<bigint, string>();
  const lines: string[] = [];
  const walk = (path: Buffer, name: string): void => {
    const stats = lstatSync(path, { bigint: true });
    const first = inodes.get(stats.ino) ?? name;
    inodes.set(stats.ino, first);
    const what = stats.isDirectory()
      ? 'folder'
      : stats.isSymbolicLink()
        ? `link ${readlinkSync(path, 'latin1')}`
        : stats.isFile()
          ? `file ${readFileSync(path).toString('base64').slice(0, 400)} ${stats.size} ${stats.nlink} ${first}`
          : 'other';
    lines.push(
      `${name} ${what} ${stats.mode.toString(8)} ${stats.uid} ${Math.round(Number(stats.mtimeNs / 1000n) / 1000)}`,
    );
    if (!stats.isDirectory()) return;
    for (const each of readdirSync(path, { encoding: 'latin1' }).sort())
      walk(Buffer.concat([path, Buffer.from(`/${each}`, 'latin1')]), `${name}/${each}`);
  };
  walk(Buffer.from(folder), '');
  return lines;
}

/** Takes a snapshot of a folder, with the contents in a separate file. */
export async function secure(
  scratch: string,
  paths: readonly string[],
  globs: readonly string[] = ['**'],
  bytesMax = 0,
): Promise<{ readonly snapshot: Snapshot; restore(): Promise<void> } & AsyncDisposable> {
  const pack: FileHandle = await open(join(scratch, 'pack'), 'w+');
  try {
    const held = await takeSnapshot({ paths, globs, bytesMax, pack, signal: never });
    const { snapshot } = held;
    return {
      snapshot,
      restore: () => restoreTree(snapshot, pack, () => undefined),
      async [Symbol.asyncDispose]() {
        await held[Symbol.asyncDispose]();
        await pack.close();
      },
    };
  } catch (thrown) {
    await pack.close();
    throw thrown;
  }
}
