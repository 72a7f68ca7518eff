import type { DeprecationState } from '../../api/schemas/registry.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';

/** Names one version of one tool. */
export interface VersionKey {
  readonly tenantId: string;
  readonly toolId: string;
  readonly version: string;
}

/** State of a version in its deprecation lifecycle. Replaces the previous state as a whole. */
export type VersionLifecycle = Pick<
  ToolVersion,
  'state' | 'deprecatedInFavorOf' | 'migrationGuide' | 'deprecatedAt' | 'removableAt' | 'stateChanges'
>;

/** One version's move to another state. */
export interface StateMove {
  readonly key: VersionKey;
  /** State that it must be in. */
  readonly expected: DeprecationState;
  readonly lifecycle: VersionLifecycle;
}

/** Tool versions that were added or changed, up to a revision. */
export interface StoredVersions {
  /** In no order. */
  readonly versions: readonly ToolVersion[];
  /** Pass it to the next call to get only later changes. */
  readonly revision: number;
}

/** Durable store of tool versions. Every method is safe for concurrent use by several instances. */
export interface ToolStore {
  /**
   * Adds one version. Idempotent: `unchanged` when id and version exist with the same content hash, `conflict` when
   * with another; in both cases nothing is written.
   */
  insert(version: ToolVersion): Promise<'created' | 'unchanged' | 'conflict'>;
  /** Adds many in one transaction; results as of `insert`, in the order of the input. */
  insertAll(versions: readonly ToolVersion[]): Promise<readonly ('created' | 'unchanged' | 'conflict')[]>;
  /**
   * Versions of every tenant that were added or moved after a revision, in their current state; all of them for 0. No
   * change is ever missed, whatever other instances do meanwhile; one may come twice.
   */
  changedSince(revision: number): Promise<StoredVersions>;
  /**
   * Moves versions in their lifecycle, each named once, in one transaction. Results in the order of the input: false,
   * with nothing written, for one that is missing or not in the expected state.
   */
  changeStates(moves: readonly StateMove[]): Promise<readonly boolean[]>;
  /**
   * Notes that the last change of these versions is recorded in the audit too. Unknown ones are ignored. Does not count
   * as a change for `changedSince`.
   */
  markRecorded(keys: readonly VersionKey[]): Promise<void>;
  /** Versions added or moved before a time, in ms since 1970, and not marked since; the oldest 1 000. */
  unrecorded(before: number): Promise<readonly ToolVersion[]>;
  /**
   * Stores when versions were last called; an older time than the stored one has no effect. Unknown versions are
   * ignored. Does not count as a change for `changedSince`.
   */
  noteUses(uses: readonly (VersionKey & { readonly lastUsedAt: string })[]): Promise<void>;
  /** When each version of a tool was last called, ISO 8601, as far as any instance noted it. */
  lastUses(tenantId: string, toolId: string): Promise<ReadonlyMap<string, string>>;
}
