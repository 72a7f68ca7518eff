import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import type { SkillContents, SkillFiles } from '../../registry/skill-files.port.ts';
import type { SkillPackage } from '../../registry/skill-package.ts';
import { SKILL_RUN_BOUNDS } from './settings.ts';

const UNFINISHED = '.unfinished-';

/** Dependencies of the folders beside the disk. */
export interface SkillFolderParts {
  /** Storage shared by every instance. */
  readonly contents: SkillContents;
  /** Hashes that a tenant's skills refer to. */
  readonly namedBy: (tenantId: string) => Promise<ReadonlySet<string>>;
  readonly clock: Clock;
}

/**
 * Keeps each skill as a folder named by its tenant and the hash of its list of files and scripts, below `root`, which is created
 * with the first. A folder is written aside and then renamed, so that it is complete or absent; each read checks the
 * contents against the hashes. The shared storage is authoritative; folders are copies of it, made where they are missing
 * or were changed.
 * @param root absolute; private to the layer. When everybody may enter it, scripts run under a user of their own
 */
export function createSkillFolders(root: string, parts: SkillFolderParts): SkillFiles {
  const { contents: shared, clock } = parts;
  const ready = async (tenantId: string, skill: SkillPackage, bytesOf: BytesOf): Promise<string> => {
    const folder = join(root, keyOf(tenantId, skill));
    if (await holds(folder, skill)) return folder;
    await mkdir(root, { recursive: true });
    await makeRoom(root, clock.now() - SKILL_RUN_BOUNDS.unusedMsMin);
    const aside = join(root, `${UNFINISHED}${randomUUID()}`);
    try {
      await writeAll(aside, skill, bytesOf);
      await putInPlace(aside, folder, skill);
    } catch (thrown) {
      await rm(aside, { recursive: true, force: true });
      if (!(await holds(folder, skill))) throw thrown;
    }
    return folder;
  };
  return {
    async keep(tenantId, skill, contents) {
      const own = contentsOf(skill, contents);
      await putWithRoom(parts, tenantId, own);
      await ready(tenantId, skill, async (hash) => own.get(hash));
    },
    async folderOf(tenantId, skill) {
      const folder = join(root, keyOf(tenantId, skill));
      if (await holds(folder, skill)) {
        const now = clock.now() / 1000;
        // Where the time cannot be set, the folder only makes room earlier.
        await utimes(folder, now, now).catch(() => undefined);
        return folder;
      }
      try {
        return await ready(tenantId, skill, (hash) => shared.get(tenantId, hash));
      } catch (thrown) {
        // It is not stored completely.
        if (thrown instanceof ToolLayerError && thrown.code === 'E3801') return undefined;
        throw thrown;
      }
    },
  };
}

type BytesOf = (hash: string) => Promise<Uint8Array | undefined>;

/** The contents of one skill, each verified by its hash. */
function contentsOf(
  { files }: SkillPackage,
  contents: ReadonlyMap<string, Uint8Array>,
): ReadonlyMap<string, Uint8Array> {
  return new Map(
    files.map(({ path, sha256: hash }) => {
      const bytes = contents.get(hash);
      if (bytes === undefined || sha256(bytes) !== hash || !isInside(path)) throw missing(path);
      return [hash, bytes] as const;
    }),
  );
}

const isInside = (path: string): boolean =>
  !path.split('/').some((part) => part === '' || part === '.' || part === '..');

/** When a tenant's room is full, contents of removed skills are deleted. */
async function putWithRoom(
  { contents: shared, namedBy, clock }: SkillFolderParts,
  tenantId: string,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  try {
    await shared.put(tenantId, contents);
  } catch (thrown) {
    if (!(thrown instanceof ToolLayerError) || thrown.code !== 'E3810') throw thrown;
    const removed = await shared.sweep(tenantId, await namedBy(tenantId), clock.now() - SKILL_RUN_BOUNDS.unnamedMsMin);
    if (removed === 0) throw thrown;
    await shared.put(tenantId, contents);
  }
}

/**
 * Key of a set of files by their paths, contents and whether they can be started, independent of order. Tenants never
 * share a folder.
 */
function keyOf(tenantId: string, { files, scripts }: SkillPackage): string {
  const startable = new Set(scripts);
  const list = files
    .map(({ path, sha256: hash }) => `${startable.has(path) ? 'script ' : ''}${hash} ${path}`)
    .sort()
    .join('\n');
  return sha256(`${sha256(tenantId)}\n${list}`);
}

/**
 * Reads a file of a stored skill. A link in its place is not followed.
 * @returns undefined when it is missing, or differs from the import
 */
export async function readKept(folder: string, file: SkillPackage['files'][number]): Promise<Buffer | undefined> {
  try {
    await using handle = await open(join(folder, file.path), constants.O_RDONLY | constants.O_NOFOLLOW);
    if ((await handle.stat()).size !== file.bytes) return undefined;
    const bytes = await handle.readFile();
    return sha256(bytes) === file.sha256 ? bytes : undefined;
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

async function holds(folder: string, { files }: SkillPackage): Promise<boolean> {
  const there = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!there) return false;
  // In sequence: a skill has few files, and they must not all be in memory.
  for (const file of files) if ((await readKept(folder, file)) === undefined) return false;
  return true;
}

/** Another import may be faster with the same files; a differing folder is replaced. */
async function putInPlace(aside: string, folder: string, skill: SkillPackage): Promise<void> {
  try {
    await rename(aside, folder);
  } catch {
    if (!(await holds(folder, skill))) await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  }
}

async function writeAll(folder: string, { files, scripts }: SkillPackage, bytesOf: BytesOf): Promise<void> {
  const startable = new Set(scripts);
  await mkdir(folder, { mode: 0o755 });
  for (const { path, sha256: hash } of files) {
    const bytes = await bytesOf(hash);
    // A manifest may have been written by hand, so its paths are checked here too.
    if (bytes === undefined || sha256(bytes) !== hash || !isInside(path)) throw missing(path);
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o755 });
    await using handle = await open(join(folder, path), 'wx');
    await handle.writeFile(bytes);
    await handle.sync();
    await chmod(join(folder, path), startable.has(path) ? 0o555 : 0o444);
  }
}

/** Removes folders that no call has used for long, once their number reaches the limit: each is a copy. */
async function makeRoom(root: string, unusedSince: number): Promise<void> {
  const kept = await readdir(root);
  if (kept.length < SKILL_RUN_BOUNDS.skillsKeptMax) return;
  let removed = 0;
  for (const name of kept) {
    const folder = join(root, name);
    // One that is gone made room already, for another call.
    const { mtimeMs = 0 } = (await stat(folder).catch(absent)) ?? {};
    if (mtimeMs >= unusedSince) continue;
    await rm(folder, { recursive: true, force: true });
    removed += 1;
  }
  if (removed > 0) return;
  const message = `The files of ${SKILL_RUN_BOUNDS.skillsKeptMax} skills are kept, as many as may be. Remove some from the folder skills of the data folder.`;
  throw new ToolLayerError('E3810', message);
}

function missing(path: string): ToolLayerError {
  return new ToolLayerError('E3801', `The import lacks the content of ${JSON.stringify(path)}. Send every file.`, {
    details: { path },
  });
}

function absent(thrown: unknown): undefined {
  if (!isMissing(thrown)) throw thrown;
}

function isMissing(thrown: unknown): boolean {
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : '';
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
}
