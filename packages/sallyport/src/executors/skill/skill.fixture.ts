import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@sallyport/std/sha256';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { importSkills } from '../../registry/importers/skill/skill-importer.ts';
import type { SkillPackage } from '../../registry/skill-package.ts';

/** A skill as it comes out of its import. */
export interface ImportedSkill {
  readonly manifest: ToolManifest;
  readonly config: SkillPackage;
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** Imports a skill with these files beside its SKILL.md. */
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

/** A folder that everybody may enter, in a folder for temporary files. */
export function openFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'skills-')));
}
