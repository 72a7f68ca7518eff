import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createDatabaseServer,
  type DatabaseServer,
} from '../../../packages/sallyport/src/storage/postgres/embedded/database-server.fixture.ts';
import {
  clientOf,
  run as sql,
  urlOf,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import type { ChangingOrder } from './changing-layer.ts';

const PROGRAM = fileURLToPath(new URL('changing-layer.ts', import.meta.url));
const WAITING = { timeout: 50_000 };

let folder: string;
let server: DatabaseServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'killed-changes-'));
  server = await createDatabaseServer(folder);
  await server.start();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts one process. Resolves once it is ready, to the number of changes that it will make. */
async function start(layer: string, changing?: string) {
  const order: ChangingOrder = {
    settings: {
      data_folder: join(folder, layer),
      'database.url': urlOf(server.connection),
      'search.embedder': 'none',
      'context.embedded': 'off',
      'agent.mounts': ['.:ro', `${folder}:rw`],
    },
    ...(changing === undefined ? {} : { folder: changing }),
  };
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const { promise: ready, resolve } = Promise.withResolvers<number>();
  const refused: string[] = [];
  const lines = child.stdout === null ? undefined : createInterface({ input: child.stdout });
  lines?.on('line', (line) => {
    if (line.startsWith('ready ')) resolve(Number(line.slice('ready '.length)));
    else refused.push(line);
  });
  void ended.then(() => resolve(0));
  return { child, ended, refused, changes: await ready };
}

/** Events of changes whose audit this test is about, by what they say. */
const EVENTS = `
select event ->> 'id' as id, concat_ws(' ', event ->> 'type', event #>> '{data,change}', event #>> '{data,what}') as said,
  event #>> '{data,recorded_at}' is not null as late
from (select json_build_object('id', each ->> 'id', 'type', each ->> 'type', 'data',
    (events -> 'shared' -> 'data')::jsonb || coalesce(each -> 'data', '{}')::jsonb) as event
  from sallyport.audit_events, json_array_elements(events -> 'each') as each) as all_events`;

interface Said {
  readonly id: string;
  readonly said: string;
  readonly late: boolean;
}
const eventsSaid = async () => (await sql(server.connection, EVENTS)) as readonly Said[];
const kept = () => sql(server.connection, 'select event_id from sallyport.unrecorded_events');

/** What is to be recorded once each. */
const RECORDED = [
  'ai.agent.approval.delegated ended',
  'ai.agent.approval.delegated made',
  'ai.agent.approval.rule_made',
  'ai.agent.approval.rule_revoked',
  'ai.agent.identity.changed api-key-created',
  'ai.agent.identity.changed api-key-revoked',
  'ai.agent.identity.changed revocation-lifted',
  'ai.agent.identity.changed token-revoked',
  'ai.agent.registry.changed activation-removed',
  'ai.agent.registry.changed activation-set',
  'ai.agent.registry.changed availability-set',
  'ai.agent.registry.changed tools-accepted',
  'ai.agent.registry.changed tools-rejected',
  'ai.agent.registry.changed upstream-added',
  'ai.agent.registry.changed upstream-enabled',
  'ai.agent.registry.changed upstream-removed',
  'ai.agent.registry.changed view-put',
  'ai.agent.registry.changed view-removed',
  'ai.agent.tool.outcome_settled',
  'ai.agent.tool.side_effect.completed',
];

test('AUD-07.5 a layer that is killed between its changes and their events tells each of them once after its start', async () => {
  const mounted = join(folder, 'server');
  mkdirSync(mounted);
  const { child, ended, refused, changes } = await start('one', mounted);
  expect(changes).toBe(RECORDED.length - 1);
  let before = new Set<string>();
  // Nothing enters the audit while the test has this lock; everything else is written.
  const lock = await clientOf(server.connection);
  try {
    await lock.query('begin; lock table sallyport.audit_events in exclusive mode');
    before = new Set((await eventsSaid()).map(({ id }) => id));
    child.stdin?.write('go\n');
    await expect.poll(async () => refused.length > 0 || (await kept()).length, WAITING).toBe(RECORDED.length);
    child.kill('SIGKILL');
    await ended;
    // As when the machine of the layer is gone: the statements are never committed.
    const waits = `from pg_stat_activity where wait_event_type = 'Lock'`;
    await sql(server.connection, `select pg_terminate_backend(pid, 10000) ${waits}`);
  } finally {
    await lock.end();
  }
  expect(refused).toEqual([]);
  expect((await eventsSaid()).filter(({ id }) => !before.has(id))).toEqual([]);

  // As after a minute: until then the events are left to their own instance.
  await sql(server.connection, `update sallyport.unrecorded_events set kept_at = kept_at - interval '2 minutes'`);
  const next = await Promise.all(['one', 'two'].map((layer) => start(layer)));
  await expect.poll(kept, WAITING).toEqual([]);
  for (const layer of next) layer.child.stdin?.end();
  await Promise.all(next.map((layer) => layer.ended));
  const recorded = (await eventsSaid()).filter(({ id, late }) => late && !before.has(id));
  expect(recorded.map(({ said }) => said).toSorted()).toEqual(RECORDED);
  expect(new Set(recorded.map(({ id }) => id)).size).toBe(RECORDED.length);
  const others = (await eventsSaid()).filter(({ id, late }) => !late && !before.has(id)).map(({ said }) => said);
  expect(others.filter((said) => RECORDED.includes(said))).toEqual([]);
}, 240_000);
