import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CallOwner } from '../domain/invocation/call-owner.ts';
import type { ThreadSettings } from './settings.ts';
import { packState, unpackState } from './state/pack-state.ts';
import type { PackedState } from './state/packed-state.ts';
import { heldState, readObject, type StateObjects } from './state/state-objects.ts';
import {
  type ChannelPlace,
  type StoredValue,
  THREAD_ROW_BYTES,
  type ThreadPlace,
  type ThreadQuery,
  type ThreadRecord,
  type ThreadStore,
  type ThreadWrite,
  type TypedBytes,
} from './thread-store.port.ts';

export type { ThreadPlace, ThreadQuery, ThreadWrite, TypedBytes };

/** A value of a channel. */
export interface ChannelValue extends ChannelPlace {
  readonly value: TypedBytes;
}

/** A state of a thread, with the values of its channels and what tasks wrote on top of it. */
export interface ThreadState extends ThreadRecord {
  readonly values: readonly ChannelValue[];
  readonly writes: readonly ThreadWrite[];
}

/** States of graphs of agents, by thread (STA-07): packed and checked as checkpoints of tools are. Owners never meet. */
export interface Threads {
  /**
   * Saves a state.
   * @param state with the values of those channels alone that have changed
   * @throws E3102 for a value that is too large, and when the owner's threads are too many or too large; E3702 when a value of
   *   an earlier state is not there any more; E3812, E3823
   */
  save(owner: CallOwner, state: Omit<ThreadState, 'writes'>): Promise<void>;
  /** @throws E3102, E3812 */
  write(owner: CallOwner, place: ThreadPlace, writes: readonly ThreadWrite[]): Promise<void>;
  /** States, newest first. @throws E3703 when one of them is damaged, E3812, E3823 */
  list(owner: CallOwner, query: ThreadQuery): Promise<readonly ThreadState[]>;
  /** @throws E3812 */
  remove(owner: CallOwner, threadId: string): Promise<void>;
}

/** Dependencies of the threads. */
export interface ThreadParts extends StateObjects {
  readonly store: ThreadStore;
  /** Largest state, value and write in bytes. */
  readonly stateBytesMax: number;
  readonly settings: Pick<ThreadSettings, 'threadsMax' | 'bytesMax'>;
}

/** Builds the threads over a store. */
export function createThreads(parts: ThreadParts): Threads {
  const { store, objects, stateBytesMax } = parts;
  const bounded = ({ bytes }: TypedBytes): void => {
    if (bytes.length > stateBytesMax) throw tooLarge(bytes.length, stateBytesMax);
  };
  return {
    async save(owner, { values, ...record }) {
      const { state, metadata } = record;
      for (const one of [state, metadata, ...values.map(({ value }) => value)]) bounded(one);
      const packed: (Omit<StoredValue, 'packed'> & { readonly packed: PackedState })[] = [];
      for (const { value, ...place } of values)
        packed.push({ ...place, type: value.type, packed: await packState(value.bytes) });
      const given = [state.bytes, metadata.bytes, ...packed.map((one) => one.packed.bytes)];
      await refuseTooMany(parts, owner, record.threadId, given);
      const stored: StoredValue[] = [];
      for (const one of packed) stored.push({ ...one, packed: await heldState(parts, owner.tenantId, one.packed) });
      if (!(await store.put(owner, { ...record, values: stored }))) throw removed(record.threadId);
    },
    async write(owner, place, writes) {
      for (const { value } of writes) bounded(value);
      await refuseTooMany(
        parts,
        owner,
        place.threadId,
        writes.map(({ value }) => value.bytes),
      );
      await store.write(owner, place, writes);
    },
    async list(owner, query) {
      const states: ThreadState[] = [];
      for (const { values, ...rest } of await store.list(owner, query)) {
        const read = values.map(async ({ type, packed, ...place }) => {
          const bytes = await unpackState(await readObject(objects, rest.checkpointId, packed));
          return { ...place, value: { type, bytes } };
        });
        states.push({ ...rest, values: await Promise.all(read) });
      }
      return states;
    },
    remove: (owner, threadId) => store.remove(owner, threadId),
  };
}

/** What is saved at the same moment is not counted yet, so that much more than the limits may be stored. */
async function refuseTooMany(
  { store, settings: { threadsMax, bytesMax } }: ThreadParts,
  owner: CallOwner,
  threadId: string,
  given: readonly Uint8Array[],
): Promise<void> {
  const { others, bytes } = await store.used(owner, threadId);
  if (others >= threadsMax) throw tooMuch(`has ${others} other threads`, 'threads.max', threadsMax);
  const needed = given.reduce((sum, { length }) => sum + length + THREAD_ROW_BYTES, bytes);
  if (needed > bytesMax) throw tooMuch(`would have threads of ${needed} bytes`, 'threads.bytes_max', bytesMax);
}

const removed = (threadId: string): ToolLayerError =>
  new ToolLayerError(
    'E3702',
    `The thread ${JSON.stringify(threadId.slice(0, 128))} does not hold the values on which this state is built: it was removed meanwhile. Nothing was saved. Begin the thread anew.`,
  );

const tooMuch = (what: string, limit: string, max: number): ToolLayerError =>
  new ToolLayerError('E3102', `The agent ${what}; ${limit} is ${max}. Remove threads that are not needed any more.`, {
    details: { limit, max },
  });

const tooLarge = (size: number, max: number): ToolLayerError =>
  new ToolLayerError('E3102', `The state has ${size} bytes; a checkpoint holds at most ${max}.`, {
    details: { limit: 'checkpoints.state_bytes_max', max },
  });
