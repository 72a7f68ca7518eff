import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree } from './process-tree.ts';

/** How to start a program of Node; it runs on the same Node as this one. */
export interface ProgramStart {
  readonly script: string;
  readonly args?: readonly string[];
  /** Folder for its log and its home; nothing of this user's settings reaches it. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that runs until it is disposed. What it had started ends with it. */
export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  /** What it says of itself through IPC when it is ready. Rejects when it ends before, or says nothing in time. */
  readonly ready: Promise<unknown>;
  /** Sends a message through IPC. @returns the next message that the program sends. Rejects when it ends before */
  ask(question: object): Promise<unknown>;
  /** Settles when it has ended. */
  readonly ended: Promise<void>;
  /** What it wrote to its outputs so far. */
  output(): string;
}

const READY_MS_MAX = 60_000;
const GRACE_MS = 10_000;
const SHOWN_CHARACTERS_MAX = 500;

/** Starts a program. Its outputs go to a file: reading them here would cost CPU in the middle of a measurement. */
export function startProgram({ script, args = [], folder, env }: ProgramStart): ServerProcess {
  const logFile = join(folder, 'output.log');
  const output = openSync(logFile, 'w');
  const child = spawn(process.execPath, [script, ...args], {
    cwd: folder,
    env: { PATH: pathWithThisNode(), HOME: folder, LANG: 'C.UTF-8', NODE_ENV: 'production', ...env },
    stdio: ['ignore', output, output, 'ipc'],
  });
  closeSync(output);
  const ended = endOf(child);
  const written = () => readFileSync(logFile, 'utf8');
  const ready = readyMessage(child, ended, written);
  // Whoever does not ask for it is not to fail by it.
  ready.catch(() => undefined);
  return {
    pid: pidOf(child),
    ready,
    ask: (question) => answerTo(question, child, ended),
    ended,
    output: written,
    [Symbol.asyncDispose]: () => stop(child, ended),
  };
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the program could not be started');
  return pid;
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
}

/** The end of what a program wrote, for the message that says why it did not work. */
export function lastWords(output: string): string {
  return output.slice(-SHOWN_CHARACTERS_MAX).trim();
}

async function readyMessage(child: ChildProcess, ended: Promise<void>, written: () => string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const giveUp = (what: string) => reject(new Error(`it ${what}: ${lastWords(written())}`));
  child.once('message', resolve);
  void ended.then(() => giveUp('ended before it was ready'));
  const timer = setTimeout(() => giveUp(`was not ready after ${READY_MS_MAX} ms`), READY_MS_MAX);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

async function answerTo(question: object, child: ChildProcess, ended: Promise<void>): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  void ended.then(() => reject(new Error('it ended before it answered')));
  child.once('message', resolve);
  child.send(question);
  return promise.finally(() => child.off('message', resolve));
}

/** Asks it to end, then makes it; then the same for what it left behind, each by its id. */
async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  const started = processTree(pidOf(child)).slice(1);
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  await ended;
  clearTimeout(timer);
  for (const pid of started) await endOrphan(pid);
}

/** Programs close their own children a moment after they have ended themselves; only then it is our turn. */
async function endOrphan(pid: number): Promise<void> {
  for (let waits = 0; waits < 20; waits += 1) {
    if (processTree(pid).length === 0) return;
    await sleep(100);
  }
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended just now.
  }
}

/** `node` means this very Node for whatever the programs start in turn. */
function pathWithThisNode(): string {
  return [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':');
}
