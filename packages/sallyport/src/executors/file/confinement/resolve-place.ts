// Resolves a requested path to an open handle: one name at a time, with links read and walked by hand, never followed
// by the kernel. Whatever is swapped meanwhile, the result is always a handle below a root.
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, readlink, statfs } from 'node:fs/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { abortReason } from '../../abort-reason.ts';
import { PROBE, PROBE_FOLDER } from '../../folder-handle.ts';
import type { Handles } from './handles.ts';
import { codeOf, fault, forbidden, osFault, outside, shown } from './refusals.ts';
import { isWritable, leadsToRoot, type Root, rootAt } from './roots.ts';

/** Most links on the way; the kernel's limit. */
const LINKS_MAX = 40;
/** Most names visited on the way, those of links included. */
const STEPS_MAX = 1024;

/** The target of a path, held open. Closing it closes the handles. */
export interface Place extends AsyncDisposable {
  /** Absolute, without links. */
  readonly path: string;
  readonly writable: boolean;
  /** The folder that contains the name; absent when the place is a root. */
  readonly folder?: FileHandle;
  /** Last part of `path`. */
  readonly name: string;
  /** Probe of the existing file; absent when nothing exists. */
  readonly node?: FileHandle;
  readonly stats?: BigIntStats;
  /** Parts that do not exist yet, the name last; empty when `node` exists. */
  readonly missing: readonly string[];
}

export interface Walkable {
  readonly handles: Handles;
  readonly roots: readonly Root[];
  readonly signal: AbortSignal;
}

interface Walk extends Walkable {
  readonly requested: string;
  /** Remaining names, the next one last. */
  readonly pending: string[];
  /** Canonical parts so far. */
  parts: string[];
  parent: FileHandle | undefined;
  /** The file at `parts`; absent while the path is still above every root. */
  node: FileHandle | undefined;
  links: number;
}

/**
 * Walks to a path within the roots.
 * @throws ToolLayerError E3105 when it leaves them, E3109 when it cannot be walked, E3901 where /proc is missing
 */
export async function resolvePlace(within: Walkable, requested: string): Promise<Place> {
  await within.handles.verify();
  const [first] = within.roots;
  if (first === undefined) throw new ToolLayerError('E3105', 'This call may use no folder. Ask for a grant of one.');
  if (requested.includes('\0')) throw fault('A path holds no NUL character.');
  const whole = requested.startsWith('/') ? requested : `${first.path}/${requested}`;
  const walk: Walk = {
    ...within,
    requested,
    pending: whole.split('/').reverse(),
    parts: [],
    parent: undefined,
    node: undefined,
    links: 0,
  };
  try {
    const missing = await follow(walk);
    return await placeOf(walk, missing);
  } catch (thrown) {
    await leave(walk);
    throw osFault(thrown, requested);
  }
}

/** Walks to the end; returns the parts that do not exist. */
async function follow(walk: Walk): Promise<readonly string[]> {
  await enterRoot(walk);
  for (let steps = 0; ; steps += 1) {
    const name = walk.pending.pop();
    if (name === undefined) break;
    if (name === '' || name === '.') continue;
    if (steps >= STEPS_MAX) throw fault(`${shown(walk.requested)} has more than ${STEPS_MAX} parts.`);
    if (walk.signal.aborted) throw abortReason(walk.signal);
    if (name === '..') await goUp(walk);
    else if (walk.node === undefined) await goTowardsRoot(walk, name);
    else if (!(await goDown(walk, walk.node, name))) return missingParts(walk, name);
  }
  if (walk.node === undefined) throw outside(walk.requested);
  return [];
}

/** Goes to the parent folder by walking the canonical path again, from the root. */
async function goUp(walk: Walk): Promise<void> {
  walk.pending.push(...walk.parts.slice(0, -1).reverse());
  await startOver(walk);
}

async function startOver(walk: Walk): Promise<void> {
  await leave(walk);
  walk.parts = [];
  await enterRoot(walk);
}

