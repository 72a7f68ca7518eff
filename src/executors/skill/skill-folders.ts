import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { SkillFiles } from '../../registry/skill-files.port.ts';
import type { SkillPackage } from '../../registry/skill-package.ts';
import { sha256 } from '../../std/sha256.ts';
import { SKILL_RUN_BOUNDS } from './settings.ts';

const UNFINISHED = '.unfinished-';

/**
 * Keeps each skill as a folder named by the hash of its list of files, below `root`, which is made when the first is kept.
 * A folder is written aside and then renamed, so that it is there as a whole or not at all; each look at one checks the
 * contents against the hashes.
 * @param root absolute; of the layer alone. Where everybody may enter it, scripts run under a user of their own
 */
export function createSkillFolders(root: string): SkillFiles {
  return {
    async keep(skill, contents) {
      const folder = join(root, keyOf(skill));
      if (await holds(folder, skill)) return;
      await mkdir(root, { recursive: true });
      await checkRoom(root);
      const aside = join(root, `${UNFINISHED}${randomUUID()}`);
      try {
        await writeAll(aside, skill, contents);
        await putInPlace(aside, folder, skill);
      } catch (thrown) {
        await rm(aside, { recursive: true, force: true });
        if (!(await holds(folder, skill))) throw thrown;
      }
    },
    async folderOf(skill) {
      const folder = join(root, keyOf(skill));
      return (await holds(folder, skill)) ? folder : undefined;
    },
  };
}

/** Names the set of files by their paths and contents, whatever their order. */
function keyOf({ files }: SkillPackage): string {
  return sha256(
    files
      .map(({ path, sha256: hash }) => `${hash} ${path}`)
      .sort()
      .join('\n'),
  );
}

/**
 * Reads a file of a kept skill. A link in its place is not followed.
 * @returns undefined when it is not there, or is not what was imported
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
  // One after the other: a skill has few files, and its whole must not lie in memory.
  for (const file of files) if ((await readKept(folder, file)) === undefined) return false;
  return true;
}

/** Another import may be faster with the same files; what lies there and differs is replaced. */
async function putInPlace(aside: string, folder: string, skill: SkillPackage): Promise<void> {
  try {
    await rename(aside, folder);
  } catch {
    if (!(await holds(folder, skill))) await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  }
}

async function writeAll(
  folder: string,
  { files, scripts }: SkillPackage,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  const startable = new Set(scripts);
  await mkdir(folder, { mode: 0o755 });
  for (const { path, sha256: hash } of files) {
    const bytes = contents.get(hash);
    if (bytes === undefined || sha256(bytes) !== hash) throw missing(path);
    if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) throw missing(path);
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o755 });
    await using handle = await open(join(folder, path), 'wx');
    await handle.writeFile(bytes);
    await handle.sync();
    await chmod(join(folder, path), startable.has(path) ? 0o555 : 0o444);
  }
}

async function checkRoom(root: string): Promise<void> {
  const kept = await readdir(root);
  if (kept.length < SKILL_RUN_BOUNDS.skillsKeptMax) return;
  const message = `The files of ${SKILL_RUN_BOUNDS.skillsKeptMax} skills are kept, as many as may be. Remove some from the folder skills of the data folder.`;
  throw new ToolLayerError('E3810', message);
}

function missing(path: string): ToolLayerError {
  return new ToolLayerError('E3801', `The import lacks the content of ${JSON.stringify(path)}. Send every file.`, {
    details: { path },
  });
}

function isMissing(thrown: unknown): boolean {
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : '';
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
}
