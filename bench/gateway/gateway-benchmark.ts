import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensurePeers } from '../peers/installed.ts';
import { temporaryFolder } from '../processes/temporary-folder.ts';
import type { BenchmarkRun } from '../report/benchmark.ts';
import type { Figure } from '../report/figure.ts';
import { enduranceFigures } from './endurance.ts';
import { gatewayFigures } from './gateway-figures.ts';
import { OUR_CONTESTANT } from './our-contestant.ts';
import { PEER_SERVERS } from './peer-servers.ts';
import { type Outcome, runRounds, type Subject } from './rounds.ts';
import type { Contestant, RunningServer } from './subject.ts';

/** tools/call and REST invoke of a trivial tool, beside other servers with the same tool; then many calls and streams. */
export async function runGateway({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  await ensurePeers(report);
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder());
  const failures = new Map<string, Outcome>();
  const servers = new Map<Contestant, RunningServer>();
  for (const [index, contestant] of [OUR_CONTESTANT, ...PEER_SERVERS].entries()) {
    report(`starting ${contestant.names[0]}`);
    const place = join(folder.path, String(index));
    await mkdir(place);
    try {
      const server = await contestant.start(place);
      opened.use(server.process);
      servers.set(contestant, server);
    } catch (error) {
      const failure = `did not start: ${error instanceof Error ? error.message : String(error)}`;
      for (const name of contestant.names) failures.set(name, { failure });
    }
  }
  const outcomes = await runRounds([...servers.values()].flatMap(subjectsOf), seconds, report);
  const all = new Map([...failures, ...outcomes]);
  for (const [name, outcome] of all) if ('failure' in outcome) report(`${name} ${outcome.failure}`);
  return [...gatewayFigures(all), ...(await enduranceFigures(servers.get(OUR_CONTESTANT), report))];
}

const subjectsOf = ({ process: { pid }, targets, own }: RunningServer): Subject[] =>
  Object.entries({ ...targets, ...own }).map(([name, calls]) => ({ name, calls, pid }));
