// Made for every attempt; it does nothing until the tool uses it.
import { setTimeout as wait } from 'node:timers/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { LedgerStore } from '../../../audit/ledger-store.port.ts';
import type { ToolState } from '../../../domain/invocation/tool-state.ts';
import type { UndoStep } from '../../../domain/invocation/undo-step.ts';
import type { HeldState, StateHolder, StateKey, StateScope, StateStore, StateWritten } from '../../state-store.port.ts';
import { settleHolder } from './settle-holder.ts';
import { STATE_STEP } from './state-undoer.ts';

/** Limits of the state that tools keep. */
export interface StateBounds {
  /** Length of a name in characters. */
  readonly nameMax: number;
  /** Size of one value as JSON. */
  readonly valueBytesMax: number;
  /** Values of one tool in one tenant; also names that one attempt may use. */
  readonly valuesMax: number;
  /** How long a write waits for another call that holds the name. */
  readonly waitMs: number;
}

/** At most 64 MiB for each tool of each tenant. */
export const STATE_BOUNDS: StateBounds = { nameMax: 256, valueBytesMax: 64 * KiB, valuesMax: 1_000, waitMs: 2_000 };

/** Dependencies of the state of tools. */
export interface StateParts {
  readonly store: StateStore;
  /** {@link STATE_BOUNDS} when absent. */
  readonly bounds?: StateBounds;
}

/** The attempt whose tool uses the state. */
export interface StateOf {
  readonly parts: StateParts;
  readonly records: Pick<LedgerStore, 'findInvocation'>;
  readonly scope: StateScope;
  readonly by: StateHolder;
  /** False for a tool whose manifest says that it changes nothing. */
  readonly mayWrite: boolean;
  /** Records the step, as {@link Transaction.record} does. */
  record(step: UndoStep): Promise<void>;
  /** Makes a change while the attempt is under way, as {@link Transaction.change} does. */
  change<Result>(make: () => Promise<Result>): Promise<Result>;
  /** Ends waits. */
  readonly signal: AbortSignal;
}

/** How often a waiting write polls for the end of the other call, ms. */
const LOOK_MS = 20;

/** The state of a tool as one attempt of a call sees it (PIPE-03). */
export class CallState implements ToolState {
  readonly #of: StateOf;
  readonly #bounds: StateBounds;
  /** Revisions that were read, by name; undefined before the first read. */
  #seen: Map<string, number> | undefined;
  /** Names that the attempt itself removed; removing nothing holds nothing, and others may write there. */
  #removed: Set<string> | undefined;
  #step: Promise<void> | undefined;

  constructor(of: StateOf) {
    this.#of = of;
    this.#bounds = of.parts.bounds ?? STATE_BOUNDS;
  }

  async get(name: string): Promise<unknown> {
    const key = this.#keyOf(name);
    const found = await this.#of.change(() => this.#read(key));
    this.#note(name, found?.revision ?? 0);
    const isMine = found?.held !== undefined && this.#isMine(found.held.by);
    const text = isMine ? found.held.next : this.#removed?.has(name) === true ? undefined : found?.value;
    return text === undefined ? undefined : JSON.parse(text);
  }

  async put(name: string, value: unknown): Promise<void> {
    const key = this.#keyOf(name);
    const text = textOf(value);
    const bytes = Buffer.byteLength(text);
    const { valueBytesMax } = this.#bounds;
    if (bytes > valueBytesMax)
      throw tooMuch(`The value of ${shown(name)} has ${bytes} bytes; the layer keeps ${valueBytesMax}.`);
    await this.#write(key, text);
    this.#removed?.delete(name);
  }

  async delete(name: string): Promise<void> {
    const key = this.#keyOf(name);
    this.#removed ??= new Set();
    if (this.#removed.size >= this.#bounds.valuesMax && !this.#removed.has(name))
      throw tooMuch(`One call may remove ${this.#bounds.valuesMax} values.`);
    await this.#write(key, undefined);
    this.#removed.add(name);
  }

  #keyOf(name: string): StateKey {
    const { nameMax } = this.#bounds;
    if (typeof name !== 'string' || name === '' || name.length > nameMax)
      throw tooMuch(`A name of the tool's state is a text of 1 to ${nameMax} characters.`);
    return { ...this.#of.scope, name };
  }

  #isMine({ invocationId, fence }: StateHolder): boolean {
    return invocationId === this.#of.by.invocationId && fence === this.#of.by.fence;
  }

  #note(name: string, revision: number): void {
    this.#seen ??= new Map();
    const { valuesMax } = this.#bounds;
    if (this.#seen.size >= valuesMax && !this.#seen.has(name))
      throw tooMuch(`One call may ask for ${valuesMax} names of its tool's state.`);
    this.#seen.set(name, revision);
  }

  /** The stored state, after calls that are over have released it. */
  async #read(key: StateKey): Promise<HeldState | undefined> {
    const { parts, records, by } = this.#of;
    const found = await parts.store.read(key);
    const other = found?.held?.by;
    if (other === undefined || this.#isMine(other)) return found;
    return (await settleHolder(parts.store, records, other, by)) ? parts.store.read(key) : found;
  }

  async #write(key: StateKey, next: string | undefined): Promise<void> {
    const { change, record, mayWrite } = this.#of;
    if (!mayWrite) {
      throw new ToolLayerError(
        'E3109',
        'The tool says that it is pure, and so it may not write its state. Give it another side_effect_policy.',
      );
    }
    // One step for all writes of the attempt: they are taken back as a whole.
    this.#step ??= record({ kind: STATE_STEP, fence: this.#of.by.fence });
    await this.#step;
    const until = performance.now() + this.#bounds.waitMs;
    for (;;) {
      const end = await change(() => this.#tryWrite(key, next));
      if (end === 'written') return;
      if (end === 'full') {
        const { valuesMax } = this.#bounds;
        throw tooMuch(`The tool keeps ${valuesMax} values already. Delete some, or keep fewer and larger ones.`);
      }
      if (end === 'changed') throw conflict(`Another call has changed ${shown(key.name)} since this one read it.`);
      if (performance.now() >= until) throw conflict(`Another call is changing ${shown(key.name)}.`);
      await wait(LOOK_MS, undefined, { signal: this.#of.signal }).catch(() => undefined);
    }
  }

  async #tryWrite(key: StateKey, next: string | undefined): Promise<StateWritten> {
    const { parts, records, by } = this.#of;
    const expected = this.#seen?.get(key.name);
    const { valuesMax } = this.#bounds;
    const write = { key, by, next, valuesMax, ...(expected === undefined ? {} : { expected }) };
    const end = await parts.store.write(write);
    if (typeof end === 'string' || !(await settleHolder(parts.store, records, end.heldBy, by))) return end;
    return parts.store.write(write);
  }
}

function textOf(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new ToolLayerError('E3109', 'The value is not JSON.', { cause });
  }
  if (text === undefined) throw new ToolLayerError('E3109', 'The value is not JSON. To remove one, use delete.');
  return text;
}

const NAME_SHOWN = 64;
const shown = (name: string): string => JSON.stringify(name.slice(0, NAME_SHOWN));

const tooMuch = (message: string): ToolLayerError =>
  new ToolLayerError('E3102', message, { details: { limit: 'state' } });

const conflict = (message: string): ToolLayerError =>
  new ToolLayerError('E3704', `${message} Read it again, and decide anew.`);
