import type { DeprecationState } from '../../api/schemas/registry.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';

/** Where tool versions are kept for good. Every method is safe to call at the same time from several instances. */
export interface ToolStore {
  /**
   * Adds one version. Idempotent: `unchanged` when id and version are there with the same content hash, `conflict` when
   * with another; in both cases nothing is written.
   */
  insert(version: ToolVersion): Promise<'created' | 'unchanged' | 'conflict'>;
  /** Adds many in one transaction; answers in the order of the input, as `insert` does. */
  insertAll(versions: readonly ToolVersion[]): Promise<readonly ('created' | 'unchanged' | 'conflict')[]>;
  /** Every version of every tenant, in no order. */
  loadAll(): Promise<readonly ToolVersion[]>;
  /** Moves one version in its deprecation lifecycle. False when it does not exist. */
  setState(
    tenantId: string,
    toolId: string,
    version: string,
    state: DeprecationState,
    inFavorOf?: string,
  ): Promise<boolean>;
}
