import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { createPendingWork } from '../pacing/pending-work.ts';
import type { KnownCaller } from './caller-credentials.ts';
import type { CallerLink } from './caller-link.ts';
import { createRoomQueue, type RoomQueue } from './room-queue.ts';

/**
 * Connections of one caller with different credentials: a caller with a new token for each call cannot take everybody's
 * room.
 */
const PER_CALLER_MAX = 4;

/** Limits of the connections to one upstream. */
export interface CallerLinkBounds {
  /** All connections, closing ones included. */
  readonly connectionsMax: number;
  /** Longest opening of a connection, and the default of a call's wait for room, ms. */
  readonly connectTimeoutMs: number;
  /** Idle time before a connection is closed, ms. */
  readonly idleMs: number;
  /** Idle time when the caller has a newer connection with other credentials, ms. */
  readonly formerIdleMs: number;
}

/** Dependencies of the callers' connections. */
export interface CallerLinksParts {
  /** Name of the upstream. */
  readonly name: string;
  readonly bounds: CallerLinkBounds;
  /** Opens a connection; leaves nothing open when the signal aborts. */
  open(caller: KnownCaller, signal: AbortSignal): Promise<CallerLink>;
}

/** Limits of one call's wait, or of other work with a connection. */
export interface CallerWait {
  readonly signal?: AbortSignal | undefined;
  /** ms; default: the longest opening of a connection. */
  readonly timeoutMs?: number | undefined;
  /** The work has no end of its own: it ends where its caller has room for a call nowhere else. */
  readonly yields?: boolean;
}

/** A caller's connection, lent for the duration of one call. */
export interface LentLink extends CallerLink {
  /** Marks the connection as unusable: later calls get a new one. */
  retire(): void;
  /** Resolves once it is marked so; work that has no end of its own ends then. */
  readonly retired: Promise<void>;
}

interface Slot {
  readonly identity: string;
  /** Whose authorization at the upstream it has. */
  readonly holder: string | undefined;
  readonly key: string;
  readonly opened: Promise<CallerLink>;
  readonly retired: PromiseWithResolvers<void>;
  /** Aborts an opening that nobody waits for any more. */
  readonly ending: AbortController;
  users: number;
  /** Those of them whose work yields to calls. */
  yielding: number;
  isOpen: boolean;
  /** Its caller has a connection with newer credentials. */
  isFormer: boolean;
  timer?: NodeJS.Timeout;
}

/**
 * The connections to one upstream, each for one caller with one set of credentials. A connection lent to one caller is
 * never lent to another (PRM-11). Without room, the longest-idle connection is closed; when none is idle, a call waits.
 */
export class CallerLinks {
  readonly #parts: CallerLinksParts;
  /** By key; idle ones in the order in which they became idle. */
  readonly #slots = new Map<string, Slot>();
  /** No longer lent: still in use, or being closed. */
  readonly #leaving = new Set<Slot>();
  readonly #pending = createPendingWork();
  readonly #queue: RoomQueue<Slot>;
  /** Error for all further calls after closing. */
  #closed: ToolLayerError | undefined;

  constructor(parts: CallerLinksParts) {
    this.#parts = parts;
    this.#queue = createRoomQueue(parts.name);
  }

