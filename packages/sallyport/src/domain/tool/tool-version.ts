import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { DeprecationState } from '../../../api/schemas/registry.ts';
import type { SideEffectPolicy, ToolManifest } from '../../../api/schemas/tool-manifest.ts';

/** A manifest under a SemVer, in the registry of one tenant. */
export interface ToolVersion {
  readonly tenantId: string;
  readonly manifest: ToolManifest;
  /** SHA-256 over the canonical JSON of the manifest, hex. */
  readonly contentHash: string;
  readonly state: DeprecationState;
  /** A version of the same tool, or the id of another tool. */
  readonly deprecatedInFavorOf?: string;
  /** Migration guide given at the deprecation; the manifest may hold one of its own. */
  readonly migrationGuide?: string;
  /** ISO 8601; set while the version is deprecated, sunset or removed. */
  readonly deprecatedAt?: string;
  /** ISO 8601: earliest removal without force. Set with `deprecatedAt`. */
  readonly removableAt?: string;
  /** Changes of the state, oldest first; absent when it never changed. */
  readonly stateChanges?: readonly StateChange[];
  /** ISO 8601. */
  readonly registeredAt: string;
  /** DID of the agent that registered it. */
  readonly registeredBy?: string;
  /** ISO 8601, time of the last call that an instance stored; coarse, since it is stored at intervals. */
  readonly lastUsedAt?: string;
}

/** One step of a version in its lifecycle. */
export interface StateChange {
  readonly state: DeprecationState;
  /** ISO 8601. */
  readonly at: string;
  /** DID of the agent that asked for it. */
  readonly by?: string;
  readonly reason?: string;
}

/** Hash by which a changed definition is detected (REG-09) and equal content is a no-op (REG-03). */
export function contentHash(manifest: ToolManifest): string {
  return sha256(canonicalJson(manifest));
}

/** The side effect that a call may have. A manifest that names none counts as irreversible. */
export function sideEffectOf(manifest: ToolManifest): SideEffectPolicy {
  return manifest.side_effect_policy ?? (manifest.idempotent === true ? 'idempotent' : 'irreversible');
}

/** True when running the tool twice has the same effect as once. */
export function isSafeToRepeat(manifest: ToolManifest): boolean {
  const policy = sideEffectOf(manifest);
  return policy === 'pure' || policy === 'idempotent';
}
