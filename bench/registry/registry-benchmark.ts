import { join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import { compareManifests } from '../../packages/sallyport/src/registry/compare-manifests.ts';
import { startEmbeddedPostgres } from '../../packages/sallyport/src/storage/postgres/embedded-postgres.ts';
import { openPostgres } from '../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';
import { memoryToolStore } from '../../packages/sallyport/test/stores/memory-tool-store.ts';
import { temporaryFolder } from '../processes/temporary-folder.ts';
import { type BenchmarkRun, ROUNDS } from '../report/benchmark.ts';
import { type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';
import { heapMb } from './heap.ts';
import { findNs, LISTS, type ListName, listP99Ms } from './measure-lists.ts';
import { type RegistrationRound, registrationRound } from './measure-registration.ts';
import { filledRegistry, TENANT } from './open-registry.ts';
import { toolOf } from './tools.ts';

const MANY = 100_000;
const LIST_NAMES = Object.keys(LISTS) as ListName[];

/** Registrations into both storages, and lists over a hundred thousand tools. */
export async function runRegistry({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  const ms = (seconds * 1000) / ROUNDS;
  const lists = await measureLists(ms, report);
  const memory: RegistrationRound[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    report(`in memory, round ${round + 1} of ${ROUNDS}`);
    memory.push(await registrationRound(memoryToolStore()));
  }
  const postgres = await measurePostgres(report);
  return [...registrationFigures('in memory', memory), ...registrationFigures('in PostgreSQL', postgres), ...lists];
}

async function measurePostgres(report: (line: string) => void): Promise<readonly RegistrationRound[]> {
  const rounds: RegistrationRound[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    report(`in PostgreSQL, round ${round + 1} of ${ROUNDS}`);
    await using folder = await temporaryFolder();
    await using server = await startEmbeddedPostgres({ dataFolder: join(folder.path, 'postgres'), log: silentLog });
    await using database = await openPostgres({ connection: server.connection, log: silentLog });
    rounds.push(await registrationRound(database.toolStore));
  }
  return rounds;
}

function registrationFigures(where: string, rounds: readonly RegistrationRound[]): Figure[] {
  const of = (member: keyof RegistrationRound) => median(rounds.map((round) => round[member]));
  return [
    figureOf(`register 10 000 tools together, ${where}`, 's', of('firstS'), { atMost: 30 }),
    figureOf(`register a second version of each, compared with the first, ${where}`, 's', of('secondS'), {
      atMost: 30,
    }),
    figureOf(`register them again, unchanged, ${where}`, 's', of('againS')),
    figureOf(`register one among 10 000, p50, ${where}`, 'ms', of('aloneMs')),
    figureOf(`read 20 000 versions at the start, ${where}`, 's', of('loadS')),
  ];
}

async function measureLists(ms: number, report: (line: string) => void): Promise<readonly Figure[]> {
  report('a hundred thousand tools');
  const empty = heapMb();
  const registry = await filledRegistry(MANY);
  const filled = heapMb();
  registry.list(TENANT, {}, { page: 1, pageSize: 1 });
  const indexed = heapMb();
  const p99 = new Map(LIST_NAMES.map((name) => [name, [] as number[]]));
  const looked: { find: number; use: number }[] = [];
  const ids = Array.from({ length: 1000 }, (_, at) => toolOf(at * 97).tool_id);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of LIST_NAMES) p99.get(name)?.push(listP99Ms(registry, name, ms));
    looked.push(findNs(registry, ids, ms));
  }
  const changed: number[] = [];
  for (let at = 0; at < 100; at += 1) changed.push(await listAfterChangeMs(registry, MANY + at));
  const words: ListName = 'by words';
  return [
    ...LIST_NAMES.map((name) =>
      figureOf(
        `list of 100 000, p99, ${name}`,
        'ms',
        median(p99.get(name) ?? []),
        name === words ? undefined : { atMost: 5 },
      ),
    ),
    figureOf('list of 100 000 after a change, the slowest of 100', 'ms', Math.max(...changed), { atMost: 5 }),
    figureOf('memory of 1 000 tools, manifests included', 'MB', (filled - empty) / (MANY / 1000)),
    figureOf('memory of the index over 1 000 tools', 'MB', (indexed - filled) / (MANY / 1000)),
    figureOf('find by range', 'ns', median(looked.map(({ find }) => find))),
    figureOf('note a use', 'ns', median(looked.map(({ use }) => use))),
    figureOf('compare two manifests', 'us', compareUs(ms)),
  ];
}

type FilledRegistry = Awaited<ReturnType<typeof filledRegistry>>;

async function listAfterChangeMs(registry: FilledRegistry, at: number): Promise<number> {
  await registry.register(TENANT, toolOf(at));
  const started = systemClock.monotonic();
  registry.list(TENANT, { category: 'computation' }, { page: 1, pageSize: 50 });
  return systemClock.monotonic() - started;
}

function compareUs(ms: number): number {
  const [from, to] = [toolOf(1), toolOf(1, '1.1.0')];
  const started = performance.now();
  let count = 0;
  while (performance.now() - started < ms) {
    compareManifests(from, to);
    count += 1;
  }
  return ((performance.now() - started) * 1000) / count;
}
