import type { Clock } from '@sallyport/std/clock';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import type { ToolStore } from '../../tool-store.port.ts';

/** How often the use of a constantly called version is noted, in ms. */
const GRAIN_MS = 3_600_000;
/** Most notes that wait to be written; beyond that a use is remembered only here. */
const PENDING_MAX = 20_000;

/** When versions were last called, as seen by this instance. */
export interface Uses {
  /** Costs a look-up. */
  note(version: ToolVersion): void;
  /** Epoch ms of the last known call, to an hour; undefined when there is none. */
  lastUse(version: ToolVersion): number | undefined;
  /** Transfers the notes of one version object to its replacement. */
  carryOver(from: ToolVersion, to: ToolVersion): void;
  /** Writes the notes since the last time; keeps them when that fails. */
  flush(): Promise<void>;
}

/** Nothing is noted yet. */
export function createUses({ clock, store }: { readonly clock: Clock; readonly store: ToolStore }): Uses {
  const noted = new WeakMap<ToolVersion, number>();
  let pending = new Map<ToolVersion, number>();
  const note = (version: ToolVersion): void => {
    const now = clock.now();
    const before = noted.get(version);
    if (before !== undefined && now - before < GRAIN_MS) return;
    noted.set(version, now);
    if (pending.size < PENDING_MAX) pending.set(version, now);
  };
  return {
    note,
    lastUse(version) {
      const stored = version.lastUsedAt === undefined ? undefined : Date.parse(version.lastUsedAt);
      const here = noted.get(version);
      return here === undefined || (stored !== undefined && stored > here) ? stored : here;
    },
    carryOver(from, to) {
      const at = noted.get(from);
      if (at !== undefined) noted.set(to, at);
    },
    async flush() {
      if (pending.size === 0) return;
      const writing = pending;
      pending = new Map();
      try {
        await store.noteUses([...writing].map(([version, at]) => useOf(version, at)));
      } catch (thrown) {
        pending = new Map([...writing, ...pending]);
        throw thrown;
      }
    },
  };
}

const useOf = ({ tenantId, manifest }: ToolVersion, at: number) => ({
  tenantId,
  toolId: manifest.tool_id,
  version: manifest.version,
  lastUsedAt: new Date(at).toISOString(),
});
