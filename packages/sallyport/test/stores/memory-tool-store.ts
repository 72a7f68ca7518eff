import type { ToolVersion } from '../../src/domain/tool/tool-version.ts';
import type { StateMove, ToolStore, VersionKey } from '../../src/registry/tool-store.port.ts';

/** The largest number of versions in one answer. */
const UNRECORDED_MAX = 1_000;

/** Tool versions in memory: not durable, and otherwise as the port requires. */
export function memoryToolStore(): ToolStore {
  /** Versions as JSON text by key, so that callers never share objects with the store. */
  const rows = new Map<string, string>();
  /** The key that each revision wrote. */
  const written: string[] = [];
  const uses = createUses();
  /**
   * Keys whose last write is not yet marked as recorded, with the time of the write in ms since 1970; the oldest first.
   */
  const unrecorded = new Map<string, number>();

  const write = (key: string, version: ToolVersion): void => {
    written.push(key);
    unrecorded.delete(key);
    unrecorded.set(key, Date.now());
    rows.set(key, JSON.stringify(version));
  };
  const insert: ToolStore['insert'] = async (version) => {
    const { tenantId, manifest } = version;
    const key = keyOf({ tenantId, toolId: manifest.tool_id, version: manifest.version });
    const held = rows.get(key);
    if (held !== undefined) return versionOf(held).contentHash === version.contentHash ? 'unchanged' : 'conflict';
    write(key, version);
    return 'created';
  };

  const move = ({ key, expected, lifecycle }: StateMove): boolean => {
    const held = rows.get(keyOf(key));
    if (held === undefined) return false;
    const { tenantId, manifest, contentHash, state, registeredAt, registeredBy } = versionOf(held);
    if (state !== expected) return false;
    const by = registeredBy === undefined ? {} : { registeredBy };
    write(keyOf(key), { tenantId, manifest, contentHash, registeredAt, ...by, ...lifecycle });
    return true;
  };

  return {
    insert,
    insertAll: (added) => Promise.all(added.map(insert)),
    async changedSince(since) {
      const changed = [...new Set(written.slice(since))].flatMap((key) => rows.get(key) ?? []);
      return { versions: changed.map((text) => uses.addTo(versionOf(text))), revision: written.length };
    },
    changeStates: async (moves) => moves.map(move),
    async markRecorded(keys) {
      for (const key of keys) unrecorded.delete(keyOf(key));
    },
    async unrecorded(before) {
      const due = [...unrecorded].filter(([, since]) => since < before).slice(0, UNRECORDED_MAX);
      return due.flatMap(([key]) => rows.get(key) ?? []).map((text) => uses.addTo(versionOf(text)));
    },
    async noteUses(noted) {
      for (const use of noted) if (rows.has(keyOf(use))) uses.note(use, use.lastUsedAt);
    },
    lastUses: async (tenantId, toolId) => new Map(uses.of(tenantId, toolId)),
  };
}

/** The times of the last calls of versions, by tool. */
function createUses() {
  const byTool = new Map<string, Map<string, string>>();
  const of = (tenantId: string, toolId: string): ReadonlyMap<string, string> =>
    byTool.get(JSON.stringify([tenantId, toolId])) ?? new Map<string, string>();
  return {
    of,
    note({ tenantId, toolId, version }: VersionKey, at: string): void {
      const known = of(tenantId, toolId);
      if ((known.get(version) ?? '') < at)
        byTool.set(JSON.stringify([tenantId, toolId]), new Map(known).set(version, at));
    },
    addTo(version: ToolVersion): ToolVersion {
      const lastUsedAt = of(version.tenantId, version.manifest.tool_id).get(version.manifest.version);
      return lastUsedAt === undefined ? version : { ...version, lastUsedAt };
    },
  };
}

const versionOf = (text: string): ToolVersion => JSON.parse(text) as ToolVersion;

const keyOf = ({ tenantId, toolId, version }: VersionKey): string => JSON.stringify([tenantId, toolId, version]);
