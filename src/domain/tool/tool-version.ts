import type { DeprecationState } from '../../../api/schemas/registry.ts';
import type { SideEffectPolicy, ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { canonicalJson } from '../../std/canonical-json.ts';
import { sha256 } from '../../std/sha256.ts';

/** A manifest under a SemVer, as the registry keeps it for one tenant. */
export interface ToolVersion {
  readonly tenantId: string;
  readonly manifest: ToolManifest;
  /** SHA-256 over the canonical JSON of the manifest, hex. */
  readonly contentHash: string;
  readonly state: DeprecationState;
  readonly deprecatedInFavorOf?: string;
  /** ISO 8601. */
  readonly registeredAt: string;
}

/** Hash by which a changed definition is noticed (REG-09) and equal content is a no-op (REG-03). */
export function contentHash(manifest: ToolManifest): string {
  return sha256(canonicalJson(manifest));
}

/** What a call may leave behind. A manifest that says nothing counts as irreversible. */
export function sideEffectOf(manifest: ToolManifest): SideEffectPolicy {
  return manifest.side_effect_policy ?? (manifest.idempotent === true ? 'idempotent' : 'irreversible');
}

/** Whether running the tool twice is as good as once. */
export function isSafeToRepeat(manifest: ToolManifest): boolean {
  const policy = sideEffectOf(manifest);
  return policy === 'pure' || policy === 'idempotent';
}
