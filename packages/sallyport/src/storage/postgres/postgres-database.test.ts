import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChainedEvent, chainedEventOf } from '../../domain/event/chained-event.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { silentLog } from '../../telemetry/log.ts';
import { breakableWire } from './notifications/breakable-wire.fixture.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { openPostgres, type PostgresDatabase } from './postgres-database.ts';
import { clientOf, embeddedDatabases, run, type TestDatabases } from './postgres-databases.fixture.ts';

let databases: TestDatabases;
let connection: PostgresConnection;

beforeAll(async () => {
  databases = await embeddedDatabases();
  connection = await databases.fresh();
});

afterAll(() => databases.close());

const open = (changes: { connection?: PostgresConnection; poolMax?: number } = {}): Promise<PostgresDatabase> =>
  openPostgres({ connection, log: silentLog, ...changes });

const url = (text: string): { connection: PostgresConnection } => ({ connection: { url: text } });

test('instances that start together on an empty database all come up', async () => {
  const empty = { connection: await databases.empty() };
  const opened = await Promise.all([open(empty), open(empty), open(empty), open(empty)]);
  for (const database of opened) {
    expect((await database.toolStore.changedSince(0)).versions).toEqual([]);
    await database.close();
  }
});

test('a database of a newer version of the layer is refused', async () => {
  const newer = await databases.fresh();
  await run(newer, "insert into sallyport.kysely_migration values ('9999-later', now()::text)");
  await expect(open({ connection: newer })).rejects.toMatchObject({
    code: 'E3812',
    message: expect.stringContaining('9999-later'),
  });
});

test('OPS-04 a clock that is apart from the server’s is logged', async () => {
  for (const [aheadMs, logged] of [0, 3_600_000, -3_600_000].map((ms) => [ms, ms === 0 ? [] : ['clock-apart']])) {
    const lines: string[] = [];
    const clock = { now: () => Date.now() + Number(aheadMs), monotonic: () => 0 };
    await using _opened = await openPostgres({ connection, log: { ...silentLog, warn: (e) => lines.push(e) }, clock });
    expect(lines).toEqual(logged);
  }
});

test('PRM-10.4 every table says whose a row is, but those that hold nothing of a tenant', async () => {
  await using _opened = await open();
  const shared = `select c.table_name as name from information_schema.columns c where c.table_schema = 'sallyport'
    group by c.table_name having bool_and(c.column_name <> 'tenant_id') order by c.table_name`;
  expect(await run(connection, shared)).toEqual(
    [
      // Rows are found by the hash of a secret link alone; the tenant is inside the stored record.
      'approval_links',
      // Checkpoints of an instance's chain: hashes of events of all tenants.
      'audit_checkpoints',
      // Rows are found by the hash of a text, and the text is not stored.
      'embedding_vectors',
      // Hashes of ids of proofs, for minutes.
      'proof_ids',
      // Rows are found by the hash of a key that contains the tenant.
      ...['rate_counts', 'agent_slots'],
      ...[
        ...['policy_updates', 'document_updates'],
        'daily_work',
        'approval_rules_revision',
        'identity_revisions',
        'visibility_revision',
        'instances',
        'slot_holders',
        'sink_positions',
      ],
      ...['kysely_migration', 'kysely_migration_lock'],
    ]
      .toSorted()
      .map((name) => ({ name })),
  );
});

test('PRM-10 a page of calls is read from an index, however many calls there are', async () => {
  await using database = await open();
  const records = Array.from({ length: 400 }, (_, at) => ({
    ...record(`listed-${at}`),
    tenantId: 'listed',
    acceptedAt: at,
  }));
  await database.ledgerStore.append({ records, events: [] }, 'synchronous');
  await run(connection, 'analyze sallyport.tool_invocations');
  const page = await database.ledgerStore.calls({ tenantId: 'listed', limit: 2 });
  expect(page.map(({ invocationId }) => invocationId)).toEqual(['listed-399', 'listed-398']);
  const used = "select idx_scan::int as scans from pg_stat_user_indexes where indexrelname = 'tool_invocations_listed'";
  // Statistics of a connection are complete when the connection is closed.
  await database.close();
  await expect.poll(() => run(connection, used)).toEqual([{ scans: 1 }]);
});

