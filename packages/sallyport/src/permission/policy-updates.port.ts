/** A change of something that policies depend on: a policy, a set of them, an attribute kept elsewhere. */
export interface PolicyUpdate {
  /** What changed, for the log. */
  readonly reason: string;
  /** Present when nothing is known to have changed, but updates may have been missed. */
  readonly missed?: true;
}

/**
 * Notifies every instance that earlier decisions are out of date: the channel `policy:updates` (PRM-05, G-007). The
 * publishing instance is notified too. An update is delivered within a second, several that come together perhaps as
 * one; while that cannot be promised, subscribers get `missed` at least once a second.
 */
export interface PolicyUpdates extends AsyncDisposable {
  /**
   * Resolves when the message is sent. The subscribers of this instance are notified in any case.
   * @throws E3812 when the other instances cannot be notified
   */
  publish(update: PolicyUpdate): Promise<void>;
  /** Subscribes until the returned handle is disposed. A listener that throws does not affect the others. */
  subscribe(listener: (update: PolicyUpdate) => void): Disposable;
}
