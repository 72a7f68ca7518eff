import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { Client } from 'pg';
import type { CloudEvent } from '../../../packages/sallyport/api/schemas/cloud-event.ts';
import { type PackedEvents, unpack } from '../../../packages/sallyport/src/storage/postgres/ledger/packed-events.ts';

/** The calls in the layer whose tables are changed. */
export interface ForgedCalls {
  /** A call of a tool that has a side effect, made under an idempotency key; not the last call. */
  readonly keyed: string;
  /** A call of a pure tool; not the last call. */
  readonly pure: string;
  /** The last call. */
  readonly last: string;
}

/**
 * A change that is made to the tables with SQL alone, without the signing key and without the files of the data folder.
 */
export interface Forgery {
  /** What is changed, in the words of the table in docs/audit.md. */
  readonly what: string;
  /** A part of what `audit verify` reports of the change; undefined where it cannot detect the change. */
  readonly named: string | undefined;
  /** `audit verify` only warns: what it sees may have another cause. */
  readonly isWarning?: true;
  /** The layer writes more events before the verification. Only the last forgery of the list may set this. */
  readonly goesOn?: true;
  forge(database: Client, calls: ForgedCalls): Promise<unknown>;
}

const ROWS = 'sallyport.tool_invocations';
const EVENTS = 'sallyport.audit_events';
const CHECKPOINTS = 'sallyport.audit_checkpoints';

/** Changes members of the record of a call; a member whose new value is undefined is removed. */
async function edit(database: Client, id: string, change: Readonly<Record<string, unknown>>): Promise<void> {
  const { rows } = await database.query<{ record: object }>(`select record from ${ROWS} where invocation_id = $1`, [
    id,
  ]);
  const record = JSON.stringify({ ...rows[0]?.record, ...change });
  await database.query(`update ${ROWS} set record = $2::json where invocation_id = $1`, [id, record]);
}

interface EventRow {
  readonly position: string;
  readonly events: PackedEvents;
}

const eventRows = async (database: Client): Promise<EventRow[]> =>
  (await database.query<EventRow>(`select position, events from ${EVENTS} order by first_seq`)).rows;

const write = (database: Client, { position, events }: EventRow) =>
  database.query(`update ${EVENTS} set events = $2::json where position = $1`, [position, JSON.stringify(events)]);

/** Replaces the data of the events of a call, and changes nothing else of them. */
async function editEvents(database: Client, id: string, change: (data: object) => object): Promise<void> {
  for (const { position, events } of await eventRows(database)) {
    if (events.shared.data['invocation_id'] !== id && events.each[0]?.data['invocation_id'] !== id) continue;
    const [first, ...others] = events.each;
    if (first === undefined) continue;
    await write(database, {
      position,
      events: { ...events, each: [{ ...first, data: change(first.data) as never }, ...others] },
    });
  }
}

/** The previous hash in the first event of a chain. */
const NONE = '0'.repeat(64);

const hashOf = ({ chainhash: _own, ...event }: CloudEvent): string => sha256(canonicalJson(event));

/** Computes the hash of each event anew, from the first event on, so that the chain is whole again. */
async function link(database: Client): Promise<void> {
  let chainprev = NONE;
  for (const { position, events } of await eventRows(database)) {
    const shared = { ...events.shared, chainprev };
    const each = unpack({ shared, each: events.each }).map((event, at) => {
      const chainhash = hashOf({ ...event, chainprev });
      chainprev = chainhash;
      return { ...(events.each[at] as PackedEvents['each'][number]), chainhash };
    });
    await write(database, { position, events: { shared, each } });
  }
}

interface Appended {
  readonly state: string;
  /** The call that the new event is about; by default the call whose event is copied. */
  readonly about?: string;
  /** The id of a new chain that begins with this event; by default the event goes to the end of the existing chain. */
  readonly chain?: string;
}

