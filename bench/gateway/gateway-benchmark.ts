import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startLoadGenerator } from '../load/load-generator.ts';
import { ensurePeers } from '../peers/installed.ts';
import { temporaryFolder } from '../processes/temporary-folder.ts';
import type { BenchmarkRun } from '../report/benchmark.ts';
import type { Figure } from '../report/figure.ts';
import { gatewayFigures } from './gateway-figures.ts';
import { OUR_CONTESTANT } from './our-contestant.ts';
import { PEER_SERVERS } from './peer-servers.ts';
import { type Outcome, runRounds, type Subject } from './rounds.ts';
import type { Contestant } from './subject.ts';

/** tools/call and REST invoke of a trivial tool, beside other servers with the same tool. */
export async function runGateway({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  await ensurePeers(report);
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder());
  const generator = opened.use(startLoadGenerator());
  const subjects: Subject[] = [];
  const failures = new Map<string, Outcome>();
  for (const [index, contestant] of [OUR_CONTESTANT, ...PEER_SERVERS].entries()) {
    report(`starting ${contestant.names[0]}`);
    const place = join(folder.path, String(index));
    await mkdir(place);
    await take(contestant, place, opened, subjects, failures, report);
  }
  const outcomes = await runRounds(generator, subjects, seconds, report);
  const all = new Map([...failures, ...outcomes]);
  for (const [name, outcome] of all) if ('failure' in outcome) report(`${name} ${outcome.failure}`);
  return gatewayFigures(all);
}

async function take(
  contestant: Contestant,
  folder: string,
  opened: AsyncDisposableStack,
  subjects: Subject[],
  failures: Map<string, Outcome>,
  report: (line: string) => void,
): Promise<void> {
  try {
    const { process: server, targets } = await contestant.start(folder);
    opened.use(server);
    const { pid } = server;
    for (const [name, target] of Object.entries(targets)) subjects.push({ name, target, pid });
  } catch (error) {
    const failure = `did not start: ${error instanceof Error ? error.message : String(error)}`;
    report(`${contestant.names[0]} ${failure}`);
    for (const name of contestant.names) failures.set(name, { failure });
  }
}