test('AUD-03.4 events and checkpoints are append only, for the owner of the database too', async () => {
  await using database = await open();
  await database.ledgerStore.append({ records: [], events: [event(1)] }, 'synchronous');
  for (const table of ['audit_events', 'audit_checkpoints']) {
    for (const change of [`delete from sallyport.${table}`, `truncate sallyport.${table}`]) {
      await expect(run(connection, change)).rejects.toThrow('append only');
    }
    await expect(run(connection, `update sallyport.${table} set chain_id = 'other'`)).rejects.toThrow('append only');
  }
  expect(await database.ledgerStore.chainHead('chain-1')).toEqual({ seq: 1, hash: 'hash-1' });
});

/** Notes at each commit of a row whether it waits for the disk. */
const NOTE_COMMITS = `
create table sallyport.commits (waits text);
create function sallyport.note_commit() returns trigger language plpgsql as $$
begin insert into sallyport.commits values (current_setting('synchronous_commit')); return null; end $$;
${['tool_invocations', 'audit_events']
  .map(
    (table) => `create constraint trigger noted after insert on sallyport.${table}
deferrable initially deferred for each row execute function sallyport.note_commit()`,
  )
  .join('; ')}`;
const NOTED = `with noted as (delete from sallyport.commits returning waits)
select array_agg(distinct waits) as waits from noted`;

test('AUD-02.1 what is written synchronously is on the disk before the answer, in batches of any form', async () => {
  const fresh = { connection: await databases.fresh() };
  await using database = await open(fresh);
  await run(fresh.connection, NOTE_COMMITS);
  let seq = 0;
  const next = () => ++seq;
  for (const durability of ['synchronous', 'asynchronous'] as const)
    for (const form of ['r', 're', 'e', 'rr', 'rree']) {
      const records = [...form.replaceAll('e', '')].map(() => record(`call-${next()}`));
      const events = [...form.replaceAll('r', '')].map(() => event(next()));
      await database.ledgerStore.append({ records, events }, durability);
      const waits = [durability === 'synchronous' ? 'on' : 'off'];
      expect(await run(fresh.connection, NOTED), `${form} ${durability}`).toEqual([{ waits }]);
    }
});

test('AUD-07.3 a column that was changed is found, whether it holds any text or words of the layer', async () => {
  const fresh = { connection: await databases.fresh() };
  await using database = await open(fresh);
  const hostile = { sessionId: `\0\ud800${'s'.repeat(300)}`, userDid: 'u', nonce: 'n' };
  const changes = { final: 'is_final = not is_final', state: "state = 'FAILED'", tool: "tool_id = 'other'", whole: '' };
  const records = Object.keys(changes).map((id) => ({ ...record(id), ...hostile }));
  await database.ledgerStore.append({ records, events: [] }, 'synchronous');
  for (const [id, change] of Object.entries(changes))
    if (change !== '')
      await run(fresh.connection, `update sallyport.tool_invocations set ${change} where invocation_id = '${id}'`);
  const rows = await database.ledgerStore.allInvocations({ limit: 10 });
  expect(rows.map(({ call, differing }) => [call.invocationId, differing])).toEqual([
    ['final', ['is_final']],
    ['state', ['state']],
    ['tool', ['tool_id']],
    ['whole', undefined],
  ]);
});

test('AUD-07 of some calls those are found that hold an idempotency key, each once', async () => {
  const fresh = { connection: await databases.fresh() };
  await using database = await open(fresh);
  const { claimedKeys, idempotencyStore } = database;
  const hostile = { tenantId: 'globex \0', invocationId: 'json:"\ud800' };
  const holder = { tenantId: 'acme', invocationId: 'one' };
  for (const [key, call] of Object.entries({ a: holder, b: holder, c: hostile }))
    await idempotencyStore.claim({ ...call, key, requestHash: 'h', nonce: 'n' }, 60_000);
  const others = [
    { ...holder, tenantId: 'globex' },
    { ...holder, invocationId: 'two' },
  ];
  expect(await claimedKeys.holders([])).toEqual([]);
  expect(await claimedKeys.holders(others)).toEqual([]);
  expect(await claimedKeys.holders([holder])).toEqual([holder]);
  const found = await claimedKeys.holders([hostile, ...others, holder]);
  expect(found.toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1))).toEqual([holder, hostile]);
});

