import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@sallyport/std/error/message-of';
import { codeOf } from '@sallyport/std/error-code';
import type { Log } from '../../../telemetry/log.ts';
import { hasEnded } from './processes.ts';
import { identity, type RunAs } from './run-as.ts';
import { startError, USE_A_SERVER } from './start-problem.ts';

/** The database with the layer's schema. */
export const DATABASE = 'postgres';

/** A running server. */
export interface ServerProcess {
  readonly pid: number;
  /** Resolves when it is gone, with its exit reason. Never rejects. */
  readonly ended: Promise<string>;
  /** Ends its sessions, writes a checkpoint and waits until it is gone. Idempotent. */
  stop(): Promise<void>;
}

/** Command line and environment of a server. */
export interface ServerCommand {
  readonly postgres: string;
  readonly args: readonly string[];
  readonly clusterFolder: string;
  readonly runAs: RunAs;
  /**
   * True when the process-id file names a living process that is no server of this folder; it is removed once the lock
   * is held.
   */
  readonly pidFileIsVoid: boolean;
  /** Longest time until it accepts connections, with recovery after a crash, ms. */
  readonly startTimeoutMs: number;
  readonly log: Log;
  /** Called when the server has been started and only waiting is left. */
  readonly onWaiting: () => void;
}

/**
 * The shell becomes the server, and leaves a watcher that blocks on descriptor 3, a pipe from the layer. A word on the
 * pipe means that the server is gone; its end without a word means that the layer is gone, and then the watcher stops
 * the server. The watcher is no child of the server, which would take the end of an unknown child for a crash. Every
 * process of the server inherits the lock on the data folder, so that none of them can be overlooked.
 */
const EXIT_LOCKED = 97;
const SCRIPT = `
folder=$1 void=$2; shift 2
if command -v flock >/dev/null 2>&1; then
  exec 9<"$folder" && flock -n 9 || exit ${EXIT_LOCKED}
fi
if [ -n "$void" ]; then rm -f "$folder/postmaster.pid"; fi
((read -r gone <&3 || kill -INT $$) >/dev/null 2>&1 9<&- &)
exec "$@" 3<&-
`;

const READY_POLL_MS = 5;
const FAST_STOP_MS = 30_000;
const IMMEDIATE_STOP_MS = 5_000;
/** Last lines of the server's log, kept to explain a failed start. */
const LINES_MAX = 20;

/** Thrown when a start failed because processes of an earlier server still exist; the start may be retried. */
export class ServerStillEnding extends Error {
  override readonly name = 'ServerStillEnding';
}

/**
 * Starts the server and waits until it accepts connections. It ends with this process, however that ends.
 * @throws ServerStillEnding; E3812 server-failed or disk-full with the server's own message
 */
export async function startServer(command: ServerCommand): Promise<ServerProcess> {
  const { log } = command;
  const child = spawnLocked(command, command.args, 'ignore');
  const lines: string[] = [];
  const ended = watch(child, lines, log);
  const stop = () => stopServer(child, ended);
  command.onWaiting();
  try {
    await ready(child, command);
  } catch (error) {
    await stop();
    throw explain(error, command, child.exitCode, lines);
  }
  // The child does not keep this process alive; it ends with it.
  child.unref();
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
  return { pid: child.pid ?? 0, ended, stop };
}

/** Starts PostgreSQL under the lock of its folder, to end with this process. */
function spawnLocked(command: ServerCommand, serverArgs: readonly string[], input: 'ignore' | 'pipe'): ChildProcess {
  const { runAs, clusterFolder } = command;
  const pidFile = command.pidFileIsVoid ? 'void' : '';
  const args = ['-c', SCRIPT, 'sh', clusterFolder, pidFile, ...runAs.prefix, command.postgres, ...serverArgs];
  return spawn('/bin/sh', args, {
    ...identity(runAs),
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    stdio: [input, 'ignore', 'pipe', 'pipe'],
    // In a session of its own: Ctrl-C in a terminal is for the layer, which stops the server when it is done.
    detached: true,
  });
}

/**
 * Runs statements as the superuser in a process without connections, and ends it.
 * @param statements each on one line, without a semicolon at its end
 * @throws ServerStillEnding; E3812 server-failed or disk-full with the server's own message
 */
