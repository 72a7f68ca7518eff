import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@sallyport/std/clock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRetention } from '../../../packages/sallyport/src/bridges/retention.ts';
import { silentLog } from '../../../packages/sallyport/src/index.ts';
import { folderObjectStore } from '../../../packages/sallyport/src/storage/folder/folder-object-store.ts';
import {
  createDatabaseServer,
  type DatabaseServer,
} from '../../../packages/sallyport/src/storage/postgres/embedded/database-server.fixture.ts';
import { openPostgres } from '../../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import {
  clientOf,
  run as sql,
  urlOf,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import type { CountingOrder } from './counting-layer.ts';

const objectsIn = (where: string): string => join(where, 'objects');
const PROGRAM = fileURLToPath(new URL('counting-layer.ts', import.meta.url));
const STEPS = 200;
/** Kills of each tool; more with SALLYPORT_KILLS. */
const KILLS = { function: 2, shell: 1, mcp: 1 } as const;

let folder: string;
let server: DatabaseServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'killed-work-'));
  server = await createDatabaseServer(folder);
  await server.start();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts one process. */
function start(order: Omit<CountingOrder, 'settings'>): { child: ChildProcess; ended: Promise<void> } {
  const settings = {
    data_folder: join(folder, `layer-${order.kind}`),
    'database.url': urlOf(server.connection),
    'object_store.folder': objectsIn(folder),
    'search.embedder': 'none' as const,
    'context.embedded': order.large === true ? ('on' as const) : ('off' as const),
  };
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, JSON.stringify({ ...order, settings })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return { child, ended: new Promise<void>((resolve) => child.once('close', () => resolve())) };
}

/** Runs one process until it ends, or until it has made so many steps: then it is killed. It ends after `onAnswer`. */
async function run(
  order: Omit<CountingOrder, 'settings'>,
  killAfterSteps = Number.POSITIVE_INFINITY,
  onAnswer: () => Promise<void> = async () => undefined,
) {
  const { child, ended } = start(order);
  let [done, continuesAt] = [0, 0];
  let answer: { status?: string; result?: unknown; error?: unknown } | undefined;
  if (child.stdout === null) throw new Error('there is no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const [word = '', value = ''] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)];
    if (word === 'answer') {
      answer = JSON.parse(value) as typeof answer;
      await onAnswer();
      child.stdin?.end();
    }
    if (word === 'continues') continuesAt = Number(value);
    if (word === 'continues' || word === 'done') done = Number(value);
    if (done - continuesAt >= killAfterSteps) child.kill('SIGKILL');
  }
  await ended;
  return { done, continuesAt, answer };
}

const isCompleted = async (invocationId: string): Promise<boolean> => {
  const rows = `select from sallyport.tool_invocations where invocation_id = '${invocationId}' and state = 'COMPLETED'`;
  return (await sql(server.connection, rows)).length > 0;
};

/** The steps that are in the result. */
function stepsOf(kind: CountingOrder['kind'], result: unknown): unknown {
  if (kind !== 'mcp') return result;
  const [block] = (result as { content: { text: string }[] }).content;
  return (JSON.parse(block?.text ?? '') as { done: unknown }).done;
}

test.each(['function', 'shell', 'mcp'] as const)(
  `STA-02.1 STA-02.2 STA-01.5 a tool of ${STEPS} steps that is killed finishes with every step done once: %s`,
  async (kind) => {
    const kills = Number(process.env['SALLYPORT_KILLS'] ?? KILLS[kind]);
    let after: string | undefined;
    let last: Awaited<ReturnType<typeof run>> | undefined;
    for (let kill = 0; kill <= kills; kill += 1) {
      const invocationId = `${kind}-${kill}`;
      const most = Math.max(1, Math.min(Math.floor((2 * STEPS) / (kills + 1)), STEPS - (last?.done ?? 0) - 1));
      const killAfter = kill === kills ? Number.POSITIVE_INFINITY : 1 + Math.floor(Math.random() * most);
      const next = await run(
        { kind, steps: STEPS, invocationId, ...(after === undefined ? {} : { after }) },
        killAfter,
      );
      // What the killed process reported was stored; it may have stored a step more before it died.
      expect(next.continuesAt).toBeGreaterThanOrEqual(last?.done ?? 0);
      const isDone = next.answer === undefined && (await isCompleted(invocationId));
      // The kill came too late, after the end of the call: its checkpoints are gone, and there is nothing to continue.
      last = isDone ? undefined : next;
      after = isDone ? undefined : invocationId;
      if (next.answer !== undefined) break;
    }
    expect(last?.answer).toMatchObject({ status: 'success' });
    expect(stepsOf(kind, last?.answer?.result)).toEqual(Array.from({ length: STEPS }, (_, step) => step));
  },
  600_000,
);

/** Names of the objects, of unfinished ones too. */
const objectNames = (): string[] =>
  readdirSync(objectsIn(folder), { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

/** Connections that wait for a lock of the test. */
const WAIT = `from pg_stat_activity where wait_event_type = 'Lock'`;
/** Steps that the context server knows as checkpoints, with how often. */
const REPORTED = `select facts ->> 'label' as label, count(*)::int as times from sallyport.context_checkpoints group by 1 order by 1`;

test('STA-03.4 STA-02.2 STA-04.1 a layer that is killed between the object of a state and its row loses nothing, no report either, and leaves no object for ever', async () => {
  const { connection } = server;
  // The row of the second state waits for a lock that the test has.
  await using database = await openPostgres({ connection, log: silentLog });
  await sql(
    connection,
    `create function hold() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(1); return new; end';
    create trigger hold before insert on sallyport.checkpoints for each row when (new.sequence = 2) execute function hold()`,
  );
  // The report of the first state waits for another one.
  const lock = await clientOf(connection);
  try {
    await lock.query(
      'begin; lock table sallyport.context_tasks in access exclusive mode; select pg_advisory_xact_lock(1)',
    );
    const { child, ended } = start({ kind: 'function', steps: 3, large: true, invocationId: 'between' });
    child.stdout?.resume();
    await expect.poll(async () => (await sql(connection, `select pid ${WAIT}`)).length).toBe(2);
    expect(objectNames()).toHaveLength(2);
    child.kill('SIGKILL');
    await ended;
    // As when the machine of the layer is gone: the statements are never committed.
    await sql(connection, `select pg_terminate_backend(pid, 10000) ${WAIT}`);
  } finally {
    await lock.end();
  }
  await sql(connection, 'drop trigger hold on sallyport.checkpoints');
  const store = database.checkpointStore;
  const objects = folderObjectStore(objectsIn(folder));
  const retention = createRetention({ store, archive: store, objects, clock: systemClock, log: silentLog });
  await retention.expire(() => false);
  expect(objectNames()).toHaveLength(2);
  await sql(connection, `update sallyport.state_objects set remove_after = now() where remove_after is not null`);
  await retention.expire(() => false);
  expect(objectNames()).toHaveLength(1);
  const order = { kind: 'function', steps: 3, large: true, invocationId: 'resumed', after: 'between' } as const;
  const reported = [1, 2, 3].map((step) => ({ label: `step ${step}`, times: 1 }));
  const resumed = await run(order, Number.POSITIVE_INFINITY, () =>
    expect.poll(() => sql(connection, REPORTED)).toEqual(reported),
  );
  expect(resumed).toMatchObject({ continuesAt: 1, answer: { status: 'success', result: [0, 1, 2] } });
}, 120_000);