/** Appends an event with right hashes to the chain: a copy of the last event of a call, with another state. */
async function append(database: Client, id: string, { state, about = id, chain }: Appended): Promise<void> {
  const all = (await eventRows(database)).flatMap(({ events }) => unpack(events));
  const told = all.findLast(({ data }) => data['invocation_id'] === id);
  const last = all.findLast(({ chainid }) => chainid === (chain ?? told?.chainid));
  if (told === undefined) throw new Error('there is no such call');
  const { id: _id, type, time, data, chainhash: _hash, ...rest } = told;
  const chainid = chain ?? told.chainid;
  const shared = {
    ...rest,
    chainid,
    chainprev: last?.chainhash ?? NONE,
    chainseq: (last?.chainseq ?? 0) + 1,
    subject: about,
  };
  const own = { id: `forged ${about} ${state}`, type, time, data: { ...data, invocation_id: about, state } };
  const chainhash = hashOf({ ...shared, ...own, chainhash: '' });
  await database.query(
    `insert into ${EVENTS} (chain_id, first_seq, last_seq, tenant_id, types, invocation_id, tool_id, agent_did, time, events)
     select $2, $3, $3, tenant_id, types, $4, tool_id, agent_did, time, $5::json
     from ${EVENTS} where invocation_id = $1 order by position desc limit 1`,
    [
      id,
      chainid,
      shared.chainseq,
      about,
      JSON.stringify({ shared: { ...shared, data: {} }, each: [{ ...own, chainhash }] }),
    ],
  );
}

/** Adds a copy of the row of a call under another id. */
async function copyRow(database: Client, id: string, copy: string): Promise<void> {
  await database.query(`create temp table forged as table ${ROWS}`);
  await database.query('delete from forged where invocation_id <> $1', [id]);
  await database.query('update forged set invocation_id = $2, record = replace(record::text, $1, $2)::json', [
    id,
    copy,
  ]);
  await database.query(`insert into ${ROWS} table forged; drop table forged`);
}

async function forgeCall(database: Client, id: string, chain: { readonly chain?: string } = {}): Promise<void> {
  await copyRow(database, id, 'forged');
  for (const state of ['DECLARED', 'COMPLETED']) await append(database, id, { state, about: 'forged', ...chain });
}

const removeLast = async (database: Client, last: string): Promise<void> => {
  await database.query(
    `delete from ${EVENTS} where first_seq >= (select min(first_seq) from ${EVENTS} where invocation_id = $1)`,
    [last],
  );
  await database.query(`delete from ${ROWS} where invocation_id = $1`, [last]);
};

