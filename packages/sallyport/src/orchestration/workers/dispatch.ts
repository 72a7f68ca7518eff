import { setTimeout as sleep } from 'node:timers/promises';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { type CallKey, textOfCall } from '../../domain/invocation/call-key.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { GivenApproval } from '../../domain/invocation/waiting-call.ts';
import { type AgentSlot, agentKey } from '../../pipeline/run.ts';
import type { LeaseHolder } from '../call-lease-store.port.ts';
import { type Attended, attend } from './attend.ts';
import { dueOf } from './due.ts';
import { atMost } from './end/at-most.ts';
import type { HeldCalls } from './heartbeat.ts';
import { HeldCall } from './held-call.ts';
import { createLater } from './later.ts';
import { createPostponedCalls, type PostponedCalls } from './postponed-calls.ts';
import type { WorkerParts } from './worker-parts.ts';

/** Decides which call runs next in this instance, and in which slot. */
export interface Dispatch {
  /** By tenant and id. */
  readonly calls: HeldCalls;
  /** Begins to take jobs from the queue. */
  start(): void;
  /** Offers a call that was just accepted here and waits for a worker. */
  offer(record: InvocationRecord): void;
  enqueue(call: CallKey, approval?: GivenApproval): Promise<void>;
  close(): Promise<void>;
}

/** The queue counts as empty after giving nothing for this long, ms. */
const EMPTY_AFTER_MS = 20;
/** Pause after the queue could not be read, ms. */
const AFTER_FAILURE_MS = 1_000;
const SHUTDOWN = 'The layer is stopping. The call runs again in another instance, or when it is back.';
const MADE_WAY = 'The call made way for a more urgent one, and runs again later.';

/** Makes the dispatch of one instance. */
export const createDispatch = (parts: WorkerParts, me: LeaseHolder, onCancelled: OnCancelled): Dispatch =>
  new Dispatcher(parts, me, onCancelled);

/** Called when a call that was cancelled is held no longer; it may wait on record. */
type OnCancelled = (call: CallKey, reason: string | undefined) => void;

/** The one owner of the calls that run in this instance, and of the calls that run next. */
class Dispatcher implements Dispatch {
  readonly calls = new Map<string, HeldCall>();
  readonly #parts: WorkerParts;
  readonly #me: LeaseHolder;
  readonly #onCancelled: OnCancelled;
  readonly #postponed: PostponedCalls;
  /**
   * Calls that are next here: urgent ones for which another call makes way, and jobs that came after the last slot was
   * taken. One whose agent had no slot before has it already.
   */
  readonly #urgent: (CallKey & { readonly slot?: AgentSlot })[] = [];
  readonly #approvals = new Map<string, GivenApproval>();
  /** Calls for which there was no room, until their next try. */
  readonly #later = createLater<CallKey & { readonly due: number }>((call) => this.#again(call));
  readonly #ends = new Set<Promise<void>>();
  readonly #freed: Disposable;
  #wake: (() => void) | undefined;
  /** True when the queue has given nothing for a moment, so that a new call overtakes no other. */
  #empty = true;
  #closed = false;
  #pumping: Promise<void> = Promise.resolve();

