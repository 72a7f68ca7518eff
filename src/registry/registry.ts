// Hot path: find() is asked once for every call.
import type { ToolSummary } from '../../api/schemas/registry.ts';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import { type Failure, failure, isFailure } from '../domain/error/failure.ts';
import { ToolLayerError } from '../domain/error/tool-layer-error.ts';
import { contentHash, type ToolVersion } from '../domain/tool/tool-version.ts';
import type { Clock } from '../std/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { type Changes, createChanges, type RegistryChange } from './changes.ts';
import { checkManifest, type ManifestChecks } from './manifests/check-manifest.ts';
import type { ToolStore } from './tool-store.port.ts';
import * as memory from './versions/catalogue.ts';
import type { ListFilter } from './versions/tenant-catalogue.ts';
import type { Found } from './versions/version-set.ts';

export type { Found, ListFilter, RegistryChange };

/** Most manifests that one bulk registration takes; more are refused with E3810. */
export const BATCH_MANIFESTS_MAX = 20_000;

/** What the registry stands on. */
export interface RegistryParts extends ManifestChecks {
  readonly store: ToolStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** A registration that stands. `unchanged`: the same content was there already and nothing was written. */
export interface Registered {
  readonly outcome: 'created' | 'unchanged';
  readonly version: ToolVersion;
}

/** Which page of a list: `page` counts from 1, `pageSize` in tools. */
export interface Paging {
  readonly page: number;
  readonly pageSize: number;
}

/** Which tools exist, for each tenant. The durable write comes before the one in memory. */
export interface Registry {
  /** Reads everything from the store anew. Rows that cannot be read are left out and logged. */
  load(): Promise<void>;
  /**
   * Registers one version. A removed version comes back when its content is the same.
   * @throws ToolLayerError E3008 with every fault in `details.faults`; E3007 when id and version have another content
   */
  register(tenantId: string, manifest: unknown): Promise<Registered>;
  /**
   * Registers many in one transaction; a refused one (E3008, E3007) stops none of the others. Answers in the order of the input.
   * @throws ToolLayerError E3810 beyond {@link BATCH_MANIFESTS_MAX}
   */
  registerAll(tenantId: string, manifests: readonly unknown[]): Promise<readonly (Registered | Failure)[]>;
  /**
   * The version for a request (REG-03): exact version, SemVer range, `latest`; the newest release when undefined.
   * Warnings: E3003 for a deprecated or sunset version, `newer_version_excluded` when the range left out a newer release.
   * @returns E3001 unknown tool, E3002 unknown version, E3004 removed, E3006 nothing in the range
   */
  find(tenantId: string, toolId: string, range?: string): Found | Failure;
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
  /**
   * Removes one version, or all. Answers with the versions that this call removed.
   * @throws ToolLayerError E3001 for an unknown tool, E3002 for an unknown version
   */
  remove(tenantId: string, toolId: string, version?: string): Promise<readonly string[]>;
  /** Tells of each change after it took effect, until the handle is disposed. A listener that throws is logged. */
  onChanged(listener: (change: RegistryChange) => void): Disposable;
  /** How much is held in memory. */
  sizes(): { readonly tenants: number; readonly tools: number; readonly versions: number };
}

/** Makes an empty registry over a store; call `load` before the first use. */
export function createRegistry(parts: RegistryParts): Registry {
  const changes = createChanges(parts.log);
  const state: State = { ...parts, changes, catalogue: new Map() };
  return {
    load: () => load(state),
    registerAll: (tenantId, manifests) => registerAll(state, tenantId, manifests),
    async register(tenantId, manifest) {
      const [answer] = await registerAll(state, tenantId, [manifest]);
      if (answer === undefined || isFailure(answer)) throw ToolLayerError.of(answer ?? memory.unknownTool(''));
      return answer;
    },
    find: (tenantId, toolId, range) => memory.find(state.catalogue, tenantId, toolId, range),
    list: (tenantId, filter, paging) => memory.list(state.catalogue, tenantId, filter, paging),
    manifests: (tenantId) => memory.newestVersions(state.catalogue, tenantId),
    versions: (tenantId, toolId) => memory.versionsOf(state.catalogue, tenantId, toolId)?.live ?? [],
    remove: (tenantId, toolId, version) => remove(state, tenantId, toolId, version),
    onChanged: changes.subscribe,
    sizes: () => memory.sizesOf(state.catalogue),
  };
}

interface State extends RegistryParts {
  readonly changes: Changes;
  /** Replaced as a whole by each load. */
  catalogue: memory.Catalogue;
}

async function load(state: State): Promise<void> {
  const loaded: memory.Catalogue = new Map();
  for (const version of await state.store.loadAll()) {
    try {
      memory.put(loaded, version);
    } catch (cause) {
      state.log.warn('registry-row-unreadable', { toolId: version.manifest?.tool_id, reason: String(cause) });
    }
  }
  state.catalogue = loaded;
  for (const [tenantId, { byId }] of loaded) state.changes.tell(tenantId, [...byId.keys()]);
}

async function registerAll(
  state: State,
  tenantId: string,
  manifests: readonly unknown[],
): Promise<readonly (Registered | Failure)[]> {
  if (manifests.length > BATCH_MANIFESTS_MAX) throw tooMany(manifests.length);
  const checked = manifests.map((manifest) => {
    const good = checkManifest(manifest, state);
    return isFailure(good) ? good : versionOf(state, tenantId, good);
  });
  const outcomes = await insert(
    state,
    checked.filter((version): version is ToolVersion => !isFailure(version)),
  );
  const answers: (Registered | Failure)[] = [];
  let next = 0;
  for (const version of checked) {
    answers.push(isFailure(version) ? version : await settle(state, version, outcomes[next++]));
  }
  const created = answers.flatMap((answer) =>
    !isFailure(answer) && answer.outcome === 'created' ? [answer.version.manifest.tool_id] : [],
  );
  state.changes.tell(tenantId, [...new Set(created)]);
  return answers;
}

const versionOf = ({ clock }: State, tenantId: string, manifest: ToolManifest): ToolVersion => ({
  tenantId,
  manifest,
  contentHash: contentHash(manifest),
  state: 'active',
  registeredAt: new Date(clock.now()).toISOString(),
});

type Inserted = 'created' | 'unchanged' | 'conflict';

async function insert({ store }: State, versions: readonly ToolVersion[]): Promise<readonly Inserted[]> {
  const [only] = versions;
  if (only === undefined) return [];
  return versions.length === 1 ? [await store.insert(only)] : await store.insertAll(versions);
}

/** Brings memory in step with what the store answered. */
async function settle(
  state: State,
  version: ToolVersion,
  outcome: Inserted | undefined,
): Promise<Registered | Failure> {
  const { tenantId, manifest } = version;
  if (outcome === undefined || outcome === 'conflict') return conflict(manifest);
  if (outcome === 'unchanged') {
    const known = memory.versionsOf(state.catalogue, tenantId, manifest.tool_id)?.byVersion.get(manifest.version);
    if (known !== undefined && known.state !== 'removed') return { outcome, version: known };
    // Removed before, here or in another instance: registering it again brings it back.
    await state.store.setState(tenantId, manifest.tool_id, manifest.version, 'active');
  }
  memory.put(state.catalogue, version);
  return { outcome: 'created', version };
}

async function remove(state: State, tenantId: string, toolId: string, version?: string): Promise<readonly string[]> {
  const set = memory.versionsOf(state.catalogue, tenantId, toolId);
  if (set === undefined) throw ToolLayerError.of(memory.unknownTool(toolId));
  if (version !== undefined && !set.byVersion.has(version)) {
    throw new ToolLayerError('E3002', `${toolId} has no version ${version.slice(0, 64)}; nothing was removed.`);
  }
  const going = set.live.filter(({ manifest }) => version === undefined || manifest.version === version);
  for (const leaving of going) {
    await state.store.setState(tenantId, toolId, leaving.manifest.version, 'removed');
    memory.put(state.catalogue, { ...leaving, state: 'removed' });
  }
  state.changes.tell(tenantId, going.length === 0 ? [] : [toolId]);
  return going.map(({ manifest }) => manifest.version);
}

const conflict = ({ tool_id, version }: ToolManifest): Failure =>
  failure(
    'E3007',
    `${tool_id} ${version} is registered with another content. Register the change under a new version.`,
    {
      details: { tool_id, version },
    },
  );

const tooMany = (count: number): ToolLayerError =>
  new ToolLayerError(
    'E3810',
    `${count} manifests are more than the ${BATCH_MANIFESTS_MAX} of one registration. Split them.`,
  );
