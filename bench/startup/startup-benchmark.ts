import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PEER, PEER_SERVERS } from '../gateway/peer-servers.ts';
import { jsonCaller } from '../load/callers/json-caller.ts';
import { mcpCaller } from '../load/callers/mcp-caller.ts';
import { ensurePeers } from '../peers/installed.ts';
import { type Memory, memoryOf } from '../processes/process-tree.ts';
import { type TemporaryFolder, temporaryFolder } from '../processes/temporary-folder.ts';
import { type BenchmarkRun, ROUNDS } from '../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';
import { type Started, startServe, startStarter } from './start-layer.ts';

/** Shortest time until a layer is idle: it reads its tools for the search, and lets go of what it read them with. */
const IDLE_MS_MIN = 45_000;

/** What a start showed. */
interface Start {
  readonly ms: number;
  readonly memory?: Memory;
}

type Kind = 'first' | 'later' | 'serve';
type PeerName = typeof PEER.proxy | typeof PEER.hubRest;

const PEERS: readonly PeerName[] = [PEER.proxy, PEER.hubRest];

interface Starts {
  readonly ours: Record<Kind, Start[]>;
  readonly peers: Record<PeerName, Start[]>;
  readonly failures: Map<string, string>;
}

/** From the start of the process to the first answer, and what lies in memory when nobody calls, of the last round. */
export async function runStartup({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  await ensurePeers(report);
  await using folder = await temporaryFolder();
  const starts: Starts = {
    ours: { first: [], later: [], serve: [] },
    peers: { [PEER.proxy]: [], [PEER.hubRest]: [] },
    failures: new Map(),
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    report(`round ${round + 1} of ${ROUNDS}`);
    const idleMs = round === ROUNDS - 1 ? Math.max(seconds * 1000, IDLE_MS_MIN) : undefined;
    await oneRound(folder, round, idleMs, starts);
  }
  for (const [name, failure] of starts.failures) report(`${name} did not start: ${failure}`);
  return figures(starts);
}

async function oneRound(
  folder: TemporaryFolder,
  round: number,
  idleMs: number | undefined,
  starts: Starts,
): Promise<void> {
  const { ours, peers, failures } = starts;
  const place = async (name: string) => {
    const path = join(folder.path, `${round}-${name}`);
    await mkdir(path);
    return path;
  };
  const starter = await place('starter');
  await orNote(failures, 'starter', async () => {
    ours.first.push(await ended(await startStarter(starter)));
    ours.later.push(await ended(await startStarter(starter), idleMs));
  });
  const serve = await place('serve');
  await orNote(failures, 'serve', async () => {
    ours.serve.push(await ended(await startServe(serve), idleMs));
  });
  for (const name of PEERS) {
    const peer = await place(name.replace(' ', '-'));
    await orNote(failures, name, async () => {
      peers[name].push(await ended(await startPeer(name, peer), idleMs));
    });
  }
}

async function startPeer(name: PeerName, folder: string): Promise<Started> {
  const begin = performance.now();
  const contestant = PEER_SERVERS.find(({ names }) => names.includes(name));
  const server = await contestant?.start(folder);
  const target = server?.targets[name];
  if (server === undefined || target === undefined) throw new Error('there is no such peer');
  const caller = await (target.conversation === 'mcp' ? mcpCaller(target) : jsonCaller(target));
  await caller.call(1).finally(caller.close);
  return { process: server.process, ms: performance.now() - begin };
}

/** Looks at its memory after a while of idleness, where asked to, and ends it. */
async function ended({ process: server, ms }: Started, idleMs?: number): Promise<Start> {
  await using running = server;
  if (idleMs === undefined) return { ms };
  await sleep(idleMs);
  return { ms, memory: memoryOf(running.pid) };
}

/** A start that fails takes no other with it; nothing is shown of a name with a failure but the failure. */
async function orNote(failures: Map<string, string>, name: string, start: () => Promise<void>): Promise<void> {
  if (failures.has(name)) return;
  try {
    await start();
  } catch (error) {
    failures.set(name, error instanceof Error ? error.message : String(error));
  }
}

function figures({ ours, peers, failures }: Starts): Figure[] {
  const beside = (figure: Figure, of: (starts: readonly Start[]) => number | undefined): Figure[] => [
    figure,
    ...PEERS.map((name) => {
      const failure = failures.get(name);
      const shown =
        failure === undefined ? name : `${name} (did not start: ${failure.slice(0, REASON_CHARACTERS_MAX)})`;
      return besidePeer({ ...figure, target: null, holds: null }, shown, of(peers[name]));
    }),
  ];
  const first = figureOf('first start to first answer, npm start', 's', seconds(ours.first), { atMost: 3 });
  const idle = figureOf('idle memory, layer and database', 'MB', megabytes(ours.serve), { atMost: 200 });
  return [
    ...beside(first, seconds),
    figureOf('later start to first answer, npm start', 's', seconds(ours.later), { atMost: 1 }),
    figureOf('first start to healthy, serve alone', 's', seconds(ours.serve)),
    ...beside(idle, megabytes),
    figureOf(
      'idle memory, shares counted in each process',
      'MB',
      median(ours.serve.flatMap(({ memory }) => (memory === undefined ? [] : [memory.rss]))),
    ),
    figureOf('idle memory, npm start with its MCP server', 'MB', megabytes(ours.later)),
  ];
}

const REASON_CHARACTERS_MAX = 160;

function seconds(starts: readonly Start[]): number | undefined {
  const ms = median(starts.map((start) => start.ms));
  return ms === undefined ? undefined : ms / 1000;
}

/** What processes share counted once, where the system shows it. */
function megabytes(starts: readonly Start[]): number | undefined {
  return median(starts.flatMap(({ memory }) => (memory === undefined ? [] : [memory.pss ?? memory.rss])));
}
