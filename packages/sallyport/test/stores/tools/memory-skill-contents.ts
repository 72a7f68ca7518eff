import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import {
  SKILL_CONTENT_BOUNDS,
  type SkillContentBounds,
  type SkillContents,
} from '../../../src/registry/skill-files.port.ts';

interface Kept {
  readonly bytes: Buffer;
  /** Time of the write in epoch ms. */
  readonly putAt: number;
}

/** Contents of skills in memory. */
export function memorySkillContents(bounds: SkillContentBounds = SKILL_CONTENT_BOUNDS): SkillContents {
  const tenants = new Map<string, Map<string, Kept>>();
  return {
    async put(tenantId, contents) {
      const kept = tenants.get(tenantId) ?? new Map<string, Kept>();
      const { contentBytesMax, tenantBytesMax } = bounds;
      let bytes = 0;
      for (const one of kept.values()) bytes += one.bytes.length;
      for (const [hash, content] of contents) {
        if (content.byteLength > contentBytesMax) throw tooLarge(`one content has ${content.byteLength} bytes`);
        if (!kept.has(hash)) bytes += content.byteLength;
      }
      if (bytes > tenantBytesMax) throw tooLarge(`those of the tenant would have ${bytes} bytes`);
      for (const [hash, content] of contents) kept.set(hash, { bytes: Buffer.from(content), putAt: Date.now() });
      if (kept.size > 0) tenants.set(tenantId, kept);
    },
    async get(tenantId, hash) {
      const kept = tenants.get(tenantId)?.get(hash);
      return kept === undefined ? undefined : Buffer.from(kept.bytes);
    },
    async sweep(tenantId, named, putBeforeMs) {
      const kept = tenants.get(tenantId) ?? new Map<string, Kept>();
      let removed = 0;
      for (const [hash, { putAt }] of kept) {
        if (!named.has(hash) && putAt < putBeforeMs && kept.delete(hash)) removed += 1;
      }
      return removed;
    },
  };
}

function tooLarge(what: string): ToolLayerError {
  return new ToolLayerError(
    'E3810',
    `There is no room for the files of the skill: ${what}. Remove skills that nobody needs.`,
  );
}
