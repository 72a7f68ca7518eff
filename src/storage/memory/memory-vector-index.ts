// Hot path: every search by meaning goes through here.
import type { Nearness, ToolVector, VectorIndex } from '../../registry/vectors.port.ts';
import { chooseNearest } from './vectors/choose-nearest.ts';
import { createVectorRows, type VectorRows } from './vectors/vector-rows.ts';

/** An index in this process, with what it takes. */
export interface MemoryVectorIndex extends VectorIndex {
  /** Bytes of the vectors. */
  bytes(): number;
}

/**
 * Vectors in this process; every one is compared. Takes 2 bytes for each number: 1 MB for 1 000 tools with 512 numbers each.
 * When more than {@link Nearness.toolsMax} are near, a few more of equal nearness may be found.
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
        tenant = { places: new Map(), ids: [], addresses: new Uint32Array(FIRST_CAPACITY) };
        tenants.set(tenantId, tenant);
      }
      for (const each of vectors) put(rows, tenant, each);
    },
    async remove(tenantId, toolIds) {
      const tenant = tenants.get(tenantId);
      if (tenant === undefined || rows === undefined) return;
      for (const toolId of toolIds) remove(rows, tenant, toolId);
    },
    async search(tenantId, nearness) {
      const tenant = tenants.get(tenantId);
      return tenant === undefined || rows === undefined ? new Map() : search(rows, tenant, nearness);
    },
  };
}

const FIRST_CAPACITY = 16;

/** Tools in no order; the last one takes the place of one that goes. */
interface Tenant {
  readonly places: Map<string, number>;
  readonly ids: string[];
  addresses: Uint32Array;
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
  const places = only === undefined ? undefined : placesOf(tenant, only);
  const addresses =
    places === undefined
      ? tenant.addresses.subarray(0, tenant.ids.length)
      : places.map((place) => tenant.addresses[place] as number);
  const cosines = rows.nearest(queries, addresses);
  const found = new Map<string, number>();
  for (const at of chooseNearest(cosines, cosineMin, toolsMax)) {
    found.set(tenant.ids[places === undefined ? at : (places[at] as number)] as string, cosines[at] as number);
  }
  const rest = new Set(also);
  if (places === undefined) {
    for (const toolId of rest) {
      const place = tenant.places.get(toolId);
      if (place !== undefined) found.set(toolId, cosines[place] as number);
    }
  } else {
    places.forEach((place, at) => {
      const toolId = tenant.ids[place] as string;
      if (rest.has(toolId)) found.set(toolId, cosines[at] as number);
    });
  }
  return found;
}

/** A tool that is named twice counts once. */
function placesOf(tenant: Tenant, toolIds: readonly string[]): Uint32Array {
  const places = new Uint32Array(toolIds.length);
  let count = 0;
  for (const toolId of new Set(toolIds)) {
    const place = tenant.places.get(toolId);
    if (place !== undefined) places[count++] = place;
  }
  return places.subarray(0, count);
}
