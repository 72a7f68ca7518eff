import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import { Client } from 'pg';
import { type Checkpoints, createCheckpoints } from '../../packages/sallyport/src/bridges/checkpoints.ts';
import { CHECKPOINT_DEFAULTS, noListener } from '../../packages/sallyport/src/bridges/run/runs.fixture.ts';
import { folderObjectStore } from '../../packages/sallyport/src/storage/folder/folder-object-store.ts';
import { createDatabaseServer } from '../../packages/sallyport/src/storage/postgres/embedded/database-server.fixture.ts';
import {
  openPostgres,
  type PostgresDatabase,
} from '../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import { urlOf } from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';
import { temporaryFolder } from '../processes/temporary-folder.ts';
import { type BenchmarkRun, ROUNDS } from '../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';
import { longestHold } from './longest-hold.ts';

const OWNER = { tenantId: 'acme', agentDid: 'did:example:a' };
/** Items of the two states: 35 KB and 10 MB of JSON. */
const ITEMS = { small: 620, large: 176_000 };
const CHAIN = 20;
const SAVES_PER_SECOND = 100;

/** One in a hundred is another from step to step. */
const stateOf = (count: number, step: number) => ({
  step,
  items: Array.from({ length: count }, (_, at) => ({
    at,
    name: `item ${(at * 7919) % 100_003}`,
    done: at % 100 === step % 100,
    step: at % 100 === 0 ? step : 0,
  })),
});

/** Micro checkpoints beside the plain row, a large state, and the restore of a chain. */
export async function runCheckpoints({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder());
  const server = opened.adopt(await createDatabaseServer(folder.path), ({ stop }) => stop());
  await server.start();
  const database = opened.use(await openPostgres({ connection: { url: urlOf(server.connection) }, log: silentLog }));
  const client = opened.adopt(new Client(urlOf(server.connection)), (one) => one.end());
  await client.connect();
  await client.query('create table plain_rows (id text primary key, state bytea not null)');
  const store = database.checkpointStore;
  const checkpoints = createCheckpoints({
    store,
    archive: store,
    objects: folderObjectStore(join(folder.path, 'objects')),
    clock: systemClock,
    log: silentLog,
    settings: CHECKPOINT_DEFAULTS,
    listener: noListener,
  });
  report('micro checkpoints of 35 KB');
  const micro = await microFigures(checkpoints, database, client, Math.ceil((seconds * SAVES_PER_SECOND) / ROUNDS));
  report('a state of 10 MB');
  const large = await largeFigures(checkpoints);
  report(`a chain of ${CHAIN} differences`);
  return [...micro, ...large, ...(await chainFigures(checkpoints))];
}

const runOf = (checkpoints: Checkpoints) =>
  checkpoints
    .ofRun({ invocationId: randomUUID(), owner: OWNER, toolId: 'work', toolVersion: '1.0.0', onSaved: () => {} })
    .ofAttempt();

async function microFigures(
  checkpoints: Checkpoints,
  { checkpointStore }: PostgresDatabase,
  client: Client,
  saves: number,
): Promise<readonly Figure[]> {
  const [ours, plain, shares]: [number[], number[], number[]] = [[], [], []];
  const states = Array.from({ length: saves }, (_, step) => stateOf(ITEMS.small, step));
  const row = { name: 'plain-row', text: 'insert into plain_rows values ($1, $2)' };
  for (let round = 0; round < ROUNDS; round += 1) {
    const { save } = runOf(checkpoints);
    await save(stateOf(ITEMS.small, -1));
    for (const state of states) {
      const bytes = Buffer.from(JSON.stringify(state));
      plain.push(await msOf(() => client.query({ ...row, values: [randomUUID(), bytes] })));
      let saved = '';
      ours.push(
        await msOf(async () => {
          saved = (await save(state)).checkpointId;
        }),
      );
      const stored = await checkpointStore.find(OWNER.tenantId, saved);
      if (stored?.packed?.form === 'delta' && 'bytes' in stored.packed)
        shares.push((100 * stored.packed.bytes.length) / bytes.length);
    }
  }
  const plainMs = median(plain);
  return [
    figureOf('micro checkpoint of 35 KB with 1 % changed, on the wire', '%', median(shares), { atMost: 2 }),
    besidePeer(
      figureOf('the same, saved, p50', 'ms', median(ours), { atMost: 2 * (plainMs ?? 0) }),
      'the plain row alone',
      plainMs,
    ),
  ];
}

async function largeFigures(checkpoints: Checkpoints): Promise<readonly Figure[]> {
  const holds: { whole: number[]; difference: number[]; restore: number[] } = {
    whole: [],
    difference: [],
    restore: [],
  };
  // Made once: the collection of such garbage holds the event loop too.
  const [first, second] = [stateOf(ITEMS.large, 1), stateOf(ITEMS.large, 2)];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { save } = runOf(checkpoints);
    holds.whole.push(await longestHold(() => save(first)));
    let checkpointId = '';
    holds.difference.push(
      await longestHold(async () => {
        ({ checkpointId } = await save(second));
      }),
    );
    holds.restore.push(await longestHold(() => checkpoints.read(OWNER.tenantId, checkpointId)));
  }
  return Object.entries(holds).map(([what, values]) =>
    figureOf(`state of 10 MB, longest hold of the event loop, ${what}`, 'ms', median(values), { atMost: 10 }),
  );
}

async function chainFigures(checkpoints: Checkpoints): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [what, count] of [
    ['35 KB', ITEMS.small],
    ['1 MB', ITEMS.small * 28],
  ] as const) {
    const { save } = runOf(checkpoints);
    const ids: string[] = [];
    for (let step = 0; step <= CHAIN; step += 1) ids.push((await save(stateOf(count, step))).checkpointId);
    const read = (id = ''): Promise<number> => msOf(() => checkpoints.read(OWNER.tenantId, id));
    const [whole, chain]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS * 10; round += 1) {
      whole.push(await read(ids[0]));
      chain.push(await read(ids[CHAIN]));
    }
    const wholeMs = median(whole);
    const bound = count === ITEMS.small ? { atMost: 3 * (wholeMs ?? 0) } : undefined;
    const restored = figureOf(`restore of ${CHAIN} differences of ${what}, p50`, 'ms', median(chain), bound);
    figures.push(besidePeer(restored, 'the whole state', wholeMs));
  }
  return figures;
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
