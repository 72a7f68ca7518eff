import { type Clock, systemClock } from '@sallyport/std/clock';
import type { LedgerStore } from '../../../src/audit/ledger-store.port.ts';
import { type CallKey, textOfCall } from '../../../src/domain/invocation/call-key.ts';
import { isFinal } from '../../../src/domain/invocation/lifecycle.ts';
import type {
  CallLeaseStore,
  HeldCall,
  HeldProgress,
  LeaseHolder,
  UnattendedCall,
} from '../../../src/orchestration/call-lease-store.port.ts';

interface HeldLease extends CallKey {
  readonly instanceId: string;
  /** Null when the entry is only a request to cancel a call without a lease; empty when the call was put back. */
  owner: string | null;
  fence: number;
  /** End of the lease in monotonic ms. */
  until: number;
  begun: boolean;
  preemptions: number;
  progress?: HeldProgress;
  cancel?: string;
  answers?: Readonly<Record<string, unknown>>;
  extendedMs: number;
}

/** How many rows are read at a time to find unattended calls. */
const PAGE = 1_000;

/** The data that the parts of the store share. */
interface Held {
  readonly leases: Map<string, HeldLease>;
  readonly instances: Map<string, { readonly owner: string; readonly until: number }>;
  readonly ledger: Pick<LedgerStore, 'waitingCalls' | 'findInvocation'>;
  readonly clock: Clock;
}

/**
 * Leases in memory, with this process's monotonic clock.
 * @param ledger the ledger with the records of the calls
 */
export function memoryCallLeaseStore(
  ledger: Held['ledger'],
  { clock = systemClock }: { readonly clock?: Clock } = {},
): CallLeaseStore {
  const held: Held = { leases: new Map(), instances: new Map(), ledger, clock };
  return {
    ...holding(held),
    ...words(held),
    ...lives(held),
    async beat({ instanceId, owner }, ttlMs, attended) {
      const { leases, instances } = held;
      const until = clock.monotonic() + ttlMs;
      instances.set(instanceId, { owner, until });
      const own: HeldLease[] = [];
      for (const each of attended) {
        const lease = leases.get(textOfCall(each));
        if (lease?.owner !== owner) continue;
        if (each.progress !== undefined) lease.progress = each.progress;
        lease.until = until;
        own.push(lease);
      }
      const told = [...leases.values()].filter((lease) => lease.owner === null && lease.instanceId === instanceId);
      for (const lease of told) leases.delete(textOfCall(lease));
      return {
        held: own.map(heldOf),
        unheld: told.map(({ tenantId, invocationId, cancel = '' }) => ({ tenantId, invocationId, cancel })),
        instances: [...instances.values()].filter((instance) => instance.until > clock.monotonic()).length,
      };
    },
    unattended: (limit, idleMs) => unattended(held, limit, idleMs),
  };
}

type Holding = Pick<CallLeaseStore, 'take' | 'begin' | 'release' | 'putBack' | 'forgetEnded' | 'find'>;

function holding(held: Held): Holding {
  const { leases, clock, ledger } = held;
  const mine = (call: CallKey, owner: string, fence: number): HeldLease | undefined => {
    const lease = leases.get(textOfCall(call));
    return lease !== undefined && lease.owner === owner && lease.fence === fence ? lease : undefined;
  };
  const putBack = (call: CallKey, owner: string, fence: number, counted: boolean): void => {
    const lease = mine(call, owner, fence);
    if (lease === undefined) return;
    const { progress: _progress, ...kept } = lease;
    const preemptions = lease.preemptions + (counted ? 1 : 0);
    leases.set(textOfCall(call), { ...kept, owner: '', until: Number.NEGATIVE_INFINITY, begun: false, preemptions });
  };
  return {
    async take(call, holder, ttlMs) {
      const earlier = leases.get(textOfCall(call));
      if (isLive(held, earlier)) return undefined;
      const lease = nextLease(call, holder, earlier, clock.monotonic() + ttlMs);
      leases.set(textOfCall(call), lease);
      const { fence, begun, preemptions, extendedMs, cancel } = lease;
      return { fence, begun, preemptions, extendedMs, ...(cancel === undefined ? {} : { cancel }) };
    },
    async begin(call, owner, fence) {
      const lease = mine(call, owner, fence);
      if (lease !== undefined) lease.begun = true;
      return lease !== undefined;
    },
    async release(call, owner, fence) {
      if (mine(call, owner, fence)?.cancel !== undefined) putBack(call, owner, fence, false);
      else if (mine(call, owner, fence) !== undefined) leases.delete(textOfCall(call));
    },
    putBack: async (...given) => putBack(...given),
    async forgetEnded() {
      for (const [key, lease] of leases) {
        if (lease.owner === null || lease.until > clock.monotonic()) continue;
        const record = await ledger.findInvocation(lease.tenantId, lease.invocationId);
        if (record !== undefined && isFinal(record.state) && leases.get(key) === lease) leases.delete(key);
      }
    },
    async find(call) {
      const lease = leases.get(textOfCall(call));
      if (lease === undefined || lease.owner === null) return undefined;
      const { progress } = lease;
      return { live: isLive(held, lease), ...(progress === undefined ? {} : { progress }) };
    },
  };
}