export async function runSingleUser(command: ServerCommand, statements: readonly string[]): Promise<void> {
  const args = ['--single', ...command.args, ...SINGLE_USER_SETTINGS, DATABASE];
  const child = spawnLocked(command, args, 'pipe');
  const lines: string[] = [];
  const ended = watch(child, lines, command.log);
  // A server that has ended no longer reads; its exit status gives the reason.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(statements.map((statement) => `${statement}\n`).join(''));
  command.onWaiting();
  const slow = setTimeout(() => child.kill('SIGKILL'), command.startTimeoutMs);
  const how = await ended;
  clearTimeout(slow);
  if (child.exitCode !== 0) throw explain(new Error(how), command, child.exitCode, lines);
}

/** The layer's password is 256 random bits: nobody guesses it, and stretching it would only slow down connections. */
const SINGLE_USER_SETTINGS = ['-c', 'exit_on_error=on', '-c', 'scram_iterations=1'];

function watch(child: ChildProcess, lines: string[], log: Log): Promise<string> {
  const guard = child.stdio[3];
  // The watcher may have been killed by hand.
  guard?.on('error', () => undefined);
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (lines.length > LINES_MAX) lines.shift();
      log[TROUBLE.test(line) ? 'warn' : 'debug']('postgres-said', { line });
    });
  }
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      if (guard instanceof Socket) guard.end('gone\n');
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
}

/** Messages about sessions that the server's own stop ends are no trouble. */
const TROUBLE = /^(?:FATAL|PANIC|WARNING)(?!.*due to administrator command)/;

/** Reads the status line in the server's process-id file, as pg_ctl does. */
async function ready(child: ChildProcess, { clusterFolder, startTimeoutMs }: ServerCommand): Promise<void> {
  const file = join(clusterFolder, 'postmaster.pid');
  const deadline = performance.now() + startTimeoutMs;
  let failed: unknown;
  child.once('error', (error) => {
    failed = error;
  });
  while (performance.now() < deadline) {
    if (failed !== undefined) throw failed;
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('It ended before it was ready.');
    const text = await readFile(file, 'utf8').catch(() => '');
    const [pid, , , , , , , status] = text.split('\n');
    if (Number(pid) === child.pid && status?.trim() === 'ready') return;
    await sleep(READY_POLL_MS);
  }
  throw new Error(`It was not ready after ${startTimeoutMs} ms.`);
}

/**
 * Stops a server that is not a child of this process.
 * @returns false when it still exists
 */
export async function stopOrphan(pid: number): Promise<boolean> {
  for (const [signal, waitMs] of STOPS) {
    process.kill(pid, signal);
    if (await hasEnded(pid, waitMs)) return true;
  }
  return false;
}

async function stopServer(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.pid === undefined) return;
  child.ref();
  for (const [signal, waitMs] of STOPS) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    child.kill(signal);
    await Promise.race([ended, sleep(waitMs, undefined, { ref: false })]);
  }
  await ended;
  // The watcher holds the other end of descriptor 3 as long as it lives.
  const guard = child.stdio[3];
  if (guard instanceof Socket && !guard.closed) {
    guard.ref();
    guard.resume();
    await Promise.race([once(guard, 'close'), sleep(IMMEDIATE_STOP_MS, undefined, { ref: false })]);
  }
}

/** PostgreSQL's fast and immediate shutdown, then SIGKILL. */
const STOPS: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', FAST_STOP_MS],
  ['SIGQUIT', IMMEDIATE_STOP_MS],
  ['SIGKILL', IMMEDIATE_STOP_MS],
];

function explain(error: unknown, command: ServerCommand, exitCode: number | null, lines: readonly string[]): Error {
  const output = lines.join('\n');
  const folder = command.clusterFolder;
  if (exitCode === EXIT_LOCKED || STILL_ENDING.test(output)) return new ServerStillEnding(output, { cause: error });
  const cause = new Error(output, { cause: error });
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return startError('disk-full', `Data folder ${folder}: the disk is full; free some space.`, { folder, cause });
  }
  const said = lines.findLast((line) => /FATAL|PANIC|error|not found/.test(line)) ?? lines.at(-1) ?? reason(error);
  const message = `The embedded PostgreSQL in ${folder} did not start: ${said}. Repair that, or ${USE_A_SERVER}.`;
  return startError('server-failed', message, { folder, cause });
}

const STILL_ENDING = /lock file "postmaster\.pid" already exists|pre-existing shared memory block/;

function reason(error: unknown): string {
  if (codeOf(error) === 'ENOENT') return '/bin/sh is missing on this machine';
  return messageOf(error);
}