test('DOC-04.2 pins of a call that is not over, or whose checkpoints are kept, are not forgotten', async () => {
  await using database = await open();
  const ids = ['pinned-over', 'pinned-running', 'pinned-resumable', 'pinned-unrecorded'];
  const states = ids
    .slice(0, 3)
    .map((id) => ({ ...record(id), ...(id === 'pinned-running' ? { state: 'EXECUTING' } : {}) }));
  await database.ledgerStore.append({ records: states as InvocationRecord[], events: [] }, 'synchronous');
  await run(
    connection,
    `insert into sallyport.checkpoints (tenant_id, checkpoint_id, line_id, sequence, invocation_id, checkpoint_type, form, facts, saved_at)
      values ('acme', 'cp', 'line', 1, 'pinned-resumable', 'micro', 'plain', '{}', now())`,
  );
  const pins = [{ ref: 'guide', documentId: 'guide', version: '1', sha256: 'a'.repeat(64) }];
  for (const id of ids) await database.documentPins.put('acme', id, pins);
  const kept = async () => {
    const found = await Promise.all(ids.map((id) => database.documentPins.find('acme', id)));
    return ids.filter((_, at) => found[at] !== undefined);
  };
  const later = Date.now() + 3_600_000;
  expect(await database.documentPins.forget(later, 9)).toBe(2);
  expect(await kept()).toEqual(['pinned-running', 'pinned-resumable']);
  await run(connection, "delete from sallyport.checkpoints where invocation_id = 'pinned-resumable'");
  expect(await database.documentPins.forget(later, 9)).toBe(1);
  expect(await kept()).toEqual(['pinned-running']);
});

test('DOC-01.5 with a document go the vectors of its passages, and no others', async () => {
  await using database = await open();
  const { documentStore, vectorStore } = database;
  const hashes = ['old', 'both', 'newest', 'other'].map((text) => text.padStart(64, '0'));
  const vector = new Float32Array(1);
  await vectorStore.put(
    'model',
    hashes.map((contentHash) => ({ contentHash, vector })),
  );
  const document = { documentId: 'd', title: 'T', tags: [], authority: 1, contentType: 'text/plain', at: 1 } as const;
  const rest = { shingles: { step: 1, hashes: [] }, by: { agentDid: 'a' } };
  for (const [sha256, from] of Object.entries({ one: 0, two: 1 })) {
    const given = { ...document, ...rest, sha256, content: sha256, passages: hashes.slice(from, from + 2) };
    await documentStore.put('acme', given, { mustBeNew: false, documentsMax: 9, versionsMax: 9 });
  }
  const left = async () => (await vectorStore.get('model', 1, hashes)).map(({ contentHash }) => contentHash).toSorted();
  await documentStore.delete('acme', 'd', 1);
  expect(await left()).toEqual(hashes.slice(1).toSorted());
  await documentStore.delete('acme', 'd');
  expect(await left()).toEqual(hashes.slice(3));
});

test('a result of 5 MB is kept', async () => {
  await using database = await open();
  const result = 'é"\0'.repeat(MiB / 2);
  await database.ledgerStore.append({ records: [{ ...record('large'), result }], events: [] }, 'asynchronous');
  const found = await database.ledgerStore.findInvocation('acme', 'large');
  expect(found?.result === result).toBe(true);
});

test('more callers than connections wait for one', async () => {
  await using database = await open({ poolMax: 2 });
  const calls = Array.from({ length: 50 }, (_, at) => record(`many-${at}`));
  await Promise.all(calls.map((each) => database.ledgerStore.append({ records: [each], events: [] }, 'asynchronous')));
  const counted =
    "select count(*)::int as connections from pg_stat_activity where application_name = 'sallyport' and datname = current_database()";
  expect(await run(connection, counted)).toEqual([{ connections: 2 }]);
});

test('ORC-06 a connection that breaks under a query ends that query, and not the process', async () => {
  await using wire = await breakableWire(connection);
  await using database = await open({ connection: wire.connection });
  const locker = await clientOf(connection);
  try {
    await locker.query('begin');
    await locker.query('lock table sallyport.outcome_settlements in access exclusive mode');
    const refused = expect(database.outcomeStore.find('acme', 'call-1')).rejects.toMatchObject({ code: 'E3812' });
    const waiting = "from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    await expect.poll(() => run(connection, `select count(*)::int as n ${waiting}`)).toEqual([{ n: 1 }]);
    wire.breakAll();
    await refused;
  } finally {
    await locker.end();
  }
  expect(await database.outcomeStore.find('acme', 'call-1')).toBeUndefined();
});

