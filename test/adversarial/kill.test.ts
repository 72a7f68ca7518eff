import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import {
  createDatabaseServer,
  type DatabaseServer,
} from '../../packages/sallyport/src/storage/postgres/embedded/database-server.fixture.ts';
import type { SocketConnection } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import { urlOf } from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type Chance, chanceOf, chosenSeed, SEED_VARIABLE } from './kill/chance.ts';
import { type KillPoint, killPoints, momentOf } from './kill/kill-points.ts';
import type { LayerProcess, LayerReady } from './kill/layer-process.ts';
import { type LayerProgram, makeLayerProgram } from './kill/layer-program.ts';
import { askOnce } from './kill/target.ts';
import { openTrial, type Trial } from './kill/trial.ts';

const TEST_MS = 300_000;
/** The layer is killed too at one of so many kills of the database. */
const LAYER_TOO_EVERY = 5;
const seed = chosenSeed();
const { works: withShell } = await createBubblewrapDriver().probe();

let program: LayerProgram;
beforeAll(async () => {
  program = await makeLayerProgram();
});
afterAll(() => program[Symbol.dispose]());

function onFailure(trial: Trial): void {
  onTestFailed(() => {
    const lines = trial.lines.join('\n');
    process.stderr.write(`The same again: ${SEED_VARIABLE}=${seed}\nThe layer said last:\n${lines}\n`);
  });
}

test(
  'ORC-06.3 ORC-06.4 AUD-07.2 PIPE-03.7 PIPE-09.3 PIPE-13.1 PIPE-13.3 PIPE-07.6 a layer that is killed 14 times loses no answer and repeats nothing that must not be',
  async () => {
    const chance = chanceOf(seed);
    const points = killPoints(chance);
    await using trial = openTrial(program, chance, points.length + 1, {}, withShell);
    onFailure(trial);
    const { embeddedDatabase, ...ready } = await killLayers(trial, points, chance);
    await trial.drain();
    if (embeddedDatabase === undefined) throw new Error('the layer does not say where its database is');
    await expectAllWell(trial, ready, embeddedDatabase);
  },
  TEST_MS,
);

test(
  'ORC-06.3 ORC-06.4 PIPE-03.7 PIPE-09.3 PIPE-13.1 PIPE-13.3 a layer whose PostgreSQL is killed 14 times goes on, and keeps the same promises',
  async () => {
    const chance = chanceOf(seed);
    const points = killPoints(chance).map((point) => (point === 'recovery' ? 'any' : point));
    await using own = await ownDatabase();
    const { server } = own;
    const settings = { 'database.url': urlOf(server.connection), 'workers.lease_seconds': 2 };
    await using trial = openTrial(program, chance, points.length + 1, settings, withShell);
    onFailure(trial);
    const ready = await killDatabases(trial, server, points, chance);
    await trial.drain();
    await expectAllWell(trial, ready, server.connection);
  },
  TEST_MS,
);

/** Kills the layer at each point and starts it again; in the last process the clients finish all their calls. */
async function killLayers(trial: Trial, points: readonly KillPoint[], chance: Chance): Promise<LayerReady> {
  const met = new Set<KillPoint>();
  let layer = trial.start();
  for (const point of points) {
    if (point !== 'recovery') trial.target.is(await layer.ready);
    trial.release();
    if (await momentOf(point, { layer, nextDecision: trial.nextDecision }, chance)) met.add(point);
    trial.target.gone();
    await layer.kill();
    layer = trial.start();
  }
  expect(met).toEqual(new Set(points));
  return last(trial, layer);
}

/** Kills the database at each point and starts it again; at some points the layer too. */
async function killDatabases(
  trial: Trial,
  server: DatabaseServer,
  points: readonly KillPoint[],
  chance: Chance,
): Promise<LayerReady> {
  const met = new Set<KillPoint>();
  let layer = trial.start();
  await layer.ready;
  await trial.startPeer();
  for (const [count, point] of points.entries()) {
    trial.target.is(await layer.ready);
    trial.release();
    if (await momentOf(point, { layer, nextDecision: trial.nextDecision }, chance)) met.add(point);
    const both = count % LAYER_TOO_EVERY === LAYER_TOO_EVERY - 1;
    if (both) trial.target.gone();
    await Promise.all([server.kill(), ...(both ? [layer.kill()] : [])]);
    await server.start();
    if (both) layer = trial.start();
  }
  expect(met).toEqual(new Set(points));
  return last(trial, layer);
}

async function last(trial: Trial, layer: LayerProcess): Promise<LayerReady> {
  const ready = await layer.ready;
  trial.target.is(ready);
  trial.release();
  return ready;
}

async function expectAllWell(trial: Trial, ready: LayerReady, connection: SocketConnection): Promise<void> {
  const { faults, keys } = await trial.judge(ready, connection);
  const audit = await askOnce(ready, ready.operator, 'GET', '/v1/audit/verification');
  // The whole verification, so that a failure shows the broken link of the chain.
  expect(faults, JSON.stringify(audit)).toEqual([]);
  expect(keys).toBeGreaterThanOrEqual(300);
  expect(audit?.body, JSON.stringify(audit)).toMatchObject({ whole: true });
}

/** A PostgreSQL server in a folder of its own. */
async function ownDatabase() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kill-db-')));
  const server = await createDatabaseServer(folder);
  await server.start();
  return {
    server,
    async [Symbol.asyncDispose]() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
