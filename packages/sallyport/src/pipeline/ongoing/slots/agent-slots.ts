// Every call takes a slot; only a call that finds none free pays for the queue.
import type { Failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SlotNeed, SlotShare } from './slot-share.ts';

/** How long, and with how many others, a call may wait for a slot. */
export interface SlotWait {
  /** Calls of one agent that may wait; one more is refused with E3106. */
  readonly waitingMax: number;
  /** Calls of all agents together that may wait. */
  readonly allWaitingMax: number;
  /** Longest wait, in ms; E3106 after that. */
  readonly ms: number;
  /** Ends the wait with its reason when aborted. */
  readonly signal: AbortSignal;
}

/** One slot of an agent, held by one call. */
export interface AgentSlot {
  /** Gives the slot back for good. Idempotent. */
  free(): void;
  /**
   * Does work that waits for a person, without a slot meanwhile. When the work is done the call is the next of its
   * agent to get a slot, and this resolves once it has one. When several such works overlap, the last one takes the
   * slot again.
   * @param signal its reason ends the wait for the slot
   * @throws what `work` throws; the signal's reason
   */
  without<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

/** Calls that wait for slots outside of the queue, because workers run them later. */
export interface SlotListener {
  /** Number of these calls of an agent. */
  waiting(agent: string): number;
  /** A slot of the agent is free; it may be taken before this returns. */
  free(agent: string): void;
}

/** Retry hint, in ms, for a call that found no slot. */
const RETRY_AFTER_MS = 1_000;

interface Waiter {
  /** The call held a slot before, and goes ahead of calls that never did. */
  readonly returns: boolean;
  /** Monotonic ms; 0 when the slots belong to this instance alone. */
  readonly since: number;
  /** The refusal of a call for which the queue had no room when it came, unless a slot of another instance comes. */
  readonly tooMany: ToolLayerError | undefined;
  /** True when it was known once that no slot has come: by the next time, other instances have given back what they could. */
  wasPassedOver: boolean;
  /** Hands the slot to the waiting call. */
  give(): void;
  refuse(reason: unknown): void;
}

interface TurnOptions extends Pick<Waiter, 'returns'> {
  readonly tooMany?: ToolLayerError | undefined;
  readonly ms?: number;
  readonly late?: () => ToolLayerError;
}

interface Agent {
  taken: number;
  /** In the order in which they get a slot. */
  readonly waiting: Waiter[];
  /** True when the listeners may take the next slot before the waiting calls. */
  listenersFirst: boolean;
}

/**
 * The slots of all agents in this instance (PIPE-08). A call that finds none free waits in the queue of its own agent,
 * so no agent waits for another. Listeners (the workers, for calls that run later) and the queue take turns. All slots
 * are this instance's, or with a share as many as it holds of those of all instances.
 */
export class AgentSlots {
  readonly #agents = new Map<string, Agent>();
  readonly #listeners = new Set<SlotListener>();
  readonly #share: SlotShare | undefined;
  #waiting = 0;
  #closed: ToolLayerError | undefined;

  /** @param share the slots that this instance holds; absent when it counts by itself */
  constructor(share?: SlotShare) {
    this.#share = share;
    share?.usedBy({
      need: (agent) => this.#need(agent),
      came: (agent, most, isLast) => this.#came(agent, most, isLast),
      failed: (agent, failure) => this.#failed(agent, failure),
    });
  }

  /** Number of calls of all agents that wait for a slot. */
  get waiting(): number {
    return this.#waiting;
  }

  /** A slot; undefined when none is free here. */
  take(agent: string, max: number): AgentSlot | undefined {
    return this.#count(agent, max) ? new HeldSlot(this, agent, max) : undefined;
  }

