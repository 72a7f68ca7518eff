import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import { sha256 } from '@sallyport/std/sha256';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { memorySkillContents } from '../../../test/stores/tools/memory-skill-contents.ts';
import { importSkills } from '../../registry/importers/skill/skill-importer.ts';
import type { SkillFiles } from '../../registry/skill-files.port.ts';
import type { SkillPackage } from '../../registry/skill-package.ts';
import { createSkillFolders, type SkillFolderParts } from './skill-folders.ts';

/** The result of the import of a skill. */
export interface ImportedSkill {
  readonly manifest: ToolManifest;
  readonly config: SkillPackage;
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** Imports a skill that consists of these files and a SKILL.md. */
export function skillWith(files: Readonly<Record<string, string | Uint8Array>>): ImportedSkill {
  const entry = '---\nname: demo\ndescription: A skill of a test.\n---\n# How\n\nRun `scripts/hello.sh`.\n';
  const all = Object.entries({ 'SKILL.md': entry, ...files }).map(([path, content]) => ({
    path,
    bytes: typeof content === 'string' ? Buffer.from(content) : content,
  }));
  const manifest = importSkills(all).manifests[0] as ToolManifest;
  return {
    manifest,
    config: manifest.executor.config as unknown as SkillPackage,
    contents: new Map(all.map(({ bytes }) => [sha256(bytes), bytes])),
  };
}

/** Folders of skills over contents in memory. */
export const skillFolders = (root: string, parts: Partial<SkillFolderParts> = {}): SkillFiles =>
  createSkillFolders(root, {
    ...{ contents: memorySkillContents(), namedBy: async () => new Set<string>(), clock: systemClock },
    ...parts,
  });

/** A temporary folder that every user may enter. */
export function openFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'skills-')));
}
