import { randomUUID } from 'node:crypto';
import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import type { SlotStore } from '../../../permission/slot-store.port.ts';
import type { Log } from '../../../telemetry/log.ts';

/** Ms between renewals of the lease. */
const RENEW_MS = 1_000;
/** Renewals in a row that find an agent without a call, after which its slots are given back. */
const IDLE_RENEWALS = 30;

/** What the calls of an agent need in this instance. */
export interface SlotNeed {
  readonly running: number;
  readonly waiting: number;
  /** When the first waiting call began to wait, monotonic ms; undefined when that is not known. */
  readonly since: number | undefined;
}

/** The owner of the calls that use the slots. */
export interface SlotUser {
  need(agent: string): SlotNeed;
  /**
   * `most` of the slots that are held may be used now.
   * @param isLast true when no more are asked for: calls that still wait have to go on waiting
   */
  came(agent: string, most: number, isLast: boolean): void;
  /** It cannot be known whether the agent has a slot left. */
  failed(agent: string, failure: Failure): void;
}

/** Dependencies of the share. */
export interface SlotShareParts {
  readonly store: SlotStore;
  readonly instanceId: string;
  /** Ms after which an instance that does not renew its lease loses its slots. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 1000. */
  readonly renewMs?: number;
}

/** What this instance knows of the slots of one agent. */
interface Share {
  readonly agent: string;
  readonly agentHash: string;
  readonly max: number;
  /** Slots that calls here may use. While the store is asked, no more than was reported to it are used. */
  held: number;
  /** Calls that the store knows to wait here. */
  wanted: number;
  /** True when a slot that comes free goes back, since calls wait in other instances. */
  contended: boolean;
  /** True while the store is asked. */
  asking: boolean;
  /** True when it has to be asked once more. */
  again: boolean;
  /** Since when calls have waited whose own time is not known, monotonic ms. */
  since: number | undefined;
  idleRenewals: number;
}

/**
 * The part of each agent's slots that belongs to this instance (PIPE-08, adr/0021). Slots that came once stay until
 * another instance wants them, so the calls of an agent reach the store only when its slots here do not suffice.
 */
export class SlotShare implements AsyncDisposable {
  readonly #parts: SlotShareParts;
  readonly #owner: string;
  readonly #shares = new Map<string, Share>();
  readonly #byHash = new Map<string, Share>();
  #user: SlotUser | undefined;
  /** Until when the slots are surely this instance's, monotonic ms. */
  #leasedUntil = Number.NEGATIVE_INFINITY;
  /** Number of leases so far: an answer to a question of an earlier lease counts no more. */
  #lease = 0;
  #renewing: Promise<void> | undefined;
  #hasFailed = false;
  /** Nothing is asked any more: it would begin a lease that nobody ends. */
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #listening: AsyncDisposable | undefined;

  constructor(parts: SlotShareParts) {
    this.#parts = parts;
    this.#owner = `${parts.instanceId}/${randomUUID()}`;
  }

  /** Begins the lease, and listens to other instances. @throws E3812 when the store cannot be reached */
  async start(): Promise<void> {
    const { store, renewMs = RENEW_MS } = this.#parts;
    await this.#renew();
    this.#listening = await store.listen(this.#owner, (agentHash) => this.#notified(agentHash));
    this.#timer = setInterval(() => void this.#turn(), renewMs).unref();
  }

  /** Sets who uses the slots; once. */
  usedBy(user: SlotUser): void {
    this.#user = user;
  }

  /** Monotonic ms. */
  now(): number {
    return this.#parts.clock.monotonic();
  }

  /** Slots of the agent that may be used here now; 0 when it is not known. */
  held(agent: string): number {
    const share = this.#shares.get(agent);
    return share === undefined || this.now() >= this.#leasedUntil ? 0 : share.held;
  }

  /** Gives a slot that came free back when calls of other instances wait. @returns false when it stays here */
  giveBack(agent: string): boolean {
    const share = this.#shares.get(agent);
    if (share?.contended !== true) return false;
    this.#ask(share);
    return true;
  }

  /** Asks for a slot for a call that waits, unless the store knows already that as many wait. */
  seek(agent: string, max: number): void {
    const share = this.#shareOf(agent, max);
    const { running, waiting } = this.#need(agent);
    const isKnown = share.wanted >= wantsOf(max, running, waiting) && this.now() < this.#leasedUntil;
    if (!isKnown || share.asking) this.#ask(share);
  }

  /** A call of the agent waits no longer: another instance may come first now. */
  noteFewer(agent: string): void {
    const share = this.#shares.get(agent);
    if (share !== undefined && this.#need(agent).waiting < share.wanted) this.#ask(share);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#renewing?.catch(() => undefined);
    await this.#listening?.[Symbol.asyncDispose]();
    const { store, log } = this.#parts;
    // The lease ends by itself when this fails.
    await store
      .leave(this.#owner)
      .catch((thrown) => log.debug('slots-not-left', { reason: failureOf(thrown).message }));
  }

  #need(agent: string): SlotNeed {
    return this.#user?.need(agent) ?? { running: 0, waiting: 0, since: undefined };
  }

  #shareOf(agent: string, max: number): Share {
    const known = this.#shares.get(agent);
    if (known !== undefined) return known;
    const share: Share = {
      agent,
      agentHash: sha256(agent),
      max,
      held: 0,
      wanted: 0,
      contended: false,
      asking: false,
      again: false,
      since: undefined,
      idleRenewals: 0,
    };
    this.#shares.set(agent, share);
    this.#byHash.set(share.agentHash, share);
    return share;
  }

