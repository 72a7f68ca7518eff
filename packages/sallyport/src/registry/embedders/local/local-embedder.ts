import { Worker } from 'node:worker_threads';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Embedder } from '../../embedder.port.ts';
import type { EmbedAnswer, EmbedRequest } from './worker-messages.ts';

/** Most calls that wait for the worker; more are refused. */
const WAITING_CALLS_MAX = 64;
/** The worker ends after this idle time, and frees its 200 MB. */
const IDLE_MS = 15_000;
/**
 * Starts of the worker within {@link STARTS_WINDOW_MS} without a single answer; after that, calls are refused for a
 * while.
 */
const FAILED_STARTS_MAX = 3;
const STARTS_WINDOW_MS = 60_000;
/** Texts of one call: the model takes them together, so a query waits for at most this many. */
const TEXTS_MAX = 16;
/** The tokeniser takes quadratic time. */
const TEXT_CHARACTERS_MAX = 1000;

/** Options of the local embedder; tests use shorter times and other workers. */
export interface LocalEmbedderOptions {
  /** 15 000 by default. */
  readonly idleMs?: number;
  /** File of the worker; the embedding model by default. */
  readonly workerFile?: URL;
}

/**
 * Universal Sentence Encoder Lite, English, 512 numbers, from an npm package: no network. It runs in a worker thread
 * that the first text starts and that ends when idle. A dying worker fails its calls; the next call starts another.
 * Neither the worker nor its timers keep the process alive, but a waiting call does.
 */
export function createLocalEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  const { idleMs = IDLE_MS, workerFile = WORKER_FILE } = options;
  const state: State = { idleMs, workerFile, calls: new Map(), nextId: 0, failedStarts: [], closed: false };
  return {
    model: 'universal-sentence-encoder-lite-en-1',
    textsMax: TEXTS_MAX,
    textCharactersMax: TEXT_CHARACTERS_MAX,
    // Measured with the sets of docs/tools/search.md; a test compares them with the reference pairs.
    traits: { dimensions: 512, boundaryCosine: 0.33, relatedCosine: 0.52 },
    embed: (texts, signal) => embed(state, texts, signal),
    async close() {
      state.closed = true;
      await end(state, new ToolLayerError('E3005', 'The layer is being closed.'));
    },
  };
}

/** Beside this file: as source, as compiled module, and (the bundle keeps places) from the bundle too. */
const WORKER_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './embedding-worker.ts' : './embedding-worker.js',
  import.meta.url,
);

interface Call {
  readonly count: number;
  readonly resolve: (vectors: readonly Float32Array[]) => void;
  readonly reject: (error: unknown) => void;
}

interface State {
  readonly idleMs: number;
  readonly workerFile: URL;
  readonly calls: Map<number, Call>;
  nextId: number;
  worker?: Worker | undefined;
  /** True when the running worker has answered. */
  answered?: boolean;
  idleTimer?: NodeJS.Timeout | undefined;
  /** When workers ended that had not answered, in ms of the monotonic clock. */
  failedStarts: readonly number[];
  closed: boolean;
}

async function embed(state: State, texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
  signal.throwIfAborted();
  if (texts.length === 0) return [];
  if (state.closed) throw new ToolLayerError('E3005', 'The layer is being closed.');
  if (state.calls.size >= WAITING_CALLS_MAX)
    throw new ToolLayerError('E3005', `The local embedder has ${WAITING_CALLS_MAX} calls waiting. Try again.`);
  const worker = runningWorker(state);
  const id = state.nextId++;
  const { promise, resolve, reject } = Promise.withResolvers<readonly Float32Array[]>();
  state.calls.set(id, { count: texts.length, resolve, reject });
  worker.ref();
  clearTimeout(state.idleTimer);
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  worker.postMessage({ id, texts } satisfies EmbedRequest);
  try {
    return await promise;
  } catch (error) {
    // Abandoned work still runs: a hanging worker is treated like a dead one.
    if (signal.aborted && state.calls.delete(id) && isTimeout(signal.reason)) await end(state, lost('hung'));
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
    rest(state);
  }
}

const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'TimeoutError';

function runningWorker(state: State): Worker {
  if (state.worker !== undefined) return state.worker;
  const now = performance.now();
  state.failedStarts = state.failedStarts.filter((time) => now - time < STARTS_WINDOW_MS);
  if (state.failedStarts.length >= FAILED_STARTS_MAX)
    throw new ToolLayerError(
      'E3005',
      `The local embedder ended ${FAILED_STARTS_MAX} times within ${STARTS_WINDOW_MS / 1000} s. The operator finds the cause in the log.`,
    );
  // Options of this process, such as a debugger's port or a loader, are not passed to the worker.
  const worker = new Worker(state.workerFile, { execArgv: [], name: 'embedder' });
  state.worker = worker;
  state.answered = false;
  worker.on('message', (answer: EmbedAnswer) => settle(state, answer));
  worker.on('error', (cause) => gone(state, worker, lost('died', cause)));
  worker.on('exit', () => gone(state, worker, lost('ended')));
  return worker;
}

function settle(state: State, answer: EmbedAnswer): void {
  state.answered = true;
  const call = state.calls.get(answer.id);
  if (call === undefined) return;
  state.calls.delete(answer.id);
  if ('error' in answer) {
    const cause = new Error(answer.error);
    call.reject(new ToolLayerError('E3005', 'The local embedding model failed.', { cause }));
    return;
  }
  const { vectors } = answer;
  const length = vectors.length / call.count;
  call.resolve(Array.from({ length: call.count }, (_, at) => vectors.slice(at * length, (at + 1) * length)));
}

function gone(state: State, worker: Worker, error: ToolLayerError): void {
  if (state.worker !== worker) return;
  state.worker = undefined;
  if (state.answered === false) state.failedStarts = [...state.failedStarts, performance.now()];
  clearTimeout(state.idleTimer);
  const held = [...state.calls.values()];
  state.calls.clear();
  for (const call of held) call.reject(error);
}

/** Without calls the worker does not keep the process alive, and soon ends. */
function rest(state: State): void {
  if (state.calls.size > 0 || state.worker === undefined) return;
  state.worker.unref();
  clearTimeout(state.idleTimer);
  state.idleTimer = setTimeout(() => void end(state, lost('ended')), state.idleMs).unref();
}

async function end(state: State, error: ToolLayerError): Promise<void> {
  const { worker } = state;
  if (worker === undefined) return;
  gone(state, worker, error);
  await worker.terminate();
}

const lost = (how: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3005', `The worker of the local embedder ${how}.`, cause === undefined ? {} : { cause });
