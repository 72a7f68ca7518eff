import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Warning } from '../../api/schemas/invocation.ts';
import type { ComplianceReport } from '../../api/schemas/registry/tool-lifecycle.ts';
import type { ToolSummary } from '../../api/schemas/registry.ts';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import { createDependencyGraph, type DependencyGraph } from './dependency-graph.ts';
import { checkManifest } from './manifests/check-manifest.ts';
import { complianceOf } from './manifests/compliance.ts';
import * as memory from './versions/catalogue.ts';
import { didYouMean, unknownTool } from './versions/catalogue.ts';
import type { RegistryChange } from './versions/changes.ts';
import { followStore } from './versions/lifecycle/follow-store.ts';
import { type HistoryEntry, historyOf } from './versions/lifecycle/history.ts';
import { dependencyJudge } from './versions/lifecycle/judge-dependencies.ts';
import { manifestWarnings, stepWarning, TIMEOUT_CUT } from './versions/lifecycle/manifest-warnings.ts';
import { type MoveDetails, moveVersions, removeTools, type VersionMove } from './versions/lifecycle/move-version.ts';
import { type Registered, registerVersions } from './versions/lifecycle/register-versions.ts';
import {
  checksOf,
  type RegistryParts,
  type RegistryState,
  registryState,
} from './versions/lifecycle/registry-state.ts';
import { RETENTION } from './versions/lifecycle/retention.ts';
import type { ListFilter } from './versions/tool-index.ts';
import type { Found } from './versions/version-set.ts';

export type { Found, HistoryEntry, ListFilter, MoveDetails, Registered, RegistryChange, RegistryParts, VersionMove };
export { complianceOf, didYouMean, RETENTION, stepWarning, TIMEOUT_CUT, unknownTool };

/** Least time between two reads of the store caused by requests that find nothing, in ms. */
const MISS_REFRESH_MS = 1000;

/** Which page of a list: `page` counts from 1, `pageSize` in tools. */
export interface Paging {
  readonly page: number;
  readonly pageSize: number;
}

/** Result of checking a manifest without registering it. */
export interface CheckedManifest {
  /** E3008 with every fault in `details.faults`; undefined when the manifest could be registered. */
  readonly failure?: Failure;
  /** Absent on failure. */
  readonly manifest?: ToolManifest;
  readonly compliance?: ComplianceReport;
  readonly warnings: readonly Warning[];
}

/**
 * The tools of each tenant. The store is authoritative and memory follows it: after each own write, at intervals, and
 * when something unknown to memory is asked for. Several registries may share one store.
 */
export interface Registry {
  /** Reads everything from the store again. Unreadable rows are skipped and logged. */
  load(): Promise<void>;
  /** Reads changes of any instance since the last time. */
  refresh(): Promise<void>;
  /** Refreshes every `intervalMs` and writes notes of uses every minute, until disposed; failures are logged. */
  follow(intervalMs: number): AsyncDisposable;
  /**
   * Registers one version. A removed version is restored when its content is the same. Beyond `versionsPerToolMax` the
   * oldest versions are retired.
   * @param by agent DID of the registering agent
   * @throws ToolLayerError E3008 with every fault in `details.faults`; E3007 when id and version have another content
   */
  register(tenantId: string, manifest: unknown, by?: string): Promise<Registered>;
  /**
   * Registers many in one transaction; a refused one (E3008, E3007) does not affect the others. Results are in the
   * order of the input.
   * @throws ToolLayerError E3810 for more than 20 000 in one registration
   */
  registerAll(tenantId: string, manifests: readonly unknown[], by?: string): Promise<readonly (Registered | Failure)[]>;
  /** Checks a manifest like a registration, without registering it. */
  check(tenantId: string, manifest: unknown): CheckedManifest;
  /**
   * The version for a request (REG-03): exact version, SemVer range, `latest`; the newest release when undefined.
   * Warnings: E3003 for a deprecated or sunset version, `newer_version_excluded` when the range left out a newer release.
   * @returns E3001 unknown tool, E3002 unknown version, E3004 removed, E3006 nothing in the range
   */
  find(tenantId: string, toolId: string, range?: string): Found | Failure;
  /** Reads changes of other instances, at most once a second; undefined when that was done just now. */
  lookAgain(): Promise<void> | undefined;
  /** As `find`; for a tool unknown to memory the store is read first, as by `lookAgain`. */
  findAnywhere(tenantId: string, toolId: string, range?: string): Found | Failure | Promise<Found | Failure>;
  /** Notes that a version is called, so that it counts as in use. Costs one lookup. */
  noteUse(version: ToolVersion): void;
  /** One page of the tools, ordered by id; `total` counts all that match. A page beyond the last is empty. */
  list(
    tenantId: string,
    filter: ListFilter,
    paging: Paging,
  ): { readonly tools: readonly ToolSummary[]; readonly total: number };
  /** The newest version of every tool of a tenant, ordered by id. */
  manifests(tenantId: string): readonly ToolVersion[];
  /** Versions of a tool that were not removed, newest first. Empty when there are none. */
  versions(tenantId: string, toolId: string): readonly ToolVersion[];
  /** Every version of a tool, removed ones included, newest first. Empty for an unknown tool. */
  history(tenantId: string, toolId: string): Promise<readonly HistoryEntry[]>;
  /** Dependencies among the newest versions (MOD-05); built at the first request after a change. */
  dependencies(tenantId: string): DependencyGraph;
  /**
   * Moves one version in its lifecycle, or without `version` every version that can go there (REG-04). Several steps
   * are taken as one. Returns the moved versions.
   * @throws ToolLayerError E3001 and E3002 for a missing tool or version, also as successor; E3814 for a state that
   *   does not allow it, and for a removal before `removableAt` without `force`
   */
  move(move: VersionMove): Promise<readonly ToolVersion[]>;
  /**
   * Removes every version of many tools in one transaction: for a source that is gone with all its tools. Returns the
   * removed versions; unknown ids are ignored.
   */
  removeAll(tenantId: string, toolIds: readonly string[]): Promise<readonly ToolVersion[]>;
  /** Notes that changes of these versions are recorded in the audit. */
  recorded(versions: readonly ToolVersion[]): Promise<void>;
  /**
   * Versions that any instance added or moved longer ago than a time in ms, without a note that this is recorded: a
   * crash came in between. At most 1 000.
   */
  unrecorded(olderThanMs: number): Promise<readonly ToolVersion[]>;
  /** Notifies of each change after it took effect, until the handle is disposed. A listener that throws is logged. */
  onChanged(listener: (change: RegistryChange) => void): Disposable;
}

