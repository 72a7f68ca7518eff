import { type Clock, systemClock } from '@sallyport/std/clock';
import {
  adoptTerms,
  askCircuit,
  type Circuit,
  type CircuitAnswer,
  type CircuitChange,
  type CircuitPermit,
  type Epochs,
  newCircuit,
  reportToCircuit,
  setCircuit,
  viewOfCircuit,
} from '../../domain/circuit/circuit.ts';
import type { CircuitTerms } from '../../domain/circuit/circuit-terms.ts';
import type { CircuitStore, EndedAttempt, KnownCircuit } from '../../external/circuit-store.port.ts';

/** Default number of circuits held at once; some 10 MB with windows of 100 calls. */
const CIRCUITS_MAX = 10_000;
/** Circuits examined for each new one when the limit is reached. */
const LOOKED_AT = 8;

interface Entry {
  readonly tenantId: string;
  readonly name: string;
  readonly circuit: Circuit;
  /** True when it was used since the last search for room. */
  isUsed: boolean;
}

/** Answers synchronously. */
export interface MemoryCircuitStore extends CircuitStore {
  permit(tenantId: string, name: string, terms: CircuitTerms, heldMsMax: number): CircuitAnswer;
  report(tenantId: string, name: string, permit: CircuitPermit, attempt: EndedAttempt): CircuitChange | undefined;
  /** Number of circuits held. */
  readonly size: number;
}

/**
 * Circuits in this process, O(1) for each permit and report; lost with the process. At the limit a new circuit replaces
 * a closed one that has not been used recently; that one begins anew with its next call. If none of those examined is
 * closed, an open one goes. States set by a person stay; when all circuits are such, a new one is refused.
 * @param options.circuitsMax circuits held at once, 10 000 by default
 */
export function memoryCircuitStore(
  options: { readonly clock?: Clock; readonly circuitsMax?: number } = {},
): MemoryCircuitStore {
  const { clock = systemClock, circuitsMax = CIRCUITS_MAX } = options;
  const entries = new Entries();
  const epochs: Epochs = { last: 0 };

  const find = (tenantId: string, name: string): Entry | undefined => entries.find(tenantId, name);
  const add = (tenantId: string, name: string, terms: CircuitTerms, nowMs: number): Entry => {
    if (entries.size >= circuitsMax && !makeRoom(entries))
      throw new Error(`all of ${circuitsMax} circuits are held as somebody set them`);
    const entry: Entry = { tenantId, name, circuit: newCircuit(terms, epochs, nowMs), isUsed: true };
    entries.add(entry);
    return entry;
  };
  const shown = ({ name, circuit }: Entry): KnownCircuit => {
    const nowMs = clock.monotonic();
    const { changedAt, lastFailureAt, ...view } = viewOfCircuit(circuit, nowMs);
    const wallOf = (at: number): number => Math.round(clock.now() - Math.max(0, nowMs - at));
    return {
      ...view,
      name,
      since: wallOf(changedAt),
      ...(lastFailureAt === undefined ? {} : { lastFailureAt: wallOf(lastFailureAt) }),
    };
  };

  return {
    get size() {
      return entries.size;
    },
    permit(tenantId, name, terms, heldMsMax) {
      const entry = find(tenantId, name) ?? add(tenantId, name, terms, clock.monotonic());
      const { circuit } = entry;
      entry.isUsed = true;
      if (circuit.terms !== terms) adoptTerms(circuit, terms);
      // The common case first: a closed circuit needs no clock.
      return circuit.state === 'closed' ? circuit.permit : askCircuit(circuit, clock.monotonic(), heldMsMax);
    },
    report(tenantId, name, permit, { end, durationMs }) {
      const entry = find(tenantId, name);
      if (entry === undefined) return undefined;
      return reportToCircuit(entry.circuit, permit, { end, durationMs, nowMs: clock.monotonic() });
    },
    async set(tenantId, name, state) {
      const entry = find(tenantId, name);
      return entry === undefined ? undefined : setCircuit(entry.circuit, state, clock.monotonic());
    },
    async find(tenantId, name) {
      const entry = find(tenantId, name);
      return entry === undefined ? undefined : shown(entry);
    },
    async list(tenantId, { limit, after, state }) {
      const own: Entry[] = [];
      for (const entry of entries.ofTenant(tenantId)) {
        const isAfter = after === undefined || entry.name > after;
        if (isAfter && (state === undefined || entry.circuit.state === state)) own.push(entry);
      }
      own.sort((one, other) => (one.name < other.name ? -1 : 1));
      return own.slice(0, limit).map(shown);
    },
  };
}

/**
 * Circuits by tenant and name, and in the order in which room is sought. Two levels of maps: joining the names costs
 * more.
 */
class Entries {
  readonly #byTenant = new Map<string, Map<string, Entry>>();
  readonly #inOrder = new Set<Entry>();

  get size(): number {
    return this.#inOrder.size;
  }

  find(tenantId: string, name: string): Entry | undefined {
    return this.#byTenant.get(tenantId)?.get(name);
  }

  ofTenant(tenantId: string): Iterable<Entry> {
    return this.#byTenant.get(tenantId)?.values() ?? [];
  }

  inOrder(): Iterable<Entry> {
    return this.#inOrder;
  }

  add(entry: Entry): void {
    const own = this.#byTenant.get(entry.tenantId) ?? new Map<string, Entry>();
    own.set(entry.name, entry);
    this.#byTenant.set(entry.tenantId, own);
    this.#inOrder.add(entry);
  }

  remove(entry: Entry): void {
    const own = this.#byTenant.get(entry.tenantId);
    own?.delete(entry.name);
    if (own?.size === 0) this.#byTenant.delete(entry.tenantId);
    this.#inOrder.delete(entry);
  }

  moveToEnd(entry: Entry): void {
    this.#inOrder.delete(entry);
    this.#inOrder.add(entry);
  }
}

/** @returns false when a person has set the state of every circuit */
function makeRoom(entries: Entries): boolean {
  const looked: Entry[] = [];
  for (const entry of entries.inOrder()) {
    const { state } = entry.circuit;
    // Circuits set by a person are skipped, so the loop ends only when there are no others.
    if (state === 'forced_open' || state === 'disabled') continue;
    looked.push(entry);
    if (looked.length === LOOKED_AT || (state === 'closed' && !entry.isUsed)) break;
  }
  const closed = looked.filter(({ circuit }) => circuit.state === 'closed');
  const goes = closed.find(({ isUsed }) => !isUsed) ?? closed[0] ?? looked[0];
  if (goes === undefined) return false;
  entries.remove(goes);
  // Circuits that stay move to the end of the order, and count as unused until their next use.
  for (const entry of looked) {
    entry.isUsed = false;
    if (entry !== goes) entries.moveToEnd(entry);
  }
  return true;
}