test.runIf(process.platform === 'linux')('PIPE-08 a connection that says nothing is probed after seconds', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const opening = open(url(`postgres://u@127.0.0.1:${port}/d`)).catch((thrown: unknown) => thrown);
  // Columns of proc_net(5): the peer, the state, queues, then the timer: 02 for probes, and when it is due, in 10 ms.
  const peer = `:${port.toString(16).padStart(4, '0').toUpperCase()} 01 `;
  const rows = async () => (await readFile('/proc/net/tcp', 'utf8')).split('\n');
  const timer = async () =>
    (await rows())
      .find((row) => row.includes(peer))
      ?.split(peer)[1]
      ?.split(' ')[1];
  await expect.poll(timer).toMatch(/^02:00000[0-3]/);
  for (const socket of sockets) socket.destroy();
  server.close();
  expect(await opening).toMatchObject({ code: 'E3812' });
});

test('a lost connection costs one error, is logged, and the next query has a new one', async () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, warn: (name: string, fields?: object) => lines.push([name, fields]) };
  await using database = await openPostgres({ connection, poolMax: 1, log });
  await database.tryWrite();
  await run(
    connection,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sallyport' and datname = current_database()",
  );
  const lost = ['database-connection-lost', { error: expect.stringContaining('terminat') }];
  await expect.poll(() => lines).toEqual([lost]);
  await database.tryWrite().catch(() => undefined);
  await database.tryWrite();
  await database.close();
  expect(lines).toHaveLength(1);
});

test('a connection that is lost under the ledger costs no later append', async () => {
  await using database = await open();
  const append = (id: string) =>
    database.ledgerStore.append({ records: [record(id)], events: [] }, 'synchronous').catch(() => undefined);
  await append('before');
  await run(
    connection,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sallyport' and datname = current_database()",
  );
  await sleep(20);
  await append('perhaps');
  await append('after');
  expect(await database.ledgerStore.findInvocation('acme', 'after')).toEqual(record('after'));
});

test('a database of one connection serves the ledger and everything else', async () => {
  await using database = await open({ poolMax: 1 });
  await database.ledgerStore.append({ records: [record('single')], events: [] }, 'asynchronous');
  expect(await database.ledgerStore.findInvocation('acme', 'single')).toEqual(record('single'));
  await database.ledgerStore.append({ records: [record('single-too')], events: [] }, 'asynchronous');
});

test('a closed database answers with an error, and closes only once', async () => {
  const database = await open();
  await Promise.all([database.close(), database.close()]);
  await expect(database.tryWrite()).rejects.toMatchObject({ code: 'E3812' });
  await expect(database.idempotencyStore.release('acme', 'k', 'n')).rejects.toMatchObject({ code: 'E3812' });
  await expect(
    database.ledgerStore.append({ records: [record('late')], events: [] }, 'synchronous'),
  ).rejects.toMatchObject({
    code: 'E3812',
  });
});

test('an address that is none is refused without repeating it', async () => {
  for (const text of ['', 'mysql://u:secret@h/d', 'postgres://u:secret@[h/d', '/var/run']) {
    const error = await open(url(text)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E3812', message: expect.stringContaining('SALLYPORT_DATABASE_URL') });
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('secret');
  }
});

test('a server that cannot be reached is named as the reason', async () => {
  for (const text of ['postgres://u:secret@127.0.0.1:1/d', 'postgresql:///d?host=/nowhere&user=u']) {
    const error = await open(url(text)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E3812', message: expect.stringContaining('cannot be reached') });
    expect(String(error)).not.toContain('secret');
  }
});

test('a database that does not exist is named as the reason', async () => {
  const missing = { ...(connection as object), database: 'missing' } as PostgresConnection;
  await expect(open({ connection: missing })).rejects.toMatchObject({
    code: 'E3812',
    message: expect.stringContaining('does not exist'),
  });
});

function record(invocationId: string): InvocationRecord {
  return {
    invocationId,
    tenantId: 'acme',
    agentDid: 'did:web:agent',
    toolId: 'weather',
    door: 'rest',
    state: 'COMPLETED',
    instanceId: 'instance-1',
    warnings: [],
    acceptedAt: 1_767_323_045_678,
  };
}

function event(seq: number): ChainedEvent {
  return chainedEventOf({
    specversion: '1.0',
    id: `event-${seq}`,
    source: '/sallyport/instance-1',
    type: 'ai.agent.tool.invoked',
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    tenantid: 'acme',
    chainid: 'chain-1',
    chainseq: seq,
    chainprev: `hash-${seq - 1}`,
    chainhash: `hash-${seq}`,
    data: {},
  });
}
