import {
  BaseCheckpointSaver,
  compareWritesSortKeys,
  copyCheckpoint,
  maxChannelVersion,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
  writesSortKey,
} from '@langchain/langgraph-checkpoint';
import type {
  ThreadListRequest,
  ThreadListResponse,
  ThreadWrite,
  TypedValue,
} from '../../../../api/schemas/calls/thread.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';

/** What a saver is made from: a layer, and the identity of the agent whose threads these are. */
export interface SallyportSaverOptions {
  readonly layer: Pick<ToolLayer, 'ask'>;
  /** The agent's capability token. */
  readonly token?: string;
  /** Further facts about the caller; its token wins over `token`. */
  readonly caller?: Partial<Caller>;
  /** How values are serialised; default: as LangGraph's own savers do. */
  readonly serde?: SerializerProtocol;
}

type Saver = BaseCheckpointSaver;
type Config = Parameters<Saver['getTuple']>[0];
type Checkpoint = Parameters<Saver['put']>[1];
type Versions = Parameters<Saver['put']>[3];
type Metadata = Parameters<Saver['put']>[2];
type Tuple = NonNullable<Awaited<ReturnType<Saver['getTuple']>>>;
type ListOptions = Parameters<Saver['list']>[1];
type StoredState = ThreadListResponse['states'][number];

/** States asked for at once. */
const PAGE = 20;

/**
 * Keeps the state of LangGraph's graphs in the layer (STA-07): durable, packed and checked like the checkpoints of tools. Threads
 * belong to the agent of the token, and to its user.
 *
 * Methods throw what the operations `threads.*` throw: E32xx without a valid token, E3102, E3702, E3703, E3812, E3823.
 */
export class SallyportSaver extends BaseCheckpointSaver {
  readonly #layer: Pick<ToolLayer, 'ask'>;
  readonly #caller: Caller;

  constructor({ layer, token, caller, serde }: SallyportSaverOptions) {
    super(serde);
    this.#layer = layer;
    this.#caller = { door: 'library', ...(token === undefined ? {} : { token }), ...caller };
  }

  /** The state of the thread that `config` names, or its newest one; undefined when there is none. */
  override async getTuple(config: Config): Promise<Tuple | undefined> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = placeIn(config);
    if (thread_id === undefined) return undefined;
    const query = { thread_id, namespace: checkpoint_ns, ...(checkpoint_id ? { checkpoint_id } : {}) };
    const [found] = (await this.#list({ ...query, limit: 1 })).states;
    return found === undefined ? undefined : this.#tupleOf(found);
  }

  /** States, newest first. */
  override async *list(config: Config, options: ListOptions = {}): AsyncGenerator<Tuple> {
    const { thread_id, checkpoint_ns, checkpoint_id } = placeIn(config);
    const before = placeIn(options.before ?? {}).checkpoint_id;
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    let query: ThreadListRequest | undefined = {
      ...(thread_id === undefined ? {} : { thread_id }),
      ...(checkpoint_ns === undefined ? {} : { namespace: checkpoint_ns }),
      ...(checkpoint_id ? { checkpoint_id } : {}),
      ...(before ? { before } : {}),
      limit: PAGE,
    };
    while (query !== undefined && left > 0) {
      const { states, next_cursor }: ThreadListResponse = await this.#list(query);
      for (const state of states) {
        if (left <= 0 || !(await this.#fits(state, options.filter))) continue;
        left -= 1;
        yield await this.#tupleOf(state);
      }
      query = next_cursor === undefined ? undefined : { ...query, cursor: next_cursor };
    }
  }

  /** Saves a state, and the values of the channels that are new in it; resolves when they are durable. */
  override async put(
    config: Config,
    checkpoint: Checkpoint,
    metadata: Metadata,
    newVersions: Versions,
  ): Promise<Config> {
    const { thread_id, checkpoint_ns = '', checkpoint_id: parent } = placeIn(config);
    if (thread_id === undefined) throw new TypeError('A state can be saved only with configurable.thread_id.');
    const { channel_values, ...rest } = copyCheckpoint(checkpoint);
    const changed = Object.entries(newVersions).filter(([channel]) => channel in channel_values);
    const values = changed.map(async ([channel, version]) => ({
      ...{ channel, version: String(version) },
      value: await this.#valueOf(channel_values[channel]),
    }));
    const state = {
      ...{ thread_id, namespace: checkpoint_ns, checkpoint_id: checkpoint.id },
      ...(parent ? { parent_checkpoint_id: parent } : {}),
      state: await this.#valueOf(rest),
      metadata: await this.#valueOf(metadata),
      // A channel without a value has a version too, which stands in the state.
      versions: Object.fromEntries(
        Object.entries(checkpoint.channel_versions)
          .filter(([channel]) => channel in channel_values)
          .map(([channel, version]) => [channel, String(version)]),
      ),
      values: await Promise.all(values),
    };
    await this.#layer.ask('threads.save', state, this.#caller);
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  /** Saves what a task wrote on top of a state. */
  override async putWrites(
    config: Config,
    writes: Parameters<Saver['putWrites']>[1],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = placeIn(config);
    if (thread_id === undefined || !checkpoint_id)
      throw new TypeError('Writes can be saved only with configurable.thread_id and checkpoint_id.');
    const given = writes.map(async ([channel, value], at) => ({
      ...{ task_id: taskId, task_path: taskPath, index: WRITES_IDX_MAP[channel] ?? at, channel },
      value: await this.#valueOf(value),
    }));
    const place = { thread_id, namespace: checkpoint_ns, checkpoint_id };
    await this.#layer.ask('threads.write', { ...place, writes: await Promise.all(given) }, this.#caller);
  }

  /** Branches of a thread count on from the same version; a random fraction keeps their versions of a channel different. */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(current ?? 0) + 1 + Math.random();
  }

  /** Removes a thread with all its states. */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#layer.ask('threads.remove', { thread_id: threadId }, this.#caller);
  }

  #list(query: ThreadListRequest): Promise<ThreadListResponse> {
    return this.#layer.ask('threads.list', query, this.#caller);
  }

