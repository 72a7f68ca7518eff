import type { Clock } from '@sallyport/std/clock';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { ManifestChecks } from '../../manifests/check-manifest.ts';
import type { ToolStore } from '../../tool-store.port.ts';
import { type Catalogue, put, versionsOf } from '../catalogue.ts';
import { type Changes, createChanges } from '../changes.ts';
import type { Retention } from './retention.ts';
import { createUses, type Uses } from './uses.ts';

/** Dependencies of the registry. */
export interface RegistryParts extends Pick<ManifestChecks, 'compileSchema'> {
  /** Faults of `executor`, with pointers from the manifest's root, for the tenant that registers it. */
  readonly configFaults: (manifest: ToolManifest, tenantId: string) => readonly Fault[];
  readonly store: ToolStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly retention: Retention;
  /** Longest timeout of a synchronous call; a manifest that asks for more gets a warning. */
  readonly timeoutSecondsMax: number;
}

/** State of the registry of this process: the store, and its copy in memory. */
export interface RegistryState extends RegistryParts {
  readonly changes: Changes;
  readonly uses: Uses;
  /** Replaced as a whole by each load. */
  catalogue: Catalogue;
  /** Revision of the store that the catalogue reflects. */
  revision: number;
  /** Reads changes in the store since the last time. The only place that changes memory. */
  readonly refresh: () => Promise<void>;
  readonly load: () => Promise<void>;
}

/** An empty registry over a store. */
export function registryState(parts: RegistryParts): RegistryState {
  const inTurn = oneAfterTheOther();
  const state: RegistryState = {
    ...parts,
    changes: createChanges(parts.log),
    uses: createUses(parts),
    catalogue: new Map(),
    revision: 0,
    refresh: inTurn(() => follow(state)),
    load: inTurn(() => load(state)),
  };
  return state;
}

/**
 * Serialises functions; callers that arrive while a run waits for its turn share that run. So a caller after a write
 * sees that write in the result.
 */
function oneAfterTheOther(): (run: () => Promise<void>) => () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (run) => {
    let waiting: Promise<void> | undefined;
    return () => {
      if (waiting === undefined) {
        waiting = last.then(() => {
          waiting = undefined;
          return run();
        });
        last = waiting.catch(() => undefined);
      }
      return waiting;
    };
  };
}

async function follow(state: RegistryState): Promise<void> {
  const { versions, revision } = await state.store.changedSince(state.revision);
  const changed = putAll(state, state.catalogue, versions);
  state.revision = Math.max(state.revision, revision);
  for (const [tenantId, toolIds] of changed) state.changes.notify(tenantId, [...toolIds]);
}

async function load(state: RegistryState): Promise<void> {
  const { versions, revision } = await state.store.changedSince(0);
  const loaded: Catalogue = new Map();
  putAll(state, loaded, versions);
  state.catalogue = loaded;
  state.revision = revision;
  for (const [tenantId, { byId }] of loaded) state.changes.notify(tenantId, [...byId.keys()]);
}

/** Unreadable rows are skipped and logged. */
function putAll(
  { uses, log, catalogue: before }: RegistryState,
  catalogue: Catalogue,
  versions: readonly ToolVersion[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const changed = new Map<string, Set<string>>();
  for (const version of versions) {
    try {
      const { tool_id: toolId, version: number } = version.manifest;
      const known = versionsOf(before, version.tenantId, toolId)?.byVersion.get(number);
      if (known !== undefined) uses.carryOver(known, version);
      put(catalogue, version);
      changed.set(version.tenantId, (changed.get(version.tenantId) ?? new Set()).add(toolId));
    } catch (cause) {
      log.warn('registry-row-unreadable', { toolId: version.manifest?.tool_id, reason: String(cause) });
    }
  }
  return changed;
}

/** The checks for manifests of one tenant. */
export function checksOf(
  { compileSchema, configFaults }: Pick<RegistryParts, 'compileSchema' | 'configFaults'>,
  tenantId: string,
): ManifestChecks {
  return { compileSchema, configFaults: (manifest) => configFaults(manifest, tenantId) };
}
