/** A change of something that policies depend on: a policy, a set of them, an attribute kept elsewhere. */
export interface PolicyUpdate {
  /** What changed, for the log. */
  readonly reason: string;
}

/**
 * Notifies every instance that earlier decisions are out of date: the channel `policy:updates` (PRM-05, G-007). The
 * publishing instance is notified too. Delivered at most once, and within a second; for messages missed while
 * disconnected, cached decisions expire by their lifetime.
 */
export interface PolicyUpdates {
  /** Resolves when the message is sent. */
  publish(update: PolicyUpdate): Promise<void>;
  /** Subscribes until the returned handle is disposed. A listener that throws does not affect the others. */
  subscribe(listener: (update: PolicyUpdate) => void): Disposable;
}