function words(held: Held): Pick<CallLeaseStore, 'notifyHolder' | 'notifyInstance'> {
  const { leases } = held;
  return {
    async notifyHolder(call, { cancel, extendMs = 0, answers }) {
      const lease = leases.get(textOfCall(call));
      if (!isLive(held, lease)) return false;
      if (cancel !== undefined) lease.cancel = cancel;
      if (answers !== undefined) lease.answers = { ...lease.answers, ...answers };
      lease.extendedMs += extendMs;
      return true;
    },
    async notifyInstance(call, instanceId, cancel) {
      const lease = leases.get(textOfCall(call));
      if (lease !== undefined) lease.cancel = cancel;
      else {
        const word = { owner: null, fence: 0, until: Number.NEGATIVE_INFINITY, begun: false, preemptions: 0 };
        leases.set(textOfCall(call), { ...call, instanceId, ...word, cancel, extendedMs: 0 });
      }
    },
  };
}

function lives(held: Held): Pick<CallLeaseStore, 'endFormerLives' | 'takeDeadInstances' | 'forgetInstance'> {
  const { leases, instances, clock } = held;
  return {
    async endFormerLives({ instanceId, owner }) {
      const former = [...leases.values()].filter(
        (lease) =>
          lease.instanceId === instanceId && lease.owner !== null && lease.owner !== owner && isLive(held, lease),
      );
      for (const lease of former) lease.until = Number.NEGATIVE_INFINITY;
      return former.length;
    },
    async takeDeadInstances({ instanceId, owner }, ttlMs) {
      const now = clock.monotonic();
      const dead = [...instances].filter(([id, { until }]) => id !== instanceId && until <= now);
      for (const [id] of dead) instances.set(id, { owner, until: now + ttlMs });
      return dead.map(([id]) => id);
    },
    async forgetInstance(instanceId, owner) {
      if (instances.get(instanceId)?.owner !== owner) return;
      instances.delete(instanceId);
      for (const lease of leases.values()) {
        if (lease.instanceId === instanceId && lease.owner === null) leases.delete(textOfCall(lease));
      }
    },
  };
}

async function unattended(held: Held, limit: number, idleMs: number): Promise<UnattendedCall[]> {
  const { leases, ledger } = held;
  const found: UnattendedCall[] = [];
  let page = await ledger.waitingCalls({ waitsFor: 'worker', limit: PAGE });
  while (page.length > 0 && found.length < limit) {
    for (const record of page) {
      const lease = leases.get(textOfCall(record));
      const neverHeld = lease === undefined || lease.owner === null;
      if (neverHeld ? record.acceptedAt > Date.now() - idleMs : isLive(held, lease)) continue;
      const { tenantId, invocationId, acceptedAt } = record;
      found.push({ tenantId, invocationId, acceptedAt });
    }
    const after = page.at(-1);
    page =
      after === undefined || page.length < PAGE
        ? []
        : await ledger.waitingCalls({ waitsFor: 'worker', limit: PAGE, after });
  }
  return found.slice(0, limit);
}

const isLive = ({ clock }: Held, lease: HeldLease | undefined): lease is HeldLease =>
  lease !== undefined && lease.until > clock.monotonic();

function heldOf({ tenantId, invocationId, fence, cancel, answers, extendedMs }: HeldLease): HeldCall {
  return {
    tenantId,
    invocationId,
    fence,
    extendedMs,
    ...(cancel === undefined ? {} : { cancel }),
    ...(answers === undefined ? {} : { answers }),
  };
}

function nextLease(
  { tenantId, invocationId }: CallKey,
  { instanceId, owner }: LeaseHolder,
  earlier: HeldLease | undefined,
  until: number,
): HeldLease {
  const kept = earlier ?? { fence: 0, begun: false, preemptions: 0, extendedMs: 0 };
  return { ...kept, tenantId, invocationId, instanceId, owner, fence: kept.fence + 1, until };
}
