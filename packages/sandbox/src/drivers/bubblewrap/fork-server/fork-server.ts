import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { withCover } from '../../../linux/inherited-descriptors.ts';
import { type KeptBytes, withDescriptors } from '../../../linux/kept-bytes.ts';
import { hasPerl, PERL } from '../../../linux/perl.ts';
import { ignoreBrokenPipe } from '../../../linux/tool-pipes.ts';
import { CHANNEL_FD, callNumbers, FORK_SERVER_PROGRAM } from './fork-server-program.ts';
import { ForkedProcess } from './forked-process.ts';

/** A busy machine may be slow; an order waits no longer than for bubblewrap itself. */
const ANSWER_TIMEOUT_MS = 10_000;
/** A server that is silent for longer cannot report the end of its processes, so calls would wait for it. */
const SILENCE_MS = 10_000;

/**
 * A small process beside the layer that starts processes for it, each at the head of a session of its own. When the
 * layer forks itself, the kernel copies its page tables, which blocks it for some 5 ms per 100 MB that it holds (ADR
 * 0012).
 */
export interface ForkServer {
  /**
   * Starts the server's command. The first use starts the server. Until the server is ready the result is undefined;
   * when it shares the layer's user, the caller waits for it instead.
   * @param uid uid and gid; the layer's own when undefined
   * @param stages true to wait for a stage first, and then run the command of that order (`stageOrder`). Default false
   * @returns undefined when there is no server (yet): the layer must then start the process itself
   * @throws Error when the system refuses, or the server does not answer
   */
  fork(uid: number | undefined, stages?: boolean): Promise<Forked> | undefined;
  /**
   * True when the kernel's per-user counters are limited for all processes started so far, where these share the
   * layer's user.
   */
  isBounded(): boolean;
}

/** A started process, and the other ends of its sockets, in order. */
export interface Forked {
  readonly child: ForkedProcess;
  readonly pipes: readonly Socket[];
}

/** Parts that all processes of one server share. */
export interface ForkServerParts {
  readonly command: readonly [program: string, ...rest: string[]];
  /** Number of sockets of each process, at its descriptors from 0. */
  readonly sockets: number;
  /** Files at the descriptors after the sockets, each read from its beginning. */
  readonly files: readonly KeptBytes[];
  /** Descriptors that it must not inherit. */
  readonly inherited: readonly number[];
  readonly nothing: KeptBytes;
  /**
   * True when its processes have the layer's uid: half of what the kernel counts for that user is then withheld from
   * them, and everything waits until there is a server.
   */
  readonly sharesUser: boolean;
  /** Name or path of perl. Default `/usr/bin/perl`. */
  readonly perl?: string;
  /** Longest time for an order; after it the server is replaced. Default 10 s. */
  readonly answerTimeoutMs?: number;
  /** How long a replaced server may be silent before it is ended, with everything that it started. Default 10 s. */
  readonly silenceMs?: number;
}

/** The fork server of one driver. A server that was killed, or once did not answer, is replaced at the next use. */
export function createForkServer(parts: ForkServerParts): ForkServer {
  const command = perlCommand(parts);
  const { sharesUser } = parts;
  let server: RunningServer | undefined;
  const lost = (gone: RunningServer) => (): void => {
    if (server === gone) server = undefined;
    gone.lost();
  };
  return {
    fork(uid, stages = false) {
      if (command === undefined) return undefined;
      if (server === undefined || server.isRetired) {
        server = new RunningServer(startServer(command, parts), parts);
        for (const event of ['exit', 'error', 'disconnect']) server.process.on(event, lost(server));
      }
      return server.isReady || sharesUser ? server.fork(uid, stages) : undefined;
    },
    isBounded: () => !sharesUser || server?.isBounded === true,
  };
}

/** The server's answer to an order: a pid, or an error. */
type Answer =
  | 'ready'
  | 'unbounded'
  | readonly [id: number, outcome: number | string]
  | { readonly ended: number; readonly status: number };

/** An order that waits for its process. */
interface Order extends PromiseWithResolvers<Forked> {
  readonly pipes: Socket[];
  readonly late: NodeJS.Timeout;
  child?: ForkedProcess;
}

/** One perl process, its open orders, and the processes it has started. */
class RunningServer {
  readonly process: ChildProcess;
  isReady = false;
  isBounded = false;
  /** It did not answer in time, and gets no further orders. */
  isRetired = false;
  #silence: NodeJS.Timeout | undefined;
  readonly #silenceMs: number;
  readonly #sockets: number;
  readonly #answerTimeoutMs: number;
  readonly #orders = new Map<number, Order>();
  readonly #running = new Map<number, ForkedProcess>();
  #last = 0;
  #held = 0;

