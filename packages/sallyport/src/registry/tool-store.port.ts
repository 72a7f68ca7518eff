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

/** One version's way to another state. */
export interface StateMove {
  readonly key: VersionKey;
  /** State that it must be in. */
  readonly expected: DeprecationState;
  readonly lifecycle: VersionLifecycle;
}

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
  /**
   * Moves versions in their lifecycle, each named once, in one transaction. Answers in the order of the input: false, and
   * nothing is written of it, for one that is not in the expected state or not there.
   */
  changeStates(moves: readonly StateMove[]): Promise<readonly boolean[]>;
  /**
   * Notes that what was last written of these versions is on the audit record too. Unknown ones are passed over. Is no
   * change for `changedSince`.
   */
  markRecorded(keys: readonly VersionKey[]): Promise<void>;
  /** Versions added or moved before a time, in ms since 1970, and not marked since; the oldest 1 000. */
  unrecorded(before: number): Promise<readonly ToolVersion[]>;
  /** Keeps when versions were last called; an older time than the one kept changes nothing. Unknown versions are passed over. Is no change for `changedSince`. */
  noteUses(uses: readonly (VersionKey & { readonly lastUsedAt: string })[]): Promise<void>;
  /** When each version of a tool was last called, ISO 8601, as far as one of the instances noted it. */
  lastUses(tenantId: string, toolId: string): Promise<ReadonlyMap<string, string>>;
}
