import type { DeprecationState } from '../../api/schemas/registry.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';

/** Names one version of one tool. */
export interface VersionKey {
  readonly tenantId: string;
  readonly toolId: string;
  readonly version: string;
}

/** Where a version stands in its deprecation lifecycle. Replaces what was said before as a whole. */
export type VersionLifecycle = Pick<
  ToolVersion,
  'state' | 'deprecatedInFavorOf' | 'migrationGuide' | 'deprecatedAt' | 'removableAt' | 'stateChanges'
>;

/** Tool versions that were added or changed, and how far that goes. */
export interface StoredVersions {
  /** In no order. */
  readonly versions: readonly ToolVersion[];
  /** Give it to the next question to hear only of what changed since. */
  readonly revision: number;
}

/** Where tool versions are kept for good. Every method is safe to call at the same time from several instances. */
export interface ToolStore {
  /**
   * Adds one version. Idempotent: `unchanged` when id and version are there with the same content hash, `conflict` when
   * with another; in both cases nothing is written.
   */
  insert(version: ToolVersion): Promise<'created' | 'unchanged' | 'conflict'>;
  /** Adds many in one transaction; answers in the order of the input, as `insert` does. */
  insertAll(versions: readonly ToolVersion[]): Promise<readonly ('created' | 'unchanged' | 'conflict')[]>;
  /**
   * Versions of every tenant that were added or moved after a revision, each as it stands now; all of them for 0. No
   * change is ever left out, whatever other instances do meanwhile; one may come twice.
   */
  changedSince(revision: number): Promise<StoredVersions>;
  /** Moves one version in its lifecycle. False, and nothing is written, when it is not in the expected state or not there. */
  changeState(key: VersionKey, expected: DeprecationState, lifecycle: VersionLifecycle): Promise<boolean>;
  /** Keeps when versions were last called; an older time than the one kept changes nothing. Unknown versions are passed over. Is no change for `changedSince`. */
  noteUses(uses: readonly (VersionKey & { readonly lastUsedAt: string })[]): Promise<void>;
  /** When each version of a tool was last called, ISO 8601, as far as one of the instances noted it. */
  lastUses(tenantId: string, toolId: string): Promise<ReadonlyMap<string, string>>;
}
