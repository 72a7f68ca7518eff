/** Something that policies are judged by changed: a policy, a set of them, an attribute kept elsewhere. */
export interface PolicyUpdate {
  /** What changed, for the log. */
  readonly reason: string;
}

/**
 * Tells every instance that decisions made before are out of date: the channel `policy:updates` (PRM-05, G-007). Heard by
 * the instance that told it too. Delivered at most once, and within a second; what an instance misses while it is cut
 * off it makes up for by the end of a decision's time.
 */
export interface PolicyUpdates {
  /** Resolves when it is on its way. */
  publish(update: PolicyUpdate): Promise<void>;
  /** Until the returned handle is disposed. A listener that throws keeps nobody else from hearing. */
  subscribe(listener: (update: PolicyUpdate) => void): Disposable;
}
