import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Settings } from '../../../packages/sallyport/src/index.ts';
import type { SocketConnection } from '../../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import { clientOf } from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import type { Chance } from './chance.ts';
import { type CallStory, makeCall, storyOf } from './clients.ts';
import { createLayerStarter, type LayerProcess, type LayerReady } from './layer-process.ts';
import type { LayerProgram } from './layer-program.ts';
import { CLIENTS, contentBefore, fileOf, type Places, type PlannedCall, planCalls } from './plan.ts';
import { leftovers, listedOutcomes, settleOutcome, unknownOutcomes } from './settled-outcomes.ts';
import { createTarget, type Target } from './target.ts';
import { faultsOf } from './verdict.ts';

/** Calls that one client makes at the same time. */
const LANES = 3;
/** Longest time after the last kill in which no call ends although some are open, in ms. */
const DRAIN_MS = 60_000;
const POLL_MS = 100;

/** The clients' work during the kills, and its outcome. Disposal stops the last layer too. */
export interface Trial extends AsyncDisposable {
  /** Where clients find the layer that is killed. */
  readonly target: ReturnType<typeof createTarget>;
  /** Starts the next process of the layer that is killed. */
  start(): LayerProcess;
  /** Starts a second instance, which is not killed; half of all tries go there. */
  startPeer(): Promise<void>;
  /** Lets the clients make the calls of the next slice. */
  release(): void;
  /** Resolves when a client sends its next decision on an approval. */
  nextDecision(): Promise<void>;
  /** Resolves when every call has ended for its client. Rejects when the calls make no progress for too long. */
  drain(): Promise<void>;
  /** Checks the outcome of every call. */
  judge(ready: LayerReady, database: SocketConnection): Promise<Judgement>;
  /** The last log lines of the layers. */
  readonly lines: readonly string[];
}

/** The result of the checks: what is wrong, and how many calls there were. */
interface Judgement {
  readonly faults: readonly string[];
  readonly keys: number;
}

/** Opens a trial with an empty data folder. No layer is started yet. */
export function openTrial(
  program: LayerProgram,
  chance: Chance,
  slices: number,
  more: Partial<Settings>,
  withShell: boolean,
): Trial {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-kill-')));
  const own = join(folder, 'places');
  const places: Places = { effects: join(own, 'effects'), files: join(own, 'files') };
  mkdirSync(places.files, { recursive: true });
  writeFileSync(places.effects, '');
  const plan = planCalls(chance, slices, places, withShell);
  for (const call of plan.flat()) {
    if (call.toolId === 'keep_file') writeFileSync(fileOf(places, call), contentBefore(call.key));
  }
  const settings: Partial<Settings> = {
    data_folder: join(folder, 'layer'),
    'agent.mounts': [`${folder}:rw`],
    'search.embedder': 'none',
    'notifiers.enabled': [],
    'calls.per_agent_max': 16,
    'approvals.sweep_seconds': 0.25,
    'audit.checkpoint_seconds': 0.5,
    ...more,
  };
  const starter = createLayerStarter({ settings, places, folder: own }, program);
  const starters = [starter];
  const target = createTarget();
  const targets = [target];
  const { stories, release, drain, nextDecision } = startClients(plan, targets);
  let layer: LayerProcess | undefined;
  let peer: LayerProcess | undefined;
  return {
    target,
    start() {
      layer = starter.start();
      return layer;
    },
    async startPeer() {
      const data_folder = join(folder, 'peer');
      // Instances of one layer sign with the same keys.
      cpSync(join(folder, 'layer', 'keys'), join(data_folder, 'keys'), { recursive: true });
      const beside = createLayerStarter({ settings: { ...settings, data_folder }, places, folder: own }, program);
      starters.push(beside);
      peer = beside.start();
      const other = createTarget();
      other.is(await peer.ready);
      targets.push(other);
    },
    release,
    nextDecision,
    drain,
    judge: (ready, database) => judge(stories, places, ready, database),
    get lines() {
      return starters.flatMap(({ lines }) => lines);
    },
    async [Symbol.asyncDispose]() {
      // Clients that have not finished find no layer from now on, and wait.
      for (const each of targets) each.gone();
      await Promise.all([layer?.stop(), peer?.stop()]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function startClients(plan: readonly (readonly PlannedCall[])[], targets: readonly Target[]) {
  const stories: CallStory[] = [];
  const open = new Set<CallStory>();
  const waiting = Array.from({ length: CLIENTS }, (): PlannedCall[] => []);
  const pending = new Set<Promise<void>>();
  let decision = Promise.withResolvers<void>();
  let released = 0;
  const onDecision = (): void => {
    decision.resolve();
    decision = Promise.withResolvers<void>();
  };
  const busy = Array.from({ length: CLIENTS }, () => 0);
  const next = (client: number): void => {
    while ((busy[client] ?? 0) < LANES) {
      const call = waiting[client]?.shift();
      if (call === undefined) return;
      busy[client] = (busy[client] ?? 0) + 1;
      const asked = Array.from({ length: call.twice ? 2 : 1 }, async (_, at) => {
        const story = storyOf(call);
        open.add(story);
        await makeCall(story, targets, client + at, onDecision);
        open.delete(story);
        stories.push(story);
      });
      const done = Promise.all(asked).then(() => {
        busy[client] = (busy[client] ?? 0) - 1;
        next(client);
      });
      pending.add(done);
      void done.finally(() => pending.delete(done));
    }
  };
  return {
    stories,
    nextDecision: () => decision.promise,
    release(): void {
      for (const call of plan[released] ?? []) waiting[call.client]?.push(call);
      released += 1;
      for (let client = 0; client < CLIENTS; client += 1) next(client);
    },
    async drain(): Promise<void> {
      while (pending.size > 0) {
        const late = sleep(DRAIN_MS, 'late' as const, { ref: false });
        if ((await Promise.race([...pending, late])) !== 'late') continue;
        const stuck = JSON.stringify([...open].slice(0, 10));
        throw new Error(
          `at ${performance.now()} ms no call had ended for ${DRAIN_MS} ms, and these have no end: ${stuck}`,
        );
      }
    },
  };
}

async function judge(
  stories: readonly CallStory[],
  places: Places,
  ready: LayerReady,
  connection: SocketConnection,
): Promise<Judgement> {
  const database = await clientOf(connection);
  try {
    const faults = [...(await restOf(database)), ...(await faultsOf({ stories, places, ready }))];
    const unknown = await unknownOutcomes(database);
    const listed = await listedOutcomes(ready);
    if (JSON.stringify(unknown) !== JSON.stringify(listed)) faults.push(`unknown are ${unknown}, listed are ${listed}`);
    for (const id of listed) {
      const http = await settleOutcome(ready, id, 'did_not_happen');
      if (http !== 200) faults.push(`${id} cannot be settled: ${http}`);
    }
    const left = await listedOutcomes(ready);
    if (left.length > 0) faults.push(`these are listed after they were settled: ${left}`);
    return { faults, keys: new Set(stories.map(({ call }) => call.key)).size };
  } finally {
    await database.end();
  }
}

/** What is left to be done after the layer had time to do it. */
async function restOf(database: Client): Promise<readonly string[]> {
  const deadline = performance.now() + DRAIN_MS / 2;
  for (;;) {
    const left = await leftovers(database);
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(POLL_MS);
  }
}