  has(agent: string, max: number): boolean {
    return (this.#agents.get(agent)?.taken ?? 0) < this.#limit(agent, max);
  }

  /**
   * Takes a slot as soon as one is free, after all calls of the agent that already wait.
   * @throws E3106 when the time is over, or too many wait; the signal's reason; E3811 when the layer stops
   */
  async wait(agent: string, max: number, { waitingMax, allWaitingMax, ms, signal }: SlotWait): Promise<AgentSlot> {
    const slot = this.take(agent, max);
    if (slot !== undefined) return slot;
    if (this.#closed !== undefined) throw this.#closed;
    const { taken = 0, waiting: { length: queued } = [] } = this.#agents.get(agent) ?? {};
    const tooMany =
      queued >= waitingMax
        ? tooManyWait(max, waitingMax, 'of it')
        : this.#waiting >= allWaitingMax
          ? tooManyWait(max, allWaitingMax, 'of this layer')
          : undefined;
    // Other instances may have slots to spare, which is no wait.
    const mayCome = this.#share === undefined ? 0 : Math.max(0, max - taken);
    if (tooMany !== undefined && queued >= mayCome) throw tooMany;
    await this.#turn(agent, max, signal, { returns: false, tooMany, ms, late: () => noneInTime(max, ms) });
    return new HeldSlot(this, agent, max);
  }

  /** Takes a slot again, ahead of all calls of the agent that never had one. @throws the signal's reason */
  async retake(agent: string, max: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#count(agent, max)) await this.#turn(agent, max, signal, { returns: true });
  }

  /** Asks the other instances for a slot for a call that a listener counts as waiting. */
  seek(agent: string, max: number): void {
    this.#share?.seek(agent, max);
  }

  /** Notifies the listener of each free slot, until the handle is disposed. */
  onFree(listener: SlotListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Passes a slot that came free to the call that waits longest, or to a listener. */
  give(agent: string): void {
    const known = this.#agents.get(agent);
    if (known === undefined) return;
    known.taken -= 1;
    if (this.#share?.giveBack(agent) === true) this.#forgetUnused(agent);
    else this.#pass(agent);
  }

  /** Ends the wait of every call that has not begun, and refuses new calls. */
  close(reason: ToolLayerError): void {
    this.#closed = reason;
    const all = [...this.#agents.values()].flatMap(({ waiting }) => waiting);
    for (const waiter of all) if (!waiter.returns) waiter.refuse(reason);
  }

  #limit(agent: string, max: number): number {
    return this.#share === undefined ? max : Math.min(max, this.#share.held(agent));
  }

  #count(agent: string, max: number): boolean {
    const taken = this.#agents.get(agent)?.taken ?? 0;
    if (taken >= this.#limit(agent, max)) return false;
    this.#agentOf(agent).taken += 1;
    return true;
  }

  #agentOf(agent: string): Agent {
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    const added = { taken: 0, waiting: [], listenersFirst: true };
    this.#agents.set(agent, added);
    return added;
  }

  #forgetUnused(agent: string): void {
    const known = this.#agents.get(agent);
    if (known?.taken === 0 && known.waiting.length === 0) this.#agents.delete(agent);
  }

  /** Passes one free slot on. @returns false when nobody wants it */
  #pass(agent: string): boolean {
    const known = this.#agents.get(agent);
    // The common case: nobody waits.
    if (known === undefined || known.waiting.length === 0) {
      this.#forgetUnused(agent);
      return this.#notify(agent);
    }
    const isTaken = known.listenersFirst && this.#notify(agent);
    known.listenersFirst = !known.listenersFirst;
    if (isTaken) return true;
    known.taken += 1;
    known.waiting[0]?.give();
    return true;
  }

  /** @returns true when a listener took the slot */
  #notify(agent: string): boolean {
    const takenOf = (): number => this.#agents.get(agent)?.taken ?? 0;
    const before = takenOf();
    for (const listener of this.#listeners) listener.free(agent);
    return takenOf() > before;
  }

  #need(agent: string): SlotNeed {
    const { taken = 0, waiting = [] } = this.#agents.get(agent) ?? {};
    let count = waiting.length;
    for (const listener of this.#listeners) count += listener.waiting(agent);
    return { running: taken, waiting: count, since: waiting[0]?.since };
  }

  /** Slots came from other instances, or may be used again. */
  #came(agent: string, most: number, isLast: boolean): void {
    const isFree = (): boolean => (this.#agents.get(agent)?.taken ?? 0) < (this.#share?.held(agent) ?? 0);
    for (let left = most; left > 0 && isFree() && this.#pass(agent); left -= 1);
    if (!isLast) return;
    for (const waiter of [...(this.#agents.get(agent)?.waiting ?? [])]) {
      if (waiter.tooMany !== undefined && waiter.wasPassedOver) waiter.refuse(waiter.tooMany);
      waiter.wasPassedOver = true;
    }
  }

  #failed(agent: string, failure: Failure): void {
    for (const { returns, refuse } of [...(this.#agents.get(agent)?.waiting ?? [])])
      if (!returns) refuse(ToolLayerError.of(failure));
  }

  /** Waits in the queue of an agent that has no slot left. */
  #turn(agent: string, max: number, signal: AbortSignal, { returns, tooMany, ms, late }: TurnOptions): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const { waiting } = this.#agentOf(agent);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      waiting.splice(waiting.indexOf(waiter), 1);
      this.#waiting -= 1;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#forgetUnused(agent);
      this.#share?.noteFewer(agent);
    };
    const waiter: Waiter = {
      returns,
      since: this.#share?.now() ?? 0,
      tooMany,
      wasPassedOver: false,
      give: () => {
        leave();
        resolve();
      },
      refuse: (reason) => {
        leave();
        reject(reason);
      },
    };
    const onAbort = (): void => waiter.refuse(signal.reason);
    const timer = late === undefined ? undefined : setTimeout(() => waiter.refuse(late()), ms);
    signal.addEventListener('abort', onAbort);
    const place = returns ? waiting.findIndex((other) => !other.returns) : -1;
    waiting.splice(place === -1 ? waiting.length : place, 0, waiter);
    this.#waiting += 1;
    this.#share?.seek(agent, max);
    return promise;
  }
}

class HeldSlot implements AgentSlot {
  readonly #slots: AgentSlots;
  readonly #agent: string;
  readonly #max: number;
  /** Number of works under way that need no slot. */
  #without = 0;
  #isHeld = true;
  #isOver = false;
  /** The wait for the slot, once these works are done. */
  #coming: Promise<void> | undefined;

  constructor(slots: AgentSlots, agent: string, max: number) {
    this.#slots = slots;
    this.#agent = agent;
    this.#max = max;
  }

  free(): void {
    this.#isOver = true;
    this.#letGo();
  }

  async without<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    this.#without += 1;
    this.#letGo();
    try {
      return await work();
    } finally {
      this.#without -= 1;
      if (this.#without === 0 && !this.#isHeld && !this.#isOver) {
        this.#coming ??= this.#retake(signal).finally(() => {
          this.#coming = undefined;
        });
        await this.#coming;
      }
    }
  }

  async #retake(signal: AbortSignal): Promise<void> {
    await this.#slots.retake(this.#agent, this.#max, signal);
    this.#isHeld = true;
    // The call may have ended, or asked a person again, while the slot was handed over.
    if (this.#isOver || this.#without > 0) this.#letGo();
  }

  #letGo(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#slots.give(this.#agent);
  }
}

const tooManyWait = (max: number, waitingMax: number, whose: string): ToolLayerError =>
  new ToolLayerError(
    'E3106',
    `The agent runs ${max} calls already, and ${waitingMax} calls ${whose} wait for a slot. Call again when some of them have ended.`,
    { details: { calls_max: max, waiting_max: waitingMax }, retryAfterMs: RETRY_AFTER_MS },
  );

const noneInTime = (max: number, ms: number): ToolLayerError =>
  new ToolLayerError(
    'E3106',
    `The agent runs ${max} calls already, and none of them ended within the ${ms / 1000} s that this call may take. Nothing of it ran.`,
    { details: { calls_max: max, waited_ms: ms }, retryAfterMs: RETRY_AFTER_MS },
  );
