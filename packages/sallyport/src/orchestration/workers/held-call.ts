import type { Failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CallKey } from '../../domain/invocation/call-key.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { CallPriority } from '../../pipeline/parts.ts';
import type { AgentSlot, CallHold } from '../../pipeline/run.ts';
import type { CallLeaseStore, TakenLease } from '../call-lease-store.port.ts';

/** What an executor says that has nothing to run. */
const UNABLE = 'E3901';
/** How often a call is left to others for that; a sweep lies between two times. */
const UNABLE_MAX = 20;
/**
 * What there may be room for later: slots of the agent, tokens of a rate limit, a service whose circuit is open, places in
 * the layer, a store that is away.
 */
const NO_ROOM: ReadonlySet<string> = new Set(['E3106', 'E3303', 'E3401', 'E3402', 'E3803', 'E3812']);
/** Wait for room when nobody says how long, in ms. */
const ROOM_MS = 1_000;
const ROOM_MS_MIN = 50;
/** A longer one may be too long: room comes when others end, too. */
const ROOM_MS_MAX = 30_000;

/** A call that this instance attends to, from before it has the lease until it is given back. The one owner of its end. */
export class HeldCall implements CallKey {
  readonly tenantId: string;
  readonly invocationId: string;
  /** Ends the run. */
  readonly controller = new AbortController();
  /** Of its agent, once it has one. */
  slot: AgentSlot | undefined;
  /** Once it is leased. */
  lease: TakenLease | undefined;
  /** Once its row is read. */
  record: InvocationRecord | undefined;
  extendedMs = 0;
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

  /** This instance cannot run the tool: a function may not be bound yet, or be bound elsewhere. */
  get isUnable(): boolean {
    return this.#isUnable;
  }

  /** There was no room for the call; ms after which it is worth another look. Undefined when it was not for that. */
  get roomMs(): number | undefined {
    return this.#roomMs;
  }

  get makesWay(): boolean {
    return this.#makesWay;
  }

  get priority(): CallPriority {
    return this.record?.waiting?.request.execution_options?.priority ?? 'normal';
  }

  /** Whether it may run again after a run that was cut off. */
  get isSafe(): boolean {
    return this.record !== undefined && isSafe(this.record);
  }

  cancel(reason: string | undefined): void {
    const because = reason === undefined || reason === '' ? '' : ` Reason given: ${reason}`;
    this.controller.abort(new ToolLayerError('E3805', `The call was cancelled.${because}`));
  }

  /** Somebody else has the lease. */
  lose(): void {
    this.#lost = true;
    this.controller.abort(new ToolLayerError('E3811', 'Another instance has taken the call over.'));
  }

  /** The run is cut off, and the call runs again later. */
  makeWay(message: string): void {
    this.#makesWay = true;
    this.controller.abort(new ToolLayerError('E3811', message));
  }

  /** The layer stops, and the tool does not. */
  abandon(): void {
    this.controller.abort(
      new ToolLayerError('E3804', 'The layer stopped while the tool ran. Find out what it did before you call again.'),
    );
  }

  /**
   * @param owner who has the lease
   * @param mayWait whether the call may still wait for room
   */
  hold(leases: CallLeaseStore, owner: string, fence: number, slot: AgentSlot, mayWait: boolean): CallHold {
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
        // What the tool itself answered with such a code is its answer.
        this.#roomMs = mayWait && attempts === 0 && NO_ROOM.has(failed.code) ? roomMs(failed) : undefined;
        this.#isUnable = failed.code === UNABLE && (this.lease?.preemptions ?? 0) < UNABLE_MAX;
        return !this.#makesWay && !this.#isUnable && this.#roomMs === undefined;
      },
    };
  }
}

function roomMs({ code, retryAfterMs }: Failure): number {
  // A circuit that names no wait is held open by a person, who takes longer than others.
  const unsaidMs = code === 'E3401' ? ROOM_MS_MAX : ROOM_MS;
  return Math.min(Math.max(retryAfterMs ?? unsaidMs, ROOM_MS_MIN), ROOM_MS_MAX);
}

/** Whether a tool may be run again after a run of which nobody knows the end. */
export function isSafe({ sideEffect }: InvocationRecord): boolean {
  return sideEffect === 'pure' || sideEffect === 'idempotent';
}
