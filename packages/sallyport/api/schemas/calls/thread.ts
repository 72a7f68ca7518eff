import { type Static, Type } from 'typebox';

const Name = Type.String({ minLength: 1, maxLength: 512 });
const Namespace = Type.String({ maxLength: 2048, description: 'Empty for the graph itself, which is the default.' });

export const TypedValue = Type.Object(
  {
    type: Type.String({ maxLength: 64, description: 'Form in which the agent serialised it, such as json.' }),
    base64: Type.String({ pattern: '^[A-Za-z0-9+/]*={0,2}$', description: 'Its bytes.' }),
  },
  { additionalProperties: false },
);
export type TypedValue = Static<typeof TypedValue>;

export const ThreadWrite = Type.Object(
  {
    task_id: Name,
    task_path: Type.Optional(Type.String({ maxLength: 4096, description: 'Place of the task in the graph.' })),
    index: Type.Integer({
      minimum: -1000,
      maximum: 1_000_000,
      description: 'Position among the writes of the task; a negative one replaces what is there.',
    }),
    channel: Type.String({ maxLength: 512 }),
    value: TypedValue,
  },
  { additionalProperties: false },
);
export type ThreadWrite = Static<typeof ThreadWrite>;

const PLACE = {
  thread_id: Name,
  namespace: Type.Optional(Namespace),
  checkpoint_id: Name,
};

const Channel = Type.String({ maxLength: 512 });
const ChannelVersion = Type.String({ maxLength: 128 });

export const ChannelValue = Type.Object(
  { channel: Channel, version: ChannelVersion, value: TypedValue },
  { additionalProperties: false },
);
export type ChannelValue = Static<typeof ChannelValue>;

/** STA-07: a state of a graph. */
const STATE = {
  ...PLACE,
  parent_checkpoint_id: Type.Optional(Name),
  state: TypedValue,
  metadata: TypedValue,
  versions: Type.Record(Channel, ChannelVersion, { description: 'The version of each channel that has a value.' }),
  values: Type.Array(ChannelValue, {
    maxItems: 10_000,
    description: 'To save: of the versions that are not saved yet.',
  }),
};

export const ThreadSaveRequest = Type.Object(STATE, { additionalProperties: false });
export type ThreadSaveRequest = Static<typeof ThreadSaveRequest>;

export const ThreadWriteRequest = Type.Object(
  { ...PLACE, writes: Type.Array(ThreadWrite, { maxItems: 10_000 }) },
  { additionalProperties: false },
);
export type ThreadWriteRequest = Static<typeof ThreadWriteRequest>;

export const ThreadListRequest = Type.Object(
  {
    thread_id: Type.Optional(Name),
    namespace: Type.Optional(Namespace),
    checkpoint_id: Type.Optional(Name),
    before: Type.Optional(Type.String({ maxLength: 512, description: 'Only states whose id is less.' })),
    cursor: Type.Optional(Type.String({ maxLength: 8192, description: 'From the previous page.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default 10.' })),
  },
  { additionalProperties: false },
);
export type ThreadListRequest = Static<typeof ThreadListRequest>;

export const ThreadListResponse = Type.Object(
  {
    states: Type.Array(
      Type.Object(
        { ...STATE, namespace: Namespace, writes: Type.Array(ThreadWrite) },
        { additionalProperties: false, title: 'ThreadState' },
      ),
    ),
    next_cursor: Type.Optional(Type.String({ description: 'Absent on the last page.' })),
  },
  { additionalProperties: false },
);
export type ThreadListResponse = Static<typeof ThreadListResponse>;

export const ThreadRequest = Type.Object({ thread_id: Name }, { additionalProperties: false });
export type ThreadRequest = Static<typeof ThreadRequest>;

export const ThreadSaved = Type.Object({ thread_id: Type.String() }, { additionalProperties: false });
export type ThreadSaved = Static<typeof ThreadSaved>;