/** Makes an empty registry over a store; call `load` before the first use. */
export function createRegistry(parts: RegistryParts): Registry {
  const state = registryState(parts);
  const find: Registry['find'] = (tenantId, toolId, range) => memory.find(state.catalogue, tenantId, toolId, range);
  const lookAgain = lookingAgain(state);
  return {
    load: state.load,
    refresh: state.refresh,
    follow: (intervalMs) => followStore(state, intervalMs),
    registerAll: (tenantId, manifests, by) => registerVersions(state, tenantId, manifests, by),
    async register(tenantId, manifest, by) {
      const [answer] = await registerVersions(state, tenantId, [manifest], by);
      if (answer === undefined || isFailure(answer)) throw ToolLayerError.of(answer ?? unknownTool(''));
      return answer;
    },
    check: (tenantId, manifest) => check(state, tenantId, manifest),
    find,
    lookAgain,
    findAnywhere(tenantId, toolId, range) {
      const found = find(tenantId, toolId, range);
      if (!isFailure(found)) return found;
      return lookAgain()?.then(() => find(tenantId, toolId, range)) ?? found;
    },
    noteUse: state.uses.note,
    list: (tenantId, filter, paging) => memory.list(state.catalogue, tenantId, filter, paging),
    manifests: (tenantId) => memory.newestVersions(state.catalogue, tenantId),
    versions: (tenantId, toolId) => memory.versionsOf(state.catalogue, tenantId, toolId)?.live ?? [],
    history: (tenantId, toolId) => historyOf(state, tenantId, toolId),
    dependencies: dependencyGraphs(state),
    move: (move) => moveVersions(state, move),
    removeAll: (tenantId, toolIds) => removeTools(state, tenantId, toolIds),
    recorded: (versions) => state.store.markRecorded(versions.map(keyOf)),
    unrecorded: (olderThanMs) => state.store.unrecorded(state.clock.now() - olderThanMs),
    onChanged: state.changes.subscribe,
  };
}

const keyOf = ({ tenantId, manifest: { tool_id, version } }: ToolVersion) => ({ tenantId, toolId: tool_id, version });

function lookingAgain(state: RegistryState): Registry['lookAgain'] {
  let refreshedAt: number | undefined;
  return () => {
    const now = state.clock.monotonic();
    if (refreshedAt !== undefined && now - refreshedAt < MISS_REFRESH_MS) return undefined;
    refreshedAt = now;
    return state.refresh();
  };
}

function check(state: RegistryState, tenantId: string, given: unknown): CheckedManifest {
  const manifest = checkManifest(given, checksOf(state, tenantId));
  if (isFailure(manifest)) return { failure: manifest, warnings: [] };
  const tenant = state.catalogue.get(tenantId);
  const warnings = dependencyJudge(tenant, [manifest]).judge(manifest);
  if (isFailure(warnings)) return { failure: warnings, warnings: [] };
  const before = memory.versionBelow(state.catalogue, tenantId, manifest);
  return {
    manifest,
    compliance: complianceOf(manifest),
    warnings: [...warnings, ...manifestWarnings(manifest, before?.manifest, state.timeoutSecondsMax)],
  };
}

/** One graph per list of newest versions; the list is replaced by each change. */
function dependencyGraphs(state: RegistryState): Registry['dependencies'] {
  const graphs = new WeakMap<readonly ToolVersion[], DependencyGraph>();
  return (tenantId) => {
    const newest = memory.newestVersions(state.catalogue, tenantId);
    const known = graphs.get(newest);
    if (known !== undefined) return known;
    const graph = createDependencyGraph(
      newest.map(({ manifest: { tool_id, requires = [], prefers = [] } }) => ({ toolId: tool_id, requires, prefers })),
    );
    graphs.set(newest, graph);
    return graph;
  };
}

/**
 * Finds tools for tenants: a tenant's own, then those of the catalogue for ids that it does not have.
 * @returns a function that returns the newest version of the id, or the named version; undefined when there is none
 */
export function toolsOfTenants(
  registry: Pick<Registry, 'find'>,
  catalogTenant: string,
): (tenantId: string, toolId: string, version?: string) => ToolVersion | undefined {
  return (tenantId, toolId, version) => {
    for (const owner of [tenantId, catalogTenant]) {
      const found = registry.find(owner, toolId, version);
      if (!isFailure(found)) return found.tool;
    }
    return undefined;
  };
}
