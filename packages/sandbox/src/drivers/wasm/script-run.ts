import { Readable, Writable } from 'node:stream';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { KiB, MiB } from '@sallyport/std/bytes';
import type { SandboxExit, SandboxProcess, SandboxSpec } from '../../driver.port.ts';
import { killOnDispose } from '../../kill-on-dispose.ts';
import type { Thread } from './pool/thread.ts';
import type { Task, ThreadPool } from './pool/thread-pool.ts';
import { type InputMessage, type JobEnd, type JobMessage, PAGE_BYTES, SHARED, type WasmJob } from './protocol.ts';
import { WASM_BOUNDS } from './settings.ts';

/** A script with its arguments. */
export interface Script {
  readonly source: string;
  readonly args: readonly string[];
}

interface Run {
  readonly pool: ThreadPool;
  readonly numbers: Int32Array;
  readonly port: MessagePort;
  readonly limits: SandboxSpec['limits'];
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly stdin: Writable;
  /** Bytes of each stream that its reader has no room for. */
  readonly held: { 1: number; 2: number };
  readonly resolve: (exit: SandboxExit) => void;
  over: boolean;
  killed: boolean;
  violation?: 'cpu';
  thread?: Thread;
  /** Processor time of the thread before the script. */
  cpuMsBefore: number;
  /** Processor time of a script that was ended. */
  cpuMs: number;
  watch?: NodeJS.Timeout;
  /** Says that the piece of input which was sent last was taken. */
  taken?: (() => void) | undefined;
}

/**
 * Runs a script as soon as a thread is free.
 * @throws E3101 when too many wait
 */
export function runScript(pool: ThreadPool, script: Script, spec: SandboxSpec): SandboxProcess {
  const { port1: port, port2 } = new MessageChannel();
  const shared = new SharedArrayBuffer(SHARED.length * Int32Array.BYTES_PER_ELEMENT);
  const { promise: exited, resolve } = Promise.withResolvers<SandboxExit>();
  const run: Run = {
    pool,
    numbers: new Int32Array(shared),
    port,
    limits: spec.limits,
    stdout: outputStream(() => acknowledge(run, 1)),
    stderr: outputStream(() => acknowledge(run, 2)),
    stdin: inputStream((message, done) => sendInput(run, message, done)),
    held: { 1: 0, 2: 0 },
    resolve,
    over: false,
    killed: false,
    cpuMsBefore: 0,
    cpuMs: 0,
  };
  const task: Task = {
    begin: (thread) => begin(run, thread, jobOf(script, spec, shared, port2)),
    lost: (cause) => finish(run, endOfLost(run, cause)),
  };
  const kill = (): void => end(run, task);
  port.on('message', (message: JobMessage) => receive(run, message));
  try {
    pool.add(task);
  } catch (error) {
    port.close();
    throw error;
  }
  const { stdin, stdout, stderr } = run;
  return killOnDispose({ stdin, stdout, stderr, exited, kill });
}

function jobOf(
  { source, args }: Script,
  { environment, limits }: SandboxSpec,
  shared: SharedArrayBuffer,
  port: MessagePort,
): WasmJob {
  return {
    kind: 'job',
    source,
    args,
    environment,
    memoryMb: limits.memoryMb,
    cpuMillicores: limits.cpuMillicores,
    cpuMsMax: cpuMsMax(limits),
    shared,
    port,
  };
}

const cpuMsMax = ({ cpuSecondsMax }: SandboxSpec['limits']): number =>
  cpuSecondsMax === undefined ? Number.POSITIVE_INFINITY : cpuSecondsMax * 1000;

function begin(run: Run, thread: Thread, job: WasmJob): void {
  run.thread = thread;
  run.cpuMsBefore = thread.cpuMs() ?? 0;
  thread.give(job);
  if (job.cpuMsMax < Number.POSITIVE_INFINITY) watchProcessor(run, thread, job.cpuMsMax);
}

/** The interpreter looks at the time itself, but not within one long step, such as sorting or a search in a text. */
function watchProcessor(run: Run, thread: Thread, leftMs: number): void {
  run.watch = setTimeout(() => {
    const left = cpuMsMax(run.limits) - cpuMsOf(run);
    if (left > 0) {
      watchProcessor(run, thread, left);
      return;
    }
    run.violation = 'cpu';
    endThread(run, thread);
  }, leftMs + WASM_BOUNDS.cpuGraceMs).unref();
}