async function leave(walk: Walk): Promise<void> {
  const open = [walk.parent, walk.node];
  walk.parent = undefined;
  walk.node = undefined;
  for (const handle of open) await handle?.close();
}

async function goTowardsRoot(walk: Walk, name: string): Promise<void> {
  walk.parts.push(name);
  if (await enterRoot(walk)) return;
  if (!leadsToRoot(walk.roots, walk.parts)) throw outside(walk.requested);
}

/**
 * Opens the root exactly at the walk's parts, if there is one. Roots come from operators, yet tools may have changed
 * them: links are refused.
 */
async function enterRoot(walk: Walk): Promise<boolean> {
  const root = rootAt(walk.roots, walk.parts);
  if (root === undefined) return false;
  let node = await open('/', PROBE_FOLDER);
  try {
    for (const part of root.parts) {
      const next = await walk.handles.openAt(node, part, PROBE);
      await node.close();
      node = next;
      if ((await node.stat()).isSymbolicLink()) throw linkedRoot(root);
    }
  } catch (thrown) {
    await node.close();
    throw thrown;
  }
  walk.node = node;
  return true;
}

const linkedRoot = ({ path }: Root): ToolLayerError =>
  new ToolLayerError('E3105', `The granted folder ${shown(path)} is reached through a link. Grant its real path.`);

/** Opens one name below an open folder. False when it does not exist. */
async function goDown(walk: Walk, folder: FileHandle, name: string): Promise<boolean> {
  let child: FileHandle;
  try {
    child = await walk.handles.openAt(folder, name, PROBE);
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return false;
    throw thrown;
  }
  if ((await child.stat()).isSymbolicLink()) {
    await child.close();
    await goThroughLink(walk, folder, name);
    return true;
  }
  const { parent } = walk;
  walk.parent = folder;
  walk.node = child;
  walk.parts.push(name);
  await parent?.close();
  return true;
}

/**
 * A link's text is walked like a requested path. The link may have been swapped since: its text is checked, not the
 * link.
 */
async function goThroughLink(walk: Walk, folder: FileHandle, name: string): Promise<void> {
  walk.links += 1;
  if (walk.links > LINKS_MAX) throw fault(`${shown(walk.requested)} goes through more than ${LINKS_MAX} links.`);
  const target = await readlink(walk.handles.at(folder, name)).catch((thrown: unknown) => {
    if (codeOf(thrown) !== 'EINVAL') throw thrown;
    throw fault(`${shown(walk.requested)} changed while it was looked at. Try again.`, thrown);
  });
  walk.pending.push(...target.split('/').reverse());
  if (target.startsWith('/')) await startOver(walk);
}

function missingParts({ pending, requested }: Walk, name: string): readonly string[] {
  const rest = pending.filter((part) => part !== '' && part !== '.').reverse();
  if (rest.includes('..')) throw fault(`${shown(requested)} does not exist.`);
  return [name, ...rest];
}

/** Types of file systems (from statfs) whose files give access to the kernel or to other processes. */
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x73636673, // securityfs
  0xcafe4a11, // bpf
  0xf97cff8c, // selinux
]);

async function placeOf(walk: Walk, missing: readonly string[]): Promise<Place> {
  const { node, parent, roots, handles, requested } = walk;
  if (node === undefined) throw outside(requested);
  const { type } = await statfs(handles.at(node));
  if (KERNEL_FILE_SYSTEMS.has(type)) throw forbidden(requested, 'lies where the kernel shows itself, not files');
  const parts = [...walk.parts, ...missing];
  const found = missing.length === 0;
  const folder = found ? parent : node;
  return {
    path: `/${parts.join('/')}`,
    writable: isWritable(roots, parts),
    name: parts.at(-1) ?? '',
    missing,
    ...(folder === undefined ? {} : { folder }),
    ...(found ? { node, stats: await node.stat({ bigint: true }) } : {}),
    [Symbol.asyncDispose]: () => leave(walk),
  };
}
