import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../api/schemas/error.ts';
import type { FilesystemPermission, ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import { pathCheck } from './grant/bounds.ts';
import { normalPath } from './grant/normal-path.ts';
import { deadMarksOf, EACH, type PathRule, pathRulesOf } from './grant/path-rules.ts';

/** Most paths in one call's arguments. */
const PATHS_MAX = 1000;

interface PathArgument {
  readonly pointer: string;
  readonly value: unknown;
  readonly mode: FilesystemPermission['mode'];
}

/**
 * Checks the arguments that the manifest marks with `x-path: "ro" | "rw"` against the grant: each must be an absolute
 * path in normal form within the grant's filesystem at that mode, and still be so after every symbolic link on the way
 * is followed. A link that leads nowhere is refused, since writing through it would make a file at its target.
 * Synchronous, and at once, for tools without such parameters. A file system may change between check and use; the
 * sandbox's mounts are the bound that holds then.
 * @returns E3203 with the JSON Pointer of the argument; undefined when all are within
 */
export function checkPathArguments(
  manifest: ToolManifest,
  parameters: Readonly<Record<string, unknown>>,
  grant: Grant,
): Failure | undefined | Promise<Failure | undefined> {
  const found: PathArgument[] = [];
  for (const rule of pathRulesOf(manifest)) collect(rule, 0, parameters, '', found);
  if (found.length === 0) return undefined;
  if (found.length > PATHS_MAX)
    return failure('E3203', `The arguments hold more than ${PATHS_MAX} paths. Split the call.`);
  return checkAll(found, grant);
}

/**
 * Marks of a manifest that `checkPathArguments` would not see, checked at registration: an unknown mode, or a place
 * that `properties` and `items` alone do not reach. Such a manifest must be refused, since nobody would check what the
 * mark promises.
 */
export function pathMarkFaults(manifest: ToolManifest): readonly Fault[] {
  return deadMarksOf(manifest);
}

function collect(rule: PathRule, level: number, value: unknown, pointer: string, found: PathArgument[]): void {
  if (found.length > PATHS_MAX || value === undefined || value === null) return;
  const segment = rule.segments[level];
  if (segment === undefined) {
    found.push({ pointer, value, mode: rule.mode });
  } else if (segment === EACH) {
    if (!Array.isArray(value)) return;
    for (const [index, item] of value.entries()) collect(rule, level + 1, item, pointerTo(pointer, index), found);
  } else if (typeof value === 'object' && Object.hasOwn(value, segment)) {
    collect(rule, level + 1, (value as Record<string, unknown>)[segment], pointerTo(pointer, segment), found);
  }
}

async function checkAll(found: readonly PathArgument[], grant: Grant): Promise<Failure | undefined> {
  const allows = pathCheck(grant.filesystem);
  const roots: FilesystemPermission[] = [];
  for (const { path, mode } of grant.filesystem) roots.push({ path: (await realPathOf(path)) ?? path, mode });
  const allowsReal = pathCheck(roots);
  for (const { pointer, value, mode } of found) {
    const path = typeof value === 'string' ? value : '';
    const plain = path.length > 1 ? path.replace(/\/$/, '') : path;
    if (plain === '' || normalPath(plain) !== plain)
      return refused(pointer, 'must be an absolute path without "." and ".." and "//"');
    if (!allows({ path: plain, mode }))
      return refused(pointer, `lies outside the paths that may be used with mode ${mode}`);
    const real = await realPathOf(plain);
    if (real === undefined || !allowsReal({ path: real, mode }))
      return refused(pointer, 'leads through a link to a place that may not be used');
  }
  return undefined;
}

function refused(pointer: string, why: string): Failure {
  return failure('E3203', `The argument at ${pointer} ${why}. Use a path within the grant.`, {
    details: { path: pointer },
  });
}

/** The path with its links followed as far as it exists; undefined when that cannot be determined. */
async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path === '/') return undefined;
  }
  if (await exists(path)) return undefined;
  const parent = await realPathOf(dirname(path));
  return parent === undefined ? undefined : join(parent, basename(path));
}

/** True when something of that name exists, a dangling link included. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}