/** A thread that is gone reports nothing more. */
function endThread(run: Run, thread: Thread): void {
  run.cpuMs = cpuMsOf(run);
  void thread.end();
}

/** What the kernel says; nothing where it does not report it, so that nobody is ended by a guess. */
function cpuMsOf({ thread, cpuMsBefore }: Run): number {
  const now = thread?.cpuMs();
  return now === undefined ? 0 : Math.max(0, now - cpuMsBefore);
}

function receive(run: Run, message: JobMessage): void {
  if (message.kind === 'output') receiveOutput(run, message.stream, message.bytes);
  else if (message.kind === 'took') takeNext(run);
  else if (!run.over) {
    if (run.thread !== undefined) run.pool.release(run.thread, message.end);
    finish(run, exitOf(message.end));
  }
}

function exitOf({ code, signal, violation, cpuMs }: JobEnd): Omit<SandboxExit, 'memoryPeakMb'> {
  return {
    ...(code === undefined ? {} : { code }),
    ...(signal === undefined ? {} : { signal }),
    ...(violation === undefined ? {} : { violation }),
    cpuMs,
  };
}

function end(run: Run, task: Task): void {
  if (run.over || run.killed) return;
  run.killed = true;
  if (run.thread !== undefined) {
    endThread(run, run.thread);
    return;
  }
  run.pool.withdraw(task);
  finish(run, { signal: 'SIGKILL', cpuMs: 0 });
}

function endOfLost(run: Run, cause: Error | undefined): Omit<SandboxExit, 'memoryPeakMb'> {
  const { cpuMs } = run;
  if (run.violation !== undefined) return { signal: 'SIGKILL', violation: run.violation, cpuMs };
  if (run.killed || cause === undefined) return { signal: 'SIGKILL', cpuMs };
  if ('code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { signal: 'SIGKILL', violation: 'memory', cpuMs };
  }
  run.stderr.push(`The thread of the interpreter failed: ${cause.message}\n`);
  return { signal: 'SIGABRT', cpuMs };
}

function finish(run: Run, exit: Omit<SandboxExit, 'memoryPeakMb'>): void {
  if (run.over) return;
  run.over = true;
  clearTimeout(run.watch);
  run.port.close();
  run.stdout.push(null);
  run.stderr.push(null);
  takeNext(run);
  run.stdin.destroy();
  run.resolve({ ...exit, memoryPeakMb: (Atomics.load(run.numbers, SHARED.pages) * PAGE_BYTES) / MiB });
}

function outputStream(read: () => void): Readable {
  return new Readable({ highWaterMark: 64 * KiB, read });
}

function receiveOutput(run: Run, stream: 1 | 2, bytes: Uint8Array): void {
  const readable = stream === 1 ? run.stdout : run.stderr;
  run.held[stream] += bytes.length;
  const hasRoom = !readable.destroyed && readable.push(bytes);
  if (hasRoom || readable.destroyed) acknowledge(run, stream);
}

function acknowledge({ held, numbers }: Run, stream: 1 | 2): void {
  if (held[stream] === 0) return;
  Atomics.sub(numbers, SHARED.unread, held[stream]);
  Atomics.notify(numbers, SHARED.unread);
  held[stream] = 0;
}

function inputStream(send: (message: InputMessage, done: () => void) => void): Writable {
  const stdin = new Writable({
    // A copy of its own: a piece of a buffer would bring the whole buffer along.
    write: (chunk: Buffer, _encoding, done) => send(new Uint8Array(chunk), done),
    final: (done) => {
      send(null, () => {});
      done();
    },
  });
  // As with a pipe that nobody reads any more.
  stdin.on('error', () => {});
  return stdin;
}

/** A piece waits until the one before it was taken, so that no more than one is in between. */
function sendInput(run: Run, message: InputMessage, done: () => void): void {
  if (run.over) {
    done();
    return;
  }
  run.taken = done;
  run.port.postMessage(message, message === null ? [] : [message.buffer as ArrayBuffer]);
  Atomics.add(run.numbers, SHARED.inputs, 1);
  Atomics.notify(run.numbers, SHARED.inputs);
}

function takeNext(run: Run): void {
  const taken = run.taken;
  run.taken = undefined;
  taken?.();
}
