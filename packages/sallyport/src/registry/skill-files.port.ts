import { MiB } from '@sallyport/std/bytes';
import type { SkillPackage } from './skill-package.ts';

/**
 * Keeps the files of imported skills ready for calls. The manifest lists each file with its SHA-256, so files are found
 * by content, and a file that differs is never used. Nothing is shared across tenants.
 */
export interface SkillFiles {
  /**
   * Keeps the files of one skill. Durable when it resolves; idempotent, and skills with the same files are kept once.
   * @param contents every content of the import, by SHA-256 hex; those of other skills are ignored
   * @throws ToolLayerError E3801 when a content is missing or does not match its hash; E3810 when the limit of kept
   *   skills is reached
   */
  keep(tenantId: string, skill: SkillPackage, contents: ReadonlyMap<string, Uint8Array>): Promise<void>;
  /**
   * A folder of this machine with exactly the files of the skill under their paths; nobody writes there.
   * @returns an absolute path; undefined when they are not kept, or no longer equal the import
   */
  folderOf(tenantId: string, skill: SkillPackage): Promise<string | undefined>;
}

/** Limits of a store of skill contents. */
export interface SkillContentBounds {
  /** Most bytes of one content. */
  readonly contentBytesMax: number;
  /** Most bytes of all contents of one tenant. */
  readonly tenantBytesMax: number;
}

/** Default limits. */
export const SKILL_CONTENT_BOUNDS: SkillContentBounds = { contentBytesMax: 8 * MiB, tenantBytesMax: 512 * MiB };

/**
 * Contents of skills by their SHA-256, for every instance over one database (EXE-08). Contents are not shared across
 * tenants.
 */
export interface SkillContents {
  /**
   * Keeps contents, each once. Durable when it resolves; all of them or none.
   * @param contents by SHA-256 hex
   * @throws ToolLayerError E3810 when a content, or the tenant's total, exceeds the store's {@link SkillContentBounds}
   */
  put(tenantId: string, contents: ReadonlyMap<string, Uint8Array>): Promise<void>;
  /** One content; undefined when absent. */
  get(tenantId: string, hash: string): Promise<Buffer | undefined>;
  /**
   * Removes unnamed contents that were put before a time.
   * @param named hashes to keep
   * @param putBeforeMs epoch ms; putting a content again renews it
   * @returns how many were removed
   */
  sweep(tenantId: string, named: ReadonlySet<string>, putBeforeMs: number): Promise<number>;
}
