import type { Nearness, ToolVector, VectorIndex } from '../../registry/vectors.port.ts';
import { chooseNearest } from './vectors/choose-nearest.ts';
import { createVectorRows, type VectorRows } from './vectors/vector-rows.ts';

/** An index in this process, with its size. */
export interface MemoryVectorIndex extends VectorIndex {
  /** Size of the vectors in bytes. */
  bytes(): number;
}

/**
 * Vectors in this process; a search compares every one. Takes 2 bytes for each number: 1 MB for 1 000 tools with 512
 * numbers each. When more than {@link Nearness.toolsMax} are near, a few more of equal nearness may be returned.
 */
export function memoryVectorIndex(): MemoryVectorIndex {
  let rows: VectorRows | undefined;
  let opened = '';
  const tenants = new Map<string, Tenant>();
  return {
    bytes: () => rows?.bytes() ?? 0,
    async open(model, dimensions) {
      const wanted = JSON.stringify([model, dimensions]);
      if (opened === wanted) return;
      opened = wanted;
      tenants.clear();
      rows = createVectorRows(dimensions);
    },
    async put(tenantId, vectors) {
      if (rows === undefined) return;
      let tenant = tenants.get(tenantId);
      if (tenant === undefined) {
        tenant = { places: new Map(), ids: [], addresses: new Uint32Array(FIRST_CAPACITY), state: {} };
        tenants.set(tenantId, tenant);
      }
      for (const each of vectors) put(rows, tenant, each);
      tenant.state = {};
    },
    async remove(tenantId, toolIds) {
      const tenant = tenants.get(tenantId);
      if (tenant === undefined || rows === undefined) return;
      for (const toolId of toolIds) remove(rows, tenant, toolId);
      tenant.state = {};
    },
    async search(tenantId, nearness) {
      const tenant = tenants.get(tenantId);
      return tenant === undefined || rows === undefined ? new Map() : search(rows, tenant, nearness);
    },
  };
}

const FIRST_CAPACITY = 16;

/** Tools in no order; the last one takes the place of a removed one. */
interface Tenant {
  readonly places: Map<string, number>;
  readonly ids: string[];
  addresses: Uint32Array;
  /** Replaced by another object after each change, so that cached results are recognised as outdated. */
  state: object;
}

function put(rows: VectorRows, tenant: Tenant, { toolId, vector }: ToolVector): void {
  const known = tenant.places.get(toolId);
  if (known !== undefined) {
    rows.replace(tenant.addresses[known] as number, vector);
    return;
  }
  const address = rows.add(vector);
  const place = tenant.ids.length;
  if (place === tenant.addresses.length) {
    const larger = new Uint32Array(place * 2);
    larger.set(tenant.addresses);
    tenant.addresses = larger;
  }
  tenant.addresses[place] = address;
  tenant.ids.push(toolId);
  tenant.places.set(toolId, place);
}

function remove(rows: VectorRows, tenant: Tenant, toolId: string): void {
  const place = tenant.places.get(toolId);
  if (place === undefined) return;
  rows.remove(tenant.addresses[place] as number);
  tenant.places.delete(toolId);
  const lastId = tenant.ids.pop();
  if (lastId === undefined || lastId === toolId) return;
  tenant.ids[place] = lastId;
  tenant.addresses[place] = tenant.addresses[tenant.ids.length] as number;
  tenant.places.set(lastId, place);
}

function search(rows: VectorRows, tenant: Tenant, nearness: Nearness): ReadonlyMap<string, number> {
  const { queries, cosineMin, toolsMax, also, only } = nearness;
  const chosen = only === undefined ? undefined : selectionOf(tenant, only);
  const cosines = rows.nearest(queries, chosen?.addresses ?? tenant.addresses.subarray(0, tenant.ids.length));
  const found = new Map<string, number>();
  for (const at of chooseNearest(cosines, cosineMin, toolsMax)) {
    found.set(tenant.ids[chosen === undefined ? at : (chosen.places[at] as number)] as string, cosines[at] as number);
  }
  for (const toolId of also) {
    const place = tenant.places.get(toolId);
    const at = place === undefined || chosen === undefined ? place : (chosen.order[place] as number) - 1;
    if (at !== undefined && at >= 0) found.set(toolId, cosines[at] as number);
  }
  return found;
}

/** The tools of a list, valid as long as the tenant is unchanged. */
interface Selection {
  readonly state: object;
  readonly places: Uint32Array;
  readonly addresses: Uint32Array;
  /** By tool index: its position among the chosen tools plus 1; 0 for a tool that was not chosen. */
  readonly order: Uint32Array;
}

/** Callers with the same filter pass the same list object, and it is long. */
const selections = new WeakMap<readonly string[], Selection>();

/** A tool that occurs twice counts once. */
function selectionOf(tenant: Tenant, toolIds: readonly string[]): Selection {
  const kept = selections.get(toolIds);
  if (kept?.state === tenant.state) return kept;
  const places = new Uint32Array(Math.min(toolIds.length, tenant.ids.length));
  const order = new Uint32Array(tenant.ids.length);
  let count = 0;
  for (const toolId of toolIds) {
    const place = tenant.places.get(toolId);
    if (place === undefined || order[place] !== 0) continue;
    places[count] = place;
    count += 1;
    order[place] = count;
  }
  const chosen = places.subarray(0, count);
  const addresses = chosen.map((place) => tenant.addresses[place] as number);
  const selection = { state: tenant.state, places: chosen, addresses, order };
  selections.set(toolIds, selection);
  return selection;
}
