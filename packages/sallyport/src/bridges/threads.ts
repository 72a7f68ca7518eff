import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CallOwner } from '../domain/invocation/call-owner.ts';
import { packState, unpackState } from './state/pack-state.ts';
import { heldState, readObject, type StateObjects } from './state/state-objects.ts';
import type {
  ChannelPlace,
  StoredValue,
  ThreadPlace,
  ThreadQuery,
  ThreadRecord,
  ThreadStore,
  ThreadWrite,
  TypedBytes,
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
   * @throws E3102 for a value that is too large, E3812, E3823
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
  /** Largest state and largest write in bytes. */
  readonly bytesMax: number;
}

/** Builds the threads over a store. */
export function createThreads(parts: ThreadParts): Threads {
  const { store, objects, bytesMax } = parts;
  const bounded = ({ bytes }: TypedBytes): void => {
    if (bytes.length > bytesMax) throw tooLarge(bytes.length, bytesMax);
  };
  return {
    async save(owner, { values, ...record }) {
      for (const given of [record.state, record.metadata, ...values.map(({ value }) => value)]) bounded(given);
      const stored: StoredValue[] = [];
      for (const { value, ...place } of values) {
        const packed = await heldState(parts, owner.tenantId, await packState(value.bytes));
        stored.push({ ...place, type: value.type, packed });
      }
      await store.put(owner, { ...record, values: stored });
    },
    async write(owner, place, writes) {
      for (const { value } of writes) bounded(value);
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

const tooLarge = (size: number, max: number): ToolLayerError =>
  new ToolLayerError('E3102', `The state has ${size} bytes; a checkpoint holds at most ${max}.`, {
    details: { limit: 'checkpoints.state_bytes_max', max },
  });
