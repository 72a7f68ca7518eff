import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { OngoingCall } from './ongoing-call.ts';
import { type RecordWatch, recordWatch } from './record-watch.ts';
import { AgentSlots } from './slots/agent-slots.ts';
import type { SlotShare } from './slots/slot-share.ts';

/** Key of the agent to whom slots belong. */
export const agentKey = ({ tenantId, agentDid }: { readonly tenantId: string; readonly agentDid: string }): string =>
  `${tenantId}\n${agentDid}`;

/**
 * Notified of a record. It must not throw.
 * @param hasWaited true when the call had waited before this pass
 */
export type RecordListener = (record: InvocationRecord, hasWaited: boolean) => void;

/** Notified of a call that was cancelled, when a pass of it is over; it may wait on record. It must not throw. */
type CancelledListener = (record: InvocationRecord, reason: string | undefined) => void;

/** The calls under way in this instance: each until it is on record that it ended, or waits. */
export class RunningCalls {
  /** The slots that limit the calls of each agent. */
  readonly slots: AgentSlots;
  /** Each with the key that it is known under. */
  readonly #calls = new Map<OngoingCall, string>();
  /** A call that was refused may still be here while the next one has its id: that one is found. */
  readonly #byKey = new Map<string, OngoingCall>();
  readonly #watches = new Map<string, Set<RecordWatch>>();
  readonly #listeners: RecordListener[] = [];
  readonly #cancelled = new WeakMap<OngoingCall, { readonly reason: string | undefined }>();
  #onCancelled: CancelledListener = () => {};
  #idle: (() => void) | undefined;

  /** @param share the slots that this instance holds of those of all instances; absent when it counts by itself */
  constructor(share?: SlotShare) {
    this.slots = new AgentSlots(share);
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Number of running calls that do not wait for a slot of their agent. */
  get sizeWithoutWaiting(): number {
    return this.#calls.size - this.slots.waiting;
  }

  /** Adds a call; false when a call of this tenant and id is already under way. */
  add(tenantId: string, invocationId: string, ongoing: OngoingCall): boolean {
    if (this.find(tenantId, invocationId) !== undefined) return false;
    this.#put(ongoing, keyOf(tenantId, invocationId));
    return true;
  }

  /** Makes a running call known under another id. */
  rename(ongoing: OngoingCall, tenantId: string, to: string): void {
    this.#forgetKey(ongoing);
    this.#put(ongoing, keyOf(tenantId, to));
  }

  /** Removes a call. One that was refused early was never added. */
  remove(ongoing: OngoingCall): void {
    this.#forgetKey(ongoing);
    if (this.#calls.delete(ongoing) && this.#calls.size === 0) this.#idle?.();
  }

  #put(ongoing: OngoingCall, key: string): void {
    this.#calls.set(ongoing, key);
    this.#byKey.set(key, ongoing);
  }

  #forgetKey(ongoing: OngoingCall): void {
    const key = this.#calls.get(ongoing);
    if (key !== undefined && this.#byKey.get(key) === ongoing) this.#byKey.delete(key);
  }

  /** Cancels a call that runs here (E3805). A pass of it that was about to wait does not notice; see `onCancelled`. */
  cancel(ongoing: OngoingCall, reason: string | undefined): void {
    this.#cancelled.set(ongoing, { reason });
    const because = reason === undefined || reason === '' ? '' : ` Reason given: ${reason}`;
    ongoing.controller.abort(new ToolLayerError('E3805', `The call was cancelled.${because}`));
  }

  /** Sets who ends a cancelled call that waits on record when its pass is over. */
  onCancelled(listener: CancelledListener): void {
    this.#onCancelled = listener;
  }

  find(tenantId: string, invocationId: string): OngoingCall | undefined {
    return this.#byKey.get(keyOf(tenantId, invocationId));
  }

  /** Watches a call from now on, whether or not it runs in this instance yet, until the watch is disposed. */
  watch(tenantId: string, invocationId: string): RecordWatch {
    const key = keyOf(tenantId, invocationId);
    const watches = this.#watches.get(key) ?? new Set();
    this.#watches.set(key, watches);
    const watch = recordWatch(() => {
      watches.delete(watch);
      if (watches.size === 0 && this.#watches.get(key) === watches) this.#watches.delete(key);
    });
    watches.add(watch);
    return watch;
  }

  /** Notifies a listener of every record that the pipeline answers with, before the caller gets it. */
  onRecord(listener: RecordListener): void {
    this.#listeners.push(listener);
  }

  /** Reports that a pass of a call is over and on record. */
  noteOnRecord(record: InvocationRecord, ongoing: OngoingCall): void {
    const hasWaited = ongoing.resumed !== undefined;
    const cancelled = this.#cancelled.get(ongoing);
    if (cancelled !== undefined) this.#onCancelled(record, cancelled.reason);
    for (const listener of this.#listeners) listener(record, hasWaited);
    if (this.#watches.size === 0) return;
    for (const watch of this.#watches.get(keyOf(record.tenantId, record.invocationId)) ?? []) watch.note();
  }

  /**
   * Cancels (E3805) the calls whose token or key was revoked since they began; what they hold open ends with them.
   * Called periodically, so that a call that began at the same moment as a revocation is found too.
   */
  stopRevoked(wasRevoked: (claims: CapabilityClaims) => boolean): void {
    for (const { call, controller } of this.#calls.keys()) {
      if (call.claims === undefined || !wasRevoked(call.claims)) continue;
      controller.abort(
        new ToolLayerError('E3805', 'The call was cancelled: the token or key that it was made with was revoked.', {
          details: { cancelled_by: 'revocation' },
        }),
      );
    }
  }

  /**
   * Ends the calls that wait for a slot, since nothing of them ran. Waits until nothing runs, `graceMs` at most; then
   * stops the remaining calls and waits for their end.
   */
  async drain(graceMs: number): Promise<void> {
    this.slots.close(stopping());
    if (this.#calls.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle = resolve;
    const timer = setTimeout(() => this.#stopAll(), graceMs);
    await promise;
    clearTimeout(timer);
  }

  #stopAll(): void {
    for (const ongoing of this.#calls.keys()) {
      ongoing.controller.abort(stopping());
    }
  }
}

const stopping = (): ToolLayerError =>
  new ToolLayerError('E3811', 'The layer is stopping. Call again when it is back.');

const keyOf = (tenantId: string, invocationId: string): string => `${tenantId}\n${invocationId}`;
