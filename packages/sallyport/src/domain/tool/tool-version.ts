import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { DeprecationState } from '../../../api/schemas/registry.ts';
import type { SideEffectPolicy, ToolManifest } from '../../../api/schemas/tool-manifest.ts';

/** A manifest under a SemVer, as the registry keeps it for one tenant. */
export interface ToolVersion {
  readonly tenantId: string;
  readonly manifest: ToolManifest;
  /** SHA-256 over the canonical JSON of the manifest, hex. */
  readonly contentHash: string;
  readonly state: DeprecationState;
  /** A version of the same tool, or the id of another tool. */
  readonly deprecatedInFavorOf?: string;
  /** How to move on, as it was said at the deprecation; the manifest may hold one of its own. */
  readonly migrationGuide?: string;
  /** ISO 8601; set while the version is deprecated, sunset or removed. */
  readonly deprecatedAt?: string;
  /** ISO 8601: not removed before without force. Set with `deprecatedAt`. */
  readonly removableAt?: string;
  /** How the state came about, oldest first; absent when it never changed. */
  readonly stateChanges?: readonly StateChange[];
  /** ISO 8601. */
  readonly registeredAt: string;
  /** Agent DID of who registered it. */
  readonly registeredBy?: string;
  /** ISO 8601, of the last call that an instance noted; coarse, since notes are written now and then. */
  readonly lastUsedAt?: string;
}

/** One step of a version in its lifecycle. */
export interface StateChange {
  readonly state: DeprecationState;
  /** ISO 8601. */
  readonly at: string;
  /** Agent DID of who asked for it. */
  readonly by?: string;
  readonly reason?: string;
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
