import type { SkillPackage } from './skill-package.ts';

/**
 * Where the files of imported skills are kept. The manifest lists each file with its SHA-256, so what was imported is
 * found again by content, and what differs from it is never used.
 */
export interface SkillFiles {
  /**
   * Keeps the files of one skill. Durable when it resolves; idempotent, and skills with the same files are kept once.
   * @param contents every content of the import, by SHA-256 hex; those of other skills are passed over
   * @throws ToolLayerError E3801 when a content is missing or is another than its hash says; E3810 when as many skills are kept
   *   as may be
   */
  keep(skill: SkillPackage, contents: ReadonlyMap<string, Uint8Array>): Promise<void>;
  /**
   * A folder of this machine that holds the files of the skill under their paths, and nothing else; nobody writes there.
   * @returns an absolute path; undefined when they are not kept here, or are not what was imported any more
   */
  folderOf(skill: SkillPackage): Promise<string | undefined>;
}
