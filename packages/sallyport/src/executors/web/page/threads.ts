import { Worker } from 'node:worker_threads';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { abortReason } from '../../abort-reason.ts';

/** Limits of the threads that convert pages. */
export interface ConverterBounds {
  readonly workersMax: number;
  /** Most pages that wait for a thread; one more is E3803. */
  readonly waitingMax: number;
  /** Longest time for one page, in ms. */
  readonly pageMs: number;
  /** Heap of one thread, in MiB. */
  readonly heapMb: number;
  /** How long an idle thread is kept, in ms. */
  readonly idleMs: number;
  /** Pages after which a thread is replaced. */
  readonly pagesPerWorker: number;
}

export const CONVERTER_BOUNDS: ConverterBounds = {
  workersMax: 2,
  waitingMax: 64,
  pageMs: 10_000,
  heapMb: 384,
  idleMs: 30_000,
  pagesPerWorker: 500,
};

/** A thread that converts one page at a time. */
export interface Thread {
  readonly worker: Worker;
  /** Number of pages converted so far. */
  pages: number;
  idle: NodeJS.Timeout | undefined;
}

/** A small pool of threads. */
export interface Threads extends AsyncDisposable {
  /** @throws ToolLayerError E3803 when too many wait, the reason of the signal while waiting */
  take(signal: AbortSignal): Promise<Thread>;
  /** @param isSound false for a thread that must be ended because it still works or failed */
  giveBack(thread: Thread, isSound: boolean): void;
}

const WORKER_FILE = new URL(import.meta.url.endsWith('.ts') ? './page-worker.ts' : './page-worker.js', import.meta.url);

interface Waiting {
  readonly start: (thread: Thread) => void;
  readonly giveUp: (error: ToolLayerError) => void;
}

interface Pool {
  readonly bounds: ConverterBounds;
  readonly all: Set<Thread>;
  readonly free: Thread[];
  readonly queue: Waiting[];
  isClosed: boolean;
}

export function createThreads(bounds: ConverterBounds): Threads {
  const pool: Pool = { bounds, all: new Set(), free: [], queue: [], isClosed: false };
  return {
    take: (signal) => take(pool, signal),
    giveBack: (thread, isSound) => giveBack(pool, thread, isSound),
    async [Symbol.asyncDispose]() {
      pool.isClosed = true;
      for (const { giveUp } of pool.queue.splice(0)) giveUp(closing());
      await Promise.all([...pool.all].map((thread) => end(pool, thread)));
    },
  };
}

async function take(pool: Pool, signal: AbortSignal): Promise<Thread> {
  const { queue, bounds } = pool;
  if (pool.isClosed) throw closing();
  if (queue.length >= bounds.waitingMax) {
    throw new ToolLayerError('E3803', `${bounds.waitingMax} pages wait to be read already. Try again later.`);
  }
  const { promise, resolve, reject } = Promise.withResolvers<Thread>();
  const waiting: Waiting = { start: resolve, giveUp: reject };
  const onAbort = (): void => {
    const at = queue.indexOf(waiting);
    if (at === -1) return;
    queue.splice(at, 1);
    waiting.giveUp(abortReason(signal));
  };
  queue.push(waiting);
  signal.addEventListener('abort', onAbort, { once: true });
  startNext(pool);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function startNext(pool: Pool): void {
  if (pool.queue.length === 0) return;
  const thread = pool.free.pop() ?? (pool.all.size < pool.bounds.workersMax ? open(pool) : undefined);
  if (thread === undefined) return;
  clearTimeout(thread.idle);
  thread.pages += 1;
  thread.worker.ref();
  pool.queue.shift()?.start(thread);
}

function giveBack(pool: Pool, thread: Thread, isSound: boolean): void {
  const { bounds } = pool;
  if (!pool.all.has(thread)) {
    startNext(pool);
  } else if (!isSound || pool.isClosed || thread.pages >= bounds.pagesPerWorker) {
    void end(pool, thread).then(() => startNext(pool));
  } else {
    thread.worker.unref();
    thread.idle = setTimeout(() => void end(pool, thread), bounds.idleMs).unref();
    pool.free.push(thread);
    startNext(pool);
  }
}

function open(pool: Pool): Thread {
  const worker = new Worker(WORKER_FILE, {
    // Options of this process, such as a debugger's port, are not passed to the thread; neither are its secrets.
    execArgv: [],
    env: {},
    name: 'page',
    resourceLimits: { maxOldGenerationSizeMb: pool.bounds.heapMb, maxYoungGenerationSizeMb: 32 },
  });
  const thread: Thread = { worker, pages: 0, idle: undefined };
  // A thread that ends between two pages is removed silently.
  worker.on('error', () => void end(pool, thread));
  pool.all.add(thread);
  return thread;
}

async function end({ all, free }: Pool, thread: Thread): Promise<void> {
  clearTimeout(thread.idle);
  all.delete(thread);
  const at = free.indexOf(thread);
  if (at !== -1) free.splice(at, 1);
  await thread.worker.terminate();
}

const closing = (): ToolLayerError => new ToolLayerError('E3803', 'The layer is being closed.');
