/** What one instance does with the slots of one agent, as it is right now. */
export interface SlotUse {
  /** SHA-256 of the agent, hex. */
  readonly agentHash: string;
  /** Slots of the agent in all instances together. */
  readonly max: number;
  /** Calls that hold a slot here. */
  readonly running: number;
  /** Calls that wait for a slot here, and may get one: `max - running` at most. */
  readonly waiting: number;
  /** How long the first of them has waited, ms. */
  readonly waitedMs: number;
}

/** What an instance may use. */
export interface SlotsHeld {
  /** Slots that belong to the instance now: `running`, and any that it got on top of them. */
  readonly slots: number;
  /** True when calls of this agent wait in other instances: a slot that comes free then goes to the call that waits longest. */
  readonly othersWait: boolean;
}

/**
 * The slots of agents, counted across instances (PIPE-08). An instance holds slots for as long as it renews its lease; time
 * is that of the store. Slots are never pushed: an instance says what it uses and what it wants, and is answered with
 * what it holds. So a lost answer, or a request that is sent twice, loses no slot.
 */
export interface SlotStore {
  /**
   * Renews the lease of an instance, or begins it, and removes instances whose lease is over, and former lives of this
   * instance, with their slots.
   * @param owner id of the instance, then a UUID for each of its lives
   * @returns agents of whom this instance holds slots while calls wait elsewhere
   * @throws E3812 when the store cannot be reached
   */
  renew(owner: string, ttlMs: number): Promise<readonly string[]>;
  /**
   * Gives back what the instance does not use, and takes what it wants as far as its turn has come. Those whose calls
   * wait longest come first. When nobody waits, it gets more than it wants, up to its even share.
   * @returns undefined when the lease of the instance is over: then nothing was changed
   * @throws E3812 when the store cannot be reached
   */
  share(owner: string, use: SlotUse): Promise<SlotsHeld | undefined>;
  /** Gives back all slots of some agents. @throws E3812 when the store cannot be reached */
  release(owner: string, agentHashes: readonly string[]): Promise<void>;
  /** Ends the lease of an instance, with all its slots. @throws E3812 when the store cannot be reached */
  leave(owner: string): Promise<void>;
  /**
   * Notifies of agents whose slots another instance wants or has given back; undefined: of any agent. Notifications may
   * be lost, so that an instance also has to ask from time to time.
   */
  listen(owner: string, notified: (agentHash: string | undefined) => void): Promise<AsyncDisposable>;
}
