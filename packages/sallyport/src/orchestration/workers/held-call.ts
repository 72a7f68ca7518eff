import type { Failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CallPriority } from '../../../api/schemas/invocation.ts';
import type { CallKey } from '../../domain/invocation/call-key.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { AgentSlot, WorkerHold } from '../../pipeline/run.ts';
import type { CallLeaseStore, TakenLease } from '../call-lease-store.port.ts';

/** Code of an executor that has nothing to run. */
const UNABLE = 'E3901';
/** How often a call is left to other instances because of that; a sweep lies between two times. */
const UNABLE_MAX = 20;
/**
 * Failures for lack of room, which may come later: slots of the agent, tokens of a rate limit, a service whose circuit
 * is open, a repetition of the call that looks for its answer here at this moment, places in the layer, an unavailable store.
 */
const NO_ROOM: ReadonlySet<string> = new Set(['E3106', 'E3303', 'E3401', 'E3402', 'E3404', 'E3802', 'E3803', 'E3812']);
/** Wait for room when the failure names none, in ms. */
const ROOM_MS = 1_000;
const ROOM_MS_MIN = 50;
/** A longer wait may be too long: room also comes when other calls end. */
const ROOM_MS_MAX = 30_000;

/**
 * A call that this instance holds, from before it has the lease until the lease is given back. The one owner of its
 * end.
 */
export class HeldCall implements CallKey {
  readonly tenantId: string;
  readonly invocationId: string;
  /** Aborts the run. */
  readonly controller = new AbortController();
  /** The agent's slot, once the call has one. */
  slot: AgentSlot | undefined;
  /** The lease, once it is taken. */
  lease: TakenLease | undefined;
  /** The row, once it is read. */
  record: InvocationRecord | undefined;
  extendedMs = 0;
  /** The cancel of the call; absent when nobody has cancelled it. */
  cancelled: { readonly reason: string | undefined } | undefined;
  #lost = false;
  #makesWay = false;
  #isUnable = false;
  #roomMs: number | undefined;

  constructor({ tenantId, invocationId }: CallKey) {
    this.tenantId = tenantId;
    this.invocationId = invocationId;
  }

  get isLost(): boolean {
    return this.#lost;
  }

  /** True when this instance cannot run the tool: its function is not bound yet, or is bound elsewhere. */
  get isUnable(): boolean {
    return this.#isUnable;
  }

  /** Ms after which a call that found no room is tried again; undefined when room was not the reason. */
  get roomMs(): number | undefined {
    return this.#roomMs;
  }

  get makesWay(): boolean {
    return this.#makesWay;
  }

  get priority(): CallPriority {
    return this.record?.waiting?.request.execution_options?.priority ?? 'normal';
  }

  /** True when the call may run again after a run that was cut off. */
  get isSafe(): boolean {
    return this.record !== undefined && isSafe(this.record);
  }

  cancel(reason: string | undefined): void {
    this.cancelled = { reason };
    const because = reason === undefined || reason === '' ? '' : ` Reason given: ${reason}`;
    this.controller.abort(new ToolLayerError('E3805', `The call was cancelled.${because}`));
  }

  /** Another holder has the lease. */
  lose(): void {
    this.#lost = true;
    this.controller.abort(new ToolLayerError('E3811', 'Another instance has taken the call over.'));
  }

  /** Cuts the run off; the call runs again later. */
  makeWay(message: string): void {
    this.#makesWay = true;
    this.controller.abort(new ToolLayerError('E3811', message));
  }

  /** Gives the call up, because the layer stops and the tool does not. */
  abandon(): void {
    this.controller.abort(
      new ToolLayerError('E3804', 'The layer stopped while the tool ran. Find out what it did before you call again.'),
    );
  }

  /**
   * @param owner holder of the lease
   * @param mayWait true while the call may still wait for room
   */
  hold(leases: CallLeaseStore, owner: string, fence: number, slot: AgentSlot, mayWait: boolean): WorkerHold {
    return {
      fence,
      slot,
      begin: async () => {
        const isMine = await leases.begin(this, owner, fence);
        this.#lost ||= !isMine;
        return isMine;
      },
      counts: (failed, attempts) => {
        if (this.#lost) return false;
        if (failed === undefined) return true;
        // An answer of the tool itself with such a code is its result.
        this.#roomMs = mayWait && attempts === 0 && NO_ROOM.has(failed.code) ? roomMs(failed) : undefined;
        this.#isUnable = failed.code === UNABLE && (this.lease?.preemptions ?? 0) < UNABLE_MAX;
        return !this.#makesWay && !this.#isUnable && this.#roomMs === undefined;
      },
    };
  }
}

function roomMs({ code, retryAfterMs }: Failure): number {
  // A circuit that names no wait was opened by a person, and takes longer to close.
  const unsaidMs = code === 'E3401' ? ROOM_MS_MAX : ROOM_MS;
  return Math.min(Math.max(retryAfterMs ?? unsaidMs, ROOM_MS_MIN), ROOM_MS_MAX);
}

/** True when a tool may be run again after a run whose end is unknown. */
export function isSafe({ sideEffect }: InvocationRecord): boolean {
  return sideEffect === 'pure' || sideEffect === 'idempotent';
}
