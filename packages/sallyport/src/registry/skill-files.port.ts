import { MiB } from '@sallyport/std/bytes';
import type { SkillPackage } from './skill-package.ts';

/**
 * Where the files of imported skills lie, ready for a call. The manifest lists each file with its SHA-256, so what was
 * imported is found again by content, and what differs from it is never used. Tenants share nothing.
 */
export interface SkillFiles {
  /**
   * Keeps the files of one skill. Durable when it resolves; idempotent, and skills with the same files are kept once.
   * @param contents every content of the import, by SHA-256 hex; those of other skills are passed over
   * @throws ToolLayerError E3801 when a content is missing or is another than its hash says; E3810 when as many skills are kept
   *   as may be
   */
  keep(tenantId: string, skill: SkillPackage, contents: ReadonlyMap<string, Uint8Array>): Promise<void>;
  /**
   * A folder of this machine that holds the files of the skill under their paths, and nothing else; nobody writes there.
   * @returns an absolute path; undefined when they are not kept, or are not what was imported any more
   */
  folderOf(tenantId: string, skill: SkillPackage): Promise<string | undefined>;
}

/** How much a store keeps of skills. */
export interface SkillContentBounds {
  /** Bytes of one content. */
  readonly contentBytesMax: number;
  /** Bytes of all contents of one tenant. */
  readonly tenantBytesMax: number;
}

/** What holds where nobody says otherwise. */
export const SKILL_CONTENT_BOUNDS: SkillContentBounds = { contentBytesMax: 8 * MiB, tenantBytesMax: 512 * MiB };

/** Contents of skills by their SHA-256, for every instance over one database (EXE-08). Those of one tenant are no other's. */
export interface SkillContents {
  /**
   * Keeps contents, each once. Durable when it resolves; all of them or none.
   * @param contents by SHA-256 hex
   * @throws ToolLayerError E3810 for a content, or a tenant, that would be larger than the store's {@link SkillContentBounds} allow
   */
  put(tenantId: string, contents: ReadonlyMap<string, Uint8Array>): Promise<void>;
  /** One content; undefined when it is not kept. */
  get(tenantId: string, hash: string): Promise<Buffer | undefined>;
  /**
   * Removes contents that were put before a time and that nobody names.
   * @param named hashes that stay
   * @param putBeforeMs epoch ms; a content that was put again counts from then
   * @returns how many were removed
   */
  sweep(tenantId: string, named: ReadonlySet<string>, putBeforeMs: number): Promise<number>;
}