  constructor(parts: WorkerParts, me: LeaseHolder, onCancelled: OnCancelled) {
    this.#parts = parts;
    this.#me = me;
    this.#onCancelled = onCancelled;
    this.#postponed = createPostponedCalls(parts.limits.postponedMax);
    this.#freed = parts.running.slots.onFree({
      waiting: (agent) => this.#postponed.count(agent),
      free: (agent) => {
        if (this.#postponed.count(agent) === 0) return;
        this.#next();
        this.#pressPostponed(agent);
      },
    });
  }

  start(): void {
    this.#pumping = this.#pump();
  }

  offer(record: InvocationRecord): void {
    if (this.#closed) return;
    const agent = agentKey(record);
    // Takes calls in turn: those that wait longer go first.
    const { running, limits } = this.#parts;
    const mayRun = running.slots.has(agent, limits.callsPerAgentMax);
    if (this.#postponed.count(agent) > 0 || !mayRun) this.#postpone(agent, record, isUrgent(record));
    else if (this.#empty && this.#hasRoom()) this.#begin(record);
    else void this.#put(record, dueOf(record)).then(() => (isUrgent(record) ? this.#press(record) : undefined));
  }

  async enqueue(call: CallKey, approval?: GivenApproval): Promise<void> {
    this.#keepApproval(call, approval);
    if (this.#empty && this.#hasRoom()) this.#begin(call);
    else {
      await this.#put(call, this.#parts.clock.now());
      void this.#pressIfUrgent(call);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#later[Symbol.dispose]();
    this.#freed[Symbol.dispose]();
    for (const { slot } of this.#urgent) slot?.free();
    this.#wake?.();
    const { log, queue } = this.#parts;
    await atMost(queue.close(), 'the queue', log);
    await atMost(this.#pumping, 'the last job', log);
    await settle(this.#parts, this.calls, this.#ends);
  }

  /** Beyond the limit the approval is not kept here; it is read again from the store. */
  #keepApproval(call: CallKey, approval: GivenApproval | undefined): void {
    if (approval === undefined || this.#approvals.size >= this.#parts.limits.postponedMax) return;
    this.#approvals.set(textOfCall(call), approval);
  }

  #hasRoom(): boolean {
    return !this.#closed && this.calls.size < this.#parts.limits.slots;
  }

  /** @param slot the agent's slot, if it was taken already; given back when the call is not begun */
  #begin(call: CallKey, slot?: AgentSlot): void {
    const key = textOfCall(call);
    if (this.calls.has(key)) {
      slot?.free();
      return;
    }
    const held = new HeldCall(call);
    held.slot = slot;
    this.calls.set(key, held);
    const approval = this.#approvals.get(key);
    this.#approvals.delete(key);
    const end = attend(this.#parts, this.#me, held, approval).then((attended) => {
      held.slot?.free();
      return this.#leave(held, attended, approval);
    });
    this.#ends.add(end);
    void end.finally(() => this.#ends.delete(end));
  }

  async #leave(held: HeldCall, attended: Attended, approval: GivenApproval | undefined): Promise<void> {
    this.calls.delete(textOfCall(held));
    const waits = 'waitsForSlotOf' in attended || 'roomAfterMs' in attended;
    if (waits) this.#keepApproval(held, approval);
    if ('waitsForSlotOf' in attended) this.#postpone(attended.waitsForSlotOf, held, held.priority === 'high');
    if ('roomAfterMs' in attended) this.#waitForRoom(attended.record, attended.roomAfterMs);
    this.#next();
    if (held.cancelled !== undefined) this.#onCancelled(held, held.cancelled.reason);
    if ('putBack' in attended && !this.#closed) await this.#put(attended.putBack, dueOf(attended.putBack));
  }

  /**
   * A slot is free: first for the calls that are next here, then for agents that have a slot again, then for the queue.
   */
  #next(): void {
    for (let call = this.#urgentIfRoom(); call !== undefined; call = this.#urgentIfRoom()) this.#begin(call, call.slot);
    while (this.#hasRoom()) {
      const { running, limits } = this.#parts;
      const next = this.#postponed.take((agent) => running.slots.take(agent, limits.callsPerAgentMax));
      if (next === undefined) break;
      this.#parts.intake.notePostponed(-1);
      this.#begin(next.call, next.slot);
    }
    if (this.#hasRoom()) this.#wake?.();
  }

  #urgentIfRoom(): (CallKey & { readonly slot?: AgentSlot }) | undefined {
    return this.#hasRoom() ? this.#urgent.shift() : undefined;
  }

  #postpone(agent: string, call: CallKey, urgent: boolean): void {
    const { intake, running, limits } = this.#parts;
    if (this.#postponed.add(agent, call, urgent)) intake.notePostponed(1);
    running.slots.seek(agent, limits.callsPerAgentMax);
  }

  /** Beyond the limit the sweep finds the call: its row says that it waits. */
  #waitForRoom(record: InvocationRecord, ms: number): void {
    if (this.#closed || this.#later.size >= this.#parts.limits.postponedMax) return;
    const { tenantId, invocationId } = record;
    const call = { tenantId, invocationId, due: dueOf(record) };
    if (this.#later.add(textOfCall(call), call, ms)) this.#parts.intake.notePostponed(1);
  }

  #again(call: CallKey & { readonly due: number }): void {
    this.#parts.intake.notePostponed(-1);
    if (this.#hasRoom()) this.#begin(call);
    else void this.#put(call, call.due);
  }

  async #put({ tenantId, invocationId }: CallKey, due: number): Promise<void> {
    const { intake, queue, log } = this.#parts;
    this.#empty = false;
    intake.noteQueued(1);
    try {
      await queue.add([{ tenantId, invocationId, due }]);
    } catch (thrown) {
      // Its row says that it waits: the sweep finds it.
      log.warn('job-not-queued', { invocation_id: invocationId, reason: failureOf(thrown).message });
    }
  }

  /** Runs an urgent call here as soon as another has made way, unless another worker has taken it meanwhile. */
  async #press(call: CallKey): Promise<void> {
    await sleep(this.#parts.limits.preemptAfterMs, undefined, { ref: false });
    if (this.#closed || this.#hasRoom()) return;
    const isNext = this.#urgent.some((each) => textOfCall(each) === textOfCall(call));
    if (!isNext) {
      const isFree = this.#findVictim() !== undefined && (await this.#parts.queue.remove(call).catch(() => false));
      if (!isFree) return;
      this.#urgent.push(call);
    }
    // Two sources may press for one call, and making way takes a moment: calls that are leaving count as room.
    const leaving = [...this.calls.values()].filter(({ makesWay }) => makesWay).length;
    if (leaving < this.#urgent.length) this.#findVictim()?.makeWay(MADE_WAY);
    this.#next();
  }

  /** An urgent call whose agent has a slot at last is the next here. */
  #pressPostponed(agent: string): void {
    const { running, limits, intake } = this.#parts;
    if (this.#closed || this.#hasRoom() || this.#findVictim() === undefined) return;
    const next = this.#postponed.takeUrgent(agent, () => running.slots.take(agent, limits.callsPerAgentMax));
    if (next === undefined) return;
    intake.notePostponed(-1);
    this.#urgent.push({ ...next.call, slot: next.slot });
    void this.#press(next.call);
  }

  #findVictim(): HeldCall | undefined {
    return [...this.calls.values()].find((held) => mayMakeWay(this.#parts, held));
  }

  /** Keeps a job that came while the last slot was taken: it is the next here. */
  async #takeNext(call: CallKey): Promise<void> {
    this.#urgent.push(call);
    await this.#pressIfUrgent(call);
  }

  async #pressIfUrgent(call: CallKey): Promise<void> {
    if (this.#hasRoom()) return;
    const record = await this.#parts.records.findInvocation(call.tenantId, call.invocationId).catch(() => undefined);
    if (record !== undefined && isUrgent(record)) await this.#press(call);
  }

  async #pump(): Promise<void> {
    while (!this.#closed) {
      if (this.#hasRoom()) await this.#pull();
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }

  /** Takes one job, or none after a wait. */
  async #pull(): Promise<void> {
    const { queue, log } = this.#parts;
    const timer = setTimeout(() => {
      this.#empty = true;
    }, EMPTY_AFTER_MS);
    try {
      const call = await queue.next();
      if (call === undefined || this.#closed) return;
      this.#empty = false;
      if (this.#hasRoom()) this.#begin(call);
      else void this.#takeNext(call);
    } catch (thrown) {
      log.warn('queue-not-read', { reason: failureOf(thrown).message });
      await sleep(AFTER_FAILURE_MS, undefined, { ref: false });
    } finally {
      clearTimeout(timer);
    }
  }
}

const isUrgent = ({ waiting }: InvocationRecord): boolean => waiting?.request.execution_options?.priority === 'high';

/** True when a call may be cut off for a more urgent one: it is not urgent itself, runs, and may run again. */
function mayMakeWay(parts: WorkerParts, held: HeldCall): boolean {
  if (held.priority !== 'low' || !held.isSafe || held.makesWay || held.controller.signal.aborted) return false;
  return (held.lease?.preemptions ?? 0) < parts.limits.preemptionsMax && isExecuting(parts, held);
}

function isExecuting({ running }: WorkerParts, { tenantId, invocationId }: HeldCall): boolean {
  return running.find(tenantId, invocationId)?.transitions.at(-1)?.state === 'EXECUTING';
}

/** True when the call's server runs it as a task: another instance takes the task up. */
const isAtServer = ({ running }: WorkerParts, { tenantId, invocationId }: HeldCall): boolean =>
  running.find(tenantId, invocationId)?.toolRun.serverTask !== undefined;

/** Lets running calls end for a while; then calls that may run again make way, and the rest is stopped. */
async function settle(parts: WorkerParts, calls: HeldCalls, ends: ReadonlySet<Promise<void>>): Promise<void> {
  const stop = (): void => {
    for (const held of calls.values()) {
      if (held.isSafe || !isExecuting(parts, held) || isAtServer(parts, held)) held.makeWay(SHUTDOWN);
      else held.abandon();
    }
  };
  const timer = setTimeout(stop, parts.limits.graceMs);
  while (ends.size > 0) await Promise.all(ends);
  clearTimeout(timer);
}