/** What an intruder may try; docs/audit.md shows the same list. */
export const FORGERIES: readonly Forgery[] = [
  {
    what: 'delete the newest events with their rows and signed heads',
    named: 'which was the head at',
    async forge(database, { last }) {
      await removeLast(database, last);
      await database.query(`delete from ${CHECKPOINTS} where seq > (select max(last_seq) from ${EVENTS})`);
    },
  },
  {
    what: 'delete a whole chain with its rows and signed heads',
    named: 'which was the head at',
    forge: (database) => database.query(`delete from ${EVENTS}; delete from ${ROWS}; delete from ${CHECKPOINTS}`),
  },
  {
    what: 'delete all signed heads',
    named: 'was deleted from the table',
    forge: (database) => database.query(`delete from ${CHECKPOINTS}`),
  },
  {
    what: 'forge a signed head',
    named: 'is not signed by a known key',
    forge: (database) => database.query(`update ${CHECKPOINTS} set hash = repeat('f', 64)`),
  },
  {
    what: 'change an event',
    named: 'its content does not match its hash',
    forge: (database, { pure }) => editEvents(database, pure, (data) => ({ ...data, door: 'mcp' })),
  },
  {
    what: 'change an event, and write the chain anew from there with right hashes, without its signed heads',
    named: 'the chain was written anew',
    async forge(database, { pure }) {
      await editEvents(database, pure, (data) => ({ ...data, door: 'mcp' }));
      await link(database);
      await database.query(`delete from ${CHECKPOINTS}`);
    },
  },
  {
    what: 'delete an event of the middle',
    named: 'is missing',
    forge: (database, { pure }) => database.query(`delete from ${EVENTS} where invocation_id = $1`, [pure]),
  },
  {
    what: 'delete a row',
    named: 'the chain records it, and it has no row',
    forge: (database, { keyed }) => database.query(`delete from ${ROWS} where invocation_id = $1`, [keyed]),
  },
  {
    what: 'insert a row',
    named: 'it has a row, and no chain records it',
    forge: (database, { pure }) => copyRow(database, pure, 'forged'),
  },
  {
    what: 'change the result of a call',
    named: 'its row holds another result than the chain has the hash of',
    forge: (database, { keyed }) => edit(database, keyed, { result: { value: 1_000_000 } }),
  },
  {
    what: 'change the result of a call, and its hash in the row',
    named: 'its row has another hash of the result than the chain',
    forge: (database, { keyed }) => {
      const result = { value: 1_000_000 };
      return edit(database, keyed, { result, outputHash: sha256(canonicalJson(result)) });
    },
  },
  {
    what: 'take the result out of a row',
    named: 'its row holds another result than the chain has the hash of',
    forge: (database, { keyed }) => edit(database, keyed, { result: undefined }),
  },
  {
    what: 'change the agent of a row',
    named: 'says something else of agent_did than the chain',
    forge: (database, { keyed }) => edit(database, keyed, { agentDid: 'did:agent:somebody-else' }),
  },
  {
    what: 'change the user of a row',
    named: 'says something else of user_did than the chain',
    forge: (database, { keyed }) => edit(database, keyed, { userDid: 'did:user:somebody-else' }),
  },
  {
    what: 'change the tool of a row',
    named: 'says something else of tool_id than the chain',
    forge: (database, { keyed }) => edit(database, keyed, { toolId: 'harmless' }),
  },
  {
    what: 'change the version of the tool in a row',
    named: 'says something else of tool_version than the chain',
    forge: (database, { keyed }) => edit(database, keyed, { toolVersion: '9.9.9' }),
  },
  {
    what: 'change the hash of the arguments in a row',
    named: 'says something else of input_hash than the chain',
    forge: (database, { keyed }) => edit(database, keyed, { inputHash: 'f'.repeat(64) }),
  },
  {
    what: 'change what a row says of side effects',
    named: 'says something else of side_effect than the chain',
    forge: (database, { keyed }) => edit(database, keyed, { sideEffect: 'pure' }),
  },
  {
    what: 'change only the columns that rows are looked up by',
    named: 'the columns agent_did, turn_group of its row say something else',
    forge: (database, { keyed }) =>
      database.query(`update ${ROWS} set agent_did = 'x', turn_group = 'x' where invocation_id = $1`, [keyed]),
  },
  {
    what: 'change the end in a row',
    named: 'the chain records no such end',
    forge: (database, { keyed }) => edit(database, keyed, { state: 'FAILED' }),
  },
  {
    what: 'set a row back to a call that still runs',
    named: 'the chain records its end',
    forge: (database, { keyed }) => edit(database, keyed, { state: 'EXECUTING' }),
  },
  {
    what: 'put a second end of a call at the end of the chain, with right hashes',
    named: 'the chain records two ends',
    forge: (database, { keyed }) => append(database, keyed, { state: 'FAILED' }),
  },
  {
    what: 'put a second beginning of a call at the end of the chain, with right hashes',
    named: 'the chain records two beginnings',
    forge: (database, { keyed }) => append(database, keyed, { state: 'DECLARED' }),
  },
  {
    what: 'put a call that never was into a chain of its own, with right hashes, and its row',
    named: 'are covered by no signed head of the table',
    isWarning: true,
    forge: (database, { pure }) => forgeCall(database, pure, { chain: 'forged' }),
  },
  {
    what: 'delete older signed heads and leave the newest, which proves what they proved',
    named: undefined,
    forge: (database) => database.query(`delete from ${CHECKPOINTS} where seq < (select max(seq) from ${CHECKPOINTS})`),
  },
  {
    what: 'say that a result was forgotten, and take it out',
    named: undefined,
    forge: (database, { keyed }) => edit(database, keyed, { result: undefined, resultForgottenAt: 1 }),
  },
  {
    what: 'change what only the row says: times, usage, warnings, words of an error, how a call is taken back',
    named: undefined,
    forge: (database, { keyed }) => edit(database, keyed, { warnings: [], acceptedAt: 1, compensation: undefined }),
  },
  {
    what: 'delete idempotency keys',
    named: 'ran under an idempotency key which they do not hold any more',
    isWarning: true,
    forge: (database) => database.query('delete from sallyport.idempotency_keys'),
  },
  {
    what: 'put a call that never was at the end of the chain, with right hashes, and its row',
    named: 'are covered by no signed head of the table',
    isWarning: true,
    forge: (database, { pure }) => forgeCall(database, pure),
  },
  {
    what: 'the same, and the layer has written its next event after it',
    named: undefined,
    goesOn: true,
    forge: (database, { pure }) => forgeCall(database, pure),
  },
];
