import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { MiB } from '@sallyport/std/bytes';
import { SUITE } from '../suite.fixture.ts';
import type { Scenario } from './layer-as-client.ts';

const COMMAND = fileURLToPath(new URL('scenario-command.mjs', import.meta.url));
/** For the scenarios of one revision, which the suite runs at once, on a machine with other work. */
const SCENARIO_MS = 300_000;

/** Passed and failed checks of a scenario. */
export interface Verdict {
  readonly passed: number;
  readonly failed: number;
}

/** How a run of the suite ended. */
export interface ClientRun {
  readonly exitCode: number;
  readonly output: string;
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Errors that the layer ended scenarios with. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Runs client scenarios of the suite. @param which its arguments that choose them @param play is the client */
export async function runClientSuite(
  which: readonly string[],
  play: (scenario: Scenario) => Promise<void>,
): Promise<ClientRun> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await mkdtemp(join(tmpdir(), 'sallyport-suite-')), (path) =>
    rm(path, { recursive: true }),
  );
  const failures = new Map<string, string>();
  const socket = join(folder, 'scenarios');
  // One after the other: some scenarios measure times, and all of them share this machine.
  let before: Promise<unknown> = Promise.resolve();
  const server = createServer({ allowHalfOpen: true }, async (connection) => {
    const scenario = JSON.parse(await text(connection)) as Scenario;
    const played = before.then(() => play(scenario));
    before = played.catch(() => undefined);
    const failure = await played.then(() => '', String);
    if (failure !== '') failures.set(scenario.name, failure);
    connection.end(failure);
  }).listen(socket);
  opened.defer(() => void server.close());
  await once(server, 'listening');
  const args = ['client', '--command', `${process.execPath} ${COMMAND}`, ...which];
  const child = execFile(process.execPath, [SUITE, ...args, '--timeout', String(SCENARIO_MS), '-o', folder], {
    cwd: folder,
    env: { ...process.env, SALLYPORT_SCENARIO_SOCKET: socket },
    maxBuffer: 64 * MiB,
  });
  const [output, [exitCode]] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, 'exit')]);
  return { exitCode: exitCode as number, output, verdicts: verdictsIn(output), failures };
}

/** Lines such as `✓ auth/basic-cimd: 16 passed, 0 failed`. */
function verdictsIn(output: string): ReadonlyMap<string, Verdict> {
  const lines = output.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gmu);
  return new Map(
    [...lines].map(([, name, passed, failed]) => [name as string, { passed: Number(passed), failed: Number(failed) }]),
  );
}
