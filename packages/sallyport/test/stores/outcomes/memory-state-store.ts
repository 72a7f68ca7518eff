import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type {
  HeldState,
  StateHolder,
  StateKey,
  StateScope,
  StateStore,
} from '../../../src/pipeline/state-store.port.ts';

/** The largest number of values of all tools and tenants; one more is refused with E3812. */
const VALUES_MAX = 100_000;

interface Row {
  readonly scope: string;
  value: string | undefined;
  revision: number;
  held: { readonly by: StateHolder; readonly next: string | undefined } | undefined;
}

/** Values of tools in memory. */
export function memoryStateStore(): StateStore {
  const rows = new Map<string, Row>();
  /** Number of values of each tool. */
  const sizes = new Map<string, number>();
  let revision = 0;
  const remove = (key: string, { scope }: Row): void => {
    rows.delete(key);
    const left = (sizes.get(scope) ?? 1) - 1;
    if (left === 0) sizes.delete(scope);
    else sizes.set(scope, left);
  };
  /** The rows that a call holds, with their keys. */
  const heldBy = (by: StateHolder): [string, Row][] =>
    [...rows].filter(([, { held }]) => held !== undefined && isSame(held.by, by));
  return {
    async read(key) {
      const row = rows.get(keyOf(key));
      return row === undefined ? undefined : shown(row);
    },
    async write({ key, by, next, expected, valuesMax }) {
      const at = keyOf(key);
      const row = rows.get(at);
      if (row?.held !== undefined && !isSame(row.held.by, by)) return { heldBy: row.held.by };
      if (row?.held === undefined && expected !== undefined && expected !== (row?.revision ?? 0)) return 'changed';
      if (row !== undefined) {
        row.held = { by, next };
        return 'written';
      }
      if (next === undefined) return 'written';
      const scope = scopeOf(key);
      const size = sizes.get(scope) ?? 0;
      if (size >= valuesMax) return 'full';
      if (rows.size >= VALUES_MAX) throw new ToolLayerError('E3812', `The store in memory holds ${VALUES_MAX} values.`);
      sizes.set(scope, size + 1);
      rows.set(at, { scope, value: undefined, revision: 0, held: { by, next } });
      return 'written';
    },
    async keep(by) {
      for (const [key, row] of heldBy(by)) {
        if (row.held?.next === undefined) remove(key, row);
        else {
          revision += 1;
          row.value = row.held.next;
          row.revision = revision;
          row.held = undefined;
        }
      }
    },
    async discard(by) {
      for (const [key, row] of heldBy(by)) {
        if (row.value === undefined) remove(key, row);
        else row.held = undefined;
      }
    },
  };
}

const isSame = (one: StateHolder, other: StateHolder): boolean =>
  one.tenantId === other.tenantId && one.invocationId === other.invocationId && one.fence === other.fence;

const shown = ({ value, revision, held }: Row): HeldState => ({
  value,
  revision,
  ...(held === undefined ? {} : { held: { ...held } }),
});

const scopeOf = ({ tenantId, ownerId, toolId }: StateScope): string => JSON.stringify([tenantId, ownerId, toolId]);
const keyOf = (key: StateKey): string => `${scopeOf(key)}${key.name}`;
