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
  setCircuit,
  tellCircuit,
  viewOfCircuit,
} from '../../domain/circuit/circuit.ts';
import type { CircuitTerms } from '../../domain/circuit/circuit-terms.ts';
import type { CircuitStore, EndedAttempt, KnownCircuit } from '../../external/circuit-store.port.ts';

/** Circuits held at once when the caller names no bound; some 10 MB with windows of 100 calls. */
const CIRCUITS_MAX = 10_000;
/** Circuits looked at for each new one when the bound is reached. */
const LOOKED_AT = 8;

interface Entry {
  readonly tenantId: string;
  readonly name: string;
  readonly circuit: Circuit;
  /** It was asked since somebody looked for room last. */
  isUsed: boolean;
}

/** Answers at once. */
export interface MemoryCircuitStore extends CircuitStore {
  permit(tenantId: string, name: string, terms: CircuitTerms, heldMsMax: number): CircuitAnswer;
  report(tenantId: string, name: string, permit: CircuitPermit, attempt: EndedAttempt): CircuitChange | undefined;
  /** Circuits that are held. */
  readonly size: number;
}

/**
 * Circuits in this process, O(1) for each permit and report; lost with the process. At the bound a closed circuit goes for a
 * new one, one that was not asked for long before others: it begins anew with its next call. Where there is none among
 * those looked at, an open one goes. What a person set stays; when there is nothing but that, a new one is refused.
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
      // The common case first: a closed circuit asks for no time.
      return circuit.state === 'closed' ? circuit.permit : askCircuit(circuit, clock.monotonic(), heldMsMax);
    },
    report(tenantId, name, permit, { end, durationMs }) {
      const entry = find(tenantId, name);
      if (entry === undefined) return undefined;
      return tellCircuit(entry.circuit, permit, { end, durationMs, nowMs: clock.monotonic() });
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

/** Circuits by tenant and name, and in the order in which room is looked for. Names are looked up as they are: to join them costs more. */
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

  moveBehind(entry: Entry): void {
    this.#inOrder.delete(entry);
    this.#inOrder.add(entry);
  }
}

/** @returns false when everything is held as a person set it */
function makeRoom(entries: Entries): boolean {
  const looked: Entry[] = [];
  for (const entry of entries.inOrder()) {
    const { state } = entry.circuit;
    // What a person set is passed by, so this ends only when there is nothing else.
    if (state === 'forced_open' || state === 'disabled') continue;
    looked.push(entry);
    if (looked.length === LOOKED_AT || (state === 'closed' && !entry.isUsed)) break;
  }
  const closed = looked.filter(({ circuit }) => circuit.state === 'closed');
  const goes = closed.find(({ isUsed }) => !isUsed) ?? closed[0] ?? looked[0];
  if (goes === undefined) return false;
  entries.remove(goes);
  // Those that stay stand behind the others the next time, and are unused until they are asked again.
  for (const entry of looked) {
    entry.isUsed = false;
    if (entry !== goes) entries.moveBehind(entry);
  }
  return true;
}