  /**
   * Runs work with this caller's connection, opened when missing; calls of one caller share it.
   * @throws what opening throws; E3803 when no room came in time or too many wait; E3310 when it was not open in time;
   *   the signal's reason; what `work` throws; after `close`, the error passed to it
   */
  async use<T>(caller: KnownCaller, wait: CallerWait, work: (link: LentLink) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw this.#closed;
    const { connectTimeoutMs } = this.#parts.bounds;
    const ms = Math.min(wait.timeoutMs ?? connectTimeoutMs, connectTimeoutMs);
    const startedAt = performance.now();
    const attempt = (ahead: number): Slot | undefined => this.#take(caller, ahead, wait.yields);
    // A caller with an existing connection needs no room, so only others wait in turn.
    const slot = attempt(this.#queue.size()) ?? (await this.#queue.wait(attempt, ms, wait.signal));
    try {
      const rest = Math.max(1, ms - (performance.now() - startedAt));
      const { link, hashOf, listFresh, suspect } = await (slot.isOpen
        ? slot.opened
        : within(slot.opened, rest, wait.signal, () => notOpen(this.#parts.name)));
      const retired = slot.retired.promise;
      return await work({ link, hashOf, listFresh, suspect, retired, retire: () => this.#retire(slot) });
    } finally {
      if (wait.yields === true) slot.yielding -= 1;
      this.#release(slot);
    }
  }

  /** Marks the connections of a holder as unusable: its authorization has ended. */
  retireAll(holder: string): void {
    for (const slot of [...this.#slots.values()]) if (slot.holder === holder) this.#retire(slot);
  }

  /** Whose authorizations the connections have. */
  holders(): ReadonlySet<string | undefined> {
    return new Set([...this.#slots.values()].map(({ holder }) => holder));
  }

  /** Number of connections, closing ones included. */
  size(): number {
    return this.#slots.size + this.#leaving.size;
  }

  /** Ends all connections, even during calls, and waits until nothing of them is left. Idempotent. */
  async close(reason: ToolLayerError): Promise<void> {
    this.#closed = reason;
    this.#queue.refuse(reason);
    for (const slot of [...this.#slots.values()]) {
      this.#slots.delete(slot.key);
      clearTimeout(slot.timer);
      this.#leaving.add(slot);
    }
    for (const slot of this.#leaving) void this.#pending.add(this.#end(slot));
    await this.#pending.done();
  }

  /**
   * The caller's own slot, or a new one when there is room. @param ahead number of callers that wait before this one
   */
  #take(caller: KnownCaller, ahead: number, yields = false): Slot | undefined {
    const known = this.#slots.get(caller.key);
    const isFull = known === undefined && (this.#closed !== undefined || !this.#findRoom(caller, ahead, yields));
    if (isFull) return undefined;
    const slot = known ?? this.#create(caller);
    clearTimeout(slot.timer);
    slot.isFormer = false;
    slot.users += 1;
    if (yields) slot.yielding += 1;
    return slot;
  }

  /**
   * True when one more connection may be opened now; otherwise an idle connection, if any, is closed to make room for
   * later.
   */
  #findRoom({ identity }: KnownCaller, ahead: number, yields: boolean): boolean {
    const all = [...this.#slots.values()];
    const own = all.filter((slot) => slot.identity === identity);
    if (own.length >= PER_CALLER_MAX) {
      const least = own.find(isResting) ?? (yields ? undefined : own.find(isYielding));
      if (least === undefined) return false;
      this.#retire(least);
    }
    // Waiting callers have tried before: the room they could take is not here any more.
    if (this.size() < this.#parts.bounds.connectionsMax) return true;
    // Each closing connection makes room for one waiting caller.
    if ([...this.#leaving].filter(isResting).length <= ahead) {
      const resting = all.find((slot) => isResting(slot) && this.#slots.has(slot.key));
      if (resting !== undefined) this.#retire(resting);
    }
    return false;
  }

  #create(caller: KnownCaller): Slot {
    const { identity, holder, key } = caller;
    for (const other of this.#slots.values()) {
      if (other.identity !== identity) continue;
      other.isFormer = true;
      if (isResting(other)) this.#endLater(other);
    }
    const ending = new AbortController();
    const late = AbortSignal.timeout(this.#parts.bounds.connectTimeoutMs);
    const opened = this.#parts.open(caller, AbortSignal.any([ending.signal, late]));
    const retired = Promise.withResolvers<void>();
    const unused = { users: 0, yielding: 0, isOpen: false, isFormer: false };
    const slot: Slot = { identity, holder, key, opened, retired, ending, ...unused };
    this.#slots.set(key, slot);
    opened.then(
      ({ link }) => {
        slot.isOpen = true;
        void link.ended.then(() => this.#retire(slot));
      },
      () => this.#retire(slot),
    );
    return slot;
  }

  #release(slot: Slot): void {
    slot.users -= 1;
    if (slot.users > 0) return;
    if (this.#leaving.has(slot)) void this.#pending.add(this.#end(slot));
    else if (slot.isOpen) this.#rest(slot);
    else this.#retire(slot);
    this.#queue.look();
  }

  #rest(slot: Slot): void {
    if (this.#slots.get(slot.key) !== slot) return;
    this.#slots.delete(slot.key);
    this.#slots.set(slot.key, slot);
    this.#endLater(slot);
  }

  #endLater(slot: Slot): void {
    const { idleMs, formerIdleMs } = this.#parts.bounds;
    clearTimeout(slot.timer);
    slot.timer = setTimeout(() => this.#retire(slot), slot.isFormer ? formerIdleMs : idleMs).unref();
  }

  #retire(slot: Slot): void {
    if (this.#slots.get(slot.key) !== slot) return;
    clearTimeout(slot.timer);
    this.#slots.delete(slot.key);
    this.#leaving.add(slot);
    slot.retired.resolve();
    if (isResting(slot)) void this.#pending.add(this.#end(slot));
  }

  async #end(slot: Slot): Promise<void> {
    slot.ending.abort();
    await slot.opened.then(
      ({ link }) => link.close(),
      () => {},
    );
    this.#leaving.delete(slot);
    this.#queue.look();
  }
}

function isResting({ users }: Slot): boolean {
  return users === 0;
}

/** Everybody who uses it yields to a call. */
function isYielding({ users, yielding }: Slot): boolean {
  return users === yielding;
}

/** Work that others wait for continues when this caller gives up. */
async function within<T>(
  work: Promise<T>,
  ms: number,
  signal: AbortSignal | undefined,
  late: () => ToolLayerError,
): Promise<T> {
  signal?.throwIfAborted();
  const { promise: given, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal?.reason);
  const timer = setTimeout(() => reject(late()), ms);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, given]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function notOpen(name: string): ToolLayerError {
  return new ToolLayerError('E3310', `The upstream '${name}' was not connected for this caller in time.`, {
    details: { reached: false },
  });
}