  /** Asks the store; one question of an agent at a time. */
  #ask(share: Share): void {
    share.again = true;
    if (share.asking) return;
    share.asking = true;
    void this.#askUntilSettled(share);
  }

  async #askUntilSettled(share: Share): Promise<void> {
    while (share.again && !this.#isClosed) {
      try {
        if (this.now() >= this.#leasedUntil) await this.#renew();
        share.again = false;
        await this.#exchange(share);
      } catch (thrown) {
        share.again = false;
        share.wanted = 0;
        this.#user?.failed(share.agent, failureOf(thrown));
      }
      // Slots that came free meanwhile, or that no call wanted any more.
      if (share.contended && share.held > this.#need(share.agent).running) share.again = true;
    }
    share.asking = false;
  }

  /** Reports to the store what is used here; until it has answered, no more than that is used. */
  async #exchange(share: Share): Promise<void> {
    const lease = this.#lease;
    const { agent, agentHash, max } = share;
    const { running, waiting, since } = this.#need(agent);
    share.held = running;
    const wants = wantsOf(max, running, waiting);
    share.since = wants === 0 ? undefined : (since ?? share.since ?? this.now());
    const waitedMs = share.since === undefined ? 0 : Math.max(0, this.now() - share.since);
    const use = { agentHash, max, running, waiting: wants, waitedMs };
    const answer = await this.#parts.store.share(this.#owner, use);
    // The slots of an earlier lease may be others' by now.
    if (lease !== this.#lease) {
      share.again = true;
      return;
    }
    if (answer === undefined) {
      this.#leasedUntil = Number.NEGATIVE_INFINITY;
      throw new ToolLayerError('E3812', LEASE_OVER);
    }
    const came = answer.slots - running;
    share.held = answer.slots;
    share.wanted = Math.max(0, wants - came);
    share.contended = answer.othersWait;
    if (came > 0) share.since = undefined;
    this.#user?.came(agent, answer.othersWait ? came : Number.POSITIVE_INFINITY, !share.again);
  }

  /** Another instance wants slots of an agent, or has given some back. */
  #notified(agentHash: string | undefined): void {
    if (agentHash === undefined) for (const share of this.#shares.values()) this.#ask(share);
    else {
      const share = this.#byHash.get(agentHash);
      if (share !== undefined) this.#look(share);
    }
  }

  #look(share: Share): void {
    const { running, waiting } = this.#need(share.agent);
    if (share.asking || waiting > 0 || share.held > running) this.#ask(share);
    else share.contended = true;
  }

  /** Renews the lease. A lease that was over begins anew: what is still used is reported again. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewOnce(): Promise<void> {
    const { store, leaseMs } = this.#parts;
    const from = this.now();
    const wanted = await store.renew(this.#owner, leaseMs);
    const isOver = this.now() >= this.#leasedUntil;
    this.#leasedUntil = from + leaseMs;
    if (isOver) {
      this.#lease += 1;
      for (const share of this.#shares.values()) {
        share.held = this.#need(share.agent).running;
        this.#ask(share);
      }
    }
    for (const agentHash of wanted) this.#notified(agentHash);
    // Slots of an agent that was forgotten here while the store could not be reached.
    const unknown = wanted.filter((agentHash) => !this.#byHash.has(agentHash));
    if (unknown.length > 0) await store.release(this.#owner, unknown);
  }

  /** Renews the lease, asks for calls that still wait, and gives back what nobody has used for long. */
  async #turn(): Promise<void> {
    if (this.#renewing !== undefined) return;
    try {
      await this.#renew();
      this.#hasFailed = false;
    } catch (thrown) {
      // Logged once for each outage.
      if (!this.#hasFailed) this.#parts.log.warn('slots-not-renewed', { reason: failureOf(thrown).message });
      this.#hasFailed = true;
      return;
    }
    const idle: Share[] = [];
    for (const share of this.#shares.values()) {
      const { running, waiting } = this.#need(share.agent);
      share.idleRenewals = running + waiting > 0 || share.asking ? 0 : share.idleRenewals + 1;
      if (waiting > 0) this.#ask(share);
      else if (share.idleRenewals >= IDLE_RENEWALS) idle.push(share);
    }
    if (idle.length > 0) await this.#release(idle);
  }

  async #release(idle: readonly Share[]): Promise<void> {
    for (const share of idle) Object.assign(share, { asking: true, held: 0 });
    const hashes = idle.map(({ agentHash }) => agentHash);
    // Slots that could not be released come back when another instance asks for them.
    await this.#parts.store.release(this.#owner, hashes).catch(() => undefined);
    for (const share of idle) {
      share.asking = false;
      if (share.again) this.#ask(share);
      else {
        this.#shares.delete(share.agent);
        this.#byHash.delete(share.agentHash);
      }
    }
  }
}

const wantsOf = (max: number, running: number, waiting: number): number =>
  Math.min(waiting, Math.max(0, max - running));

const LEASE_OVER =
  'The instance did not reach the database in time, so it is not known how many calls of the agent run elsewhere. Call again.';