  async #tupleOf(found: StoredState): Promise<Tuple> {
    const { thread_id, namespace, checkpoint_id, parent_checkpoint_id } = found;
    const configOf = (id: string): Config => ({
      configurable: { thread_id, checkpoint_ns: namespace, checkpoint_id: id },
    });
    const values = found.values.map(async ({ channel, value }) => [channel, await this.#read(value)] as const);
    const channel_values = Object.fromEntries(await Promise.all(values));
    const checkpoint = { ...(await this.#read<Omit<Checkpoint, 'channel_values'>>(found.state)), channel_values };
    return {
      config: configOf(checkpoint_id),
      checkpoint: await this.#withSends(checkpoint, found),
      metadata: await this.#read<Metadata>(found.metadata),
      pendingWrites: await Promise.all(
        inOrder(found.writes).map(
          async ({ task_id, channel, value }) =>
            [task_id, channel, await this.#read(value)] as [string, string, unknown],
        ),
      ),
      ...(parent_checkpoint_id === undefined ? {} : { parentConfig: configOf(parent_checkpoint_id) }),
    };
  }

  /** Before version 4 a checkpoint had what its parent's tasks had sent in a channel of its own. */
  async #withSends(
    checkpoint: Checkpoint,
    { thread_id, namespace, parent_checkpoint_id }: StoredState,
  ): Promise<Checkpoint> {
    if (checkpoint.v >= 4 || parent_checkpoint_id === undefined) return checkpoint;
    const [parent] = (await this.#list({ thread_id, namespace, checkpoint_id: parent_checkpoint_id, limit: 1 })).states;
    const sent = inOrder(parent?.writes ?? []).filter(({ channel }) => channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    const version = versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
    return {
      ...checkpoint,
      channel_values: {
        ...checkpoint.channel_values,
        [TASKS]: await Promise.all(sent.map(({ value }) => this.#read(value))),
      },
      channel_versions: { ...checkpoint.channel_versions, [TASKS]: version },
    };
  }

  async #fits({ metadata }: StoredState, filter: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    if (filter === undefined) return true;
    const read = await this.#read<Readonly<Record<string, unknown>>>(metadata);
    return Object.entries(filter).every(([name, value]) => read[name] === value);
  }

  async #valueOf(value: unknown): Promise<TypedValue> {
    const [type, bytes] = await this.serde.dumpsTyped(value);
    return { type, base64: Buffer.from(bytes).toString('base64') };
  }

  async #read<T = unknown>({ type, base64 }: TypedValue): Promise<T> {
    return (await this.serde.loadsTyped(type, Buffer.from(base64, 'base64'))) as T;
  }
}

interface Place {
  readonly thread_id?: string;
  readonly checkpoint_ns?: string;
  readonly checkpoint_id?: string;
}

/** Names in a configuration. Numbers are taken as text, as other savers do. */
function placeIn({ configurable = {} }: Config): Place {
  const textOf = (name: string): Record<string, string> => {
    const value: unknown = configurable[name];
    return typeof value === 'string' || typeof value === 'number' ? { [name]: String(value) } : {};
  };
  return { ...textOf('thread_id'), ...textOf('checkpoint_ns'), ...textOf('checkpoint_id') };
}

const inOrder = (writes: readonly ThreadWrite[]): readonly ThreadWrite[] =>
  writes.toSorted((a, b) => compareWritesSortKeys(keyOf(a), keyOf(b)));

const keyOf = ({ task_path = '', task_id, index }: ThreadWrite) => writesSortKey(task_path, task_id, index);