  constructor(
    child: ChildProcess,
    {
      sockets,
      answerTimeoutMs = ANSWER_TIMEOUT_MS,
      silenceMs = SILENCE_MS,
    }: Pick<ForkServerParts, 'sockets' | 'answerTimeoutMs' | 'silenceMs'>,
  ) {
    this.process = child;
    this.#sockets = sockets;
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#silenceMs = silenceMs;
    child.on('message', (answer, socket) => {
      this.isReady = true;
      clearTimeout(this.#silence);
      if (socket instanceof Socket) this.#take(Number(answer), socket);
      else this.#receive(answer as Answer);
      this.#endIfIdle();
    });
    child.unref();
    child.channel?.unref();
  }

  fork(uid: number | undefined, stages: boolean): Promise<Forked> {
    this.#last += 1;
    const id = this.#last;
    const late = setTimeout(() => {
      this.#retire();
      this.#fail(id, new Error('the fork server does not answer'));
    }, this.#answerTimeoutMs);
    const order: Order = { ...Promise.withResolvers<Forked>(), pipes: [], late };
    this.#orders.set(id, order);
    this.#hold(true);
    this.process.send([id, uid ?? -1, stages ? 1 : 0], (error) => {
      if (error) this.#fail(id, error);
    });
    return order.promise;
  }

  /** Its processes live on as long as it soon answers again; otherwise nobody would learn of their end. */
  #retire(): void {
    if (this.isRetired) return;
    this.isRetired = true;
    this.#silence = setTimeout(() => this.process.kill('SIGKILL'), this.#silenceMs);
  }

  /** A replaced server is kept only for the processes it started. */
  #endIfIdle(): void {
    if (this.isRetired && this.#orders.size === 0 && this.#running.size === 0) this.process.kill('SIGKILL');
  }

  /**
   * Nothing more is known of its processes; the kernel ends bubblewrap with it, and closing its pipes ends a launcher.
   */
  lost(): void {
    this.isReady = false;
    clearTimeout(this.#silence);
    for (const id of this.#orders.keys()) this.#fail(id, new Error('the fork server has ended'));
    for (const child of this.#running.values()) child.ended(undefined);
    this.#running.clear();
  }

  #receive(answer: Answer): void {
    if (answer === 'ready') this.isBounded = true;
    else if (answer === 'unbounded') return;
    else if ('ended' in answer) {
      this.#running.get(answer.ended)?.ended(answer.status);
      this.#running.delete(answer.ended);
    } else {
      const [id, outcome] = answer;
      if (typeof outcome === 'string') this.#fail(id, new Error(outcome));
      else this.#began(id, outcome);
    }
  }

  #began(id: number, pid: number): void {
    const child = new ForkedProcess(pid, (held) => this.#hold(held));
    this.#running.set(pid, child);
    const order = this.#orders.get(id);
    if (order === undefined) child.unref();
    else order.child = child;
  }

  /** Sockets that arrive too late are closed, which ends their launcher. */
  #take(id: number, socket: Socket): void {
    socket.on('error', ignoreBrokenPipe);
    const order = this.#orders.get(id);
    if (order?.child === undefined) return void socket.destroy();
    order.pipes.push(socket);
    if (order.pipes.length < this.#sockets) return;
    this.#finish(id, order);
    order.resolve({ child: order.child, pipes: order.pipes });
  }

  #fail(id: number, error: Error): void {
    const order = this.#orders.get(id);
    if (order === undefined) return;
    this.#finish(id, order);
    order.child?.unref();
    for (const pipe of order.pipes) pipe.destroy();
    order.reject(error);
  }

  #finish(id: number, order: Order): void {
    clearTimeout(order.late);
    this.#orders.delete(id);
    this.#hold(false);
  }

  /** Keeps the layer alive while orders are open, or processes run that it must stay for. */
  #hold(held: boolean): void {
    this.#held += held ? 1 : -1;
    const { channel } = this.process;
    if (this.#held === 0) channel?.unref();
    else channel?.ref();
  }
}

/** @returns undefined when no server can be started here */
function perlCommand({
  perl = PERL,
  command,
  sockets,
  files,
  sharesUser,
}: ForkServerParts): readonly string[] | undefined {
  const { arch } = process;
  if ((arch !== 'x64' && arch !== 'arm64') || !hasPerl(perl)) return undefined;
  const counts = [sockets, firstFileOf({ sockets, files }), files.length].map(String);
  return [perl, '-e', FORK_SERVER_PROGRAM, ...callNumbers(arch), sharesUser ? '1' : '0', ...counts, ...command];
}

/** Its own files are above all descriptors of its children, so that none is overwritten while these are placed. */
function firstFileOf({ sockets, files }: Pick<ForkServerParts, 'sockets' | 'files'>): number {
  return Math.max(CHANNEL_FD + 1, sockets + files.length);
}

function startServer([perl = PERL, ...rest]: readonly string[], parts: ForkServerParts): ChildProcess {
  return withDescriptors([parts.nothing, ...parts.files], ([nothing, ...files]) => {
    const cover = nothing ?? 'ignore';
    const before = Array.from({ length: firstFileOf(parts) - CHANNEL_FD - 1 }, () => cover);
    const stdio = withCover(['ignore', 'ignore', 'ignore', 'ipc', ...before, ...files], parts.inherited, cover);
    // Outside the layer's process group: Ctrl-C is for the layer, which then ends its sandboxes in order.
    return spawn(perl, rest, { cwd: '/', env: {}, detached: true, stdio });
  });
}
