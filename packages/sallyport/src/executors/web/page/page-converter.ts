import type { Worker } from 'node:worker_threads';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { abortReason } from '../../abort-reason.ts';
import type { PageAnswers, PageReply, PageRequest, PageTask } from './page-task.ts';
import { CONVERTER_BOUNDS, type ConverterBounds, createThreads } from './threads.ts';

export type { ConverterBounds };

/** Converts pages in separate threads, with limited time and memory. */
export interface PageConverter extends AsyncDisposable {
  /**
   * @throws ToolLayerError E3102 when the page takes too long or too much memory, E3109 for a fault the caller can fix,
   *   E3803 when too many wait, and the signal's reason when it aborts
   */
  run<K extends PageTask['kind']>(
    task: Extract<PageTask, { readonly kind: K }>,
    signal: AbortSignal,
  ): Promise<PageAnswers[K]>;
}

/** Threads start on demand and end when idle. */
export function createPageConverter(given: Partial<ConverterBounds> = {}): PageConverter {
  const bounds = { ...CONVERTER_BOUNDS, ...given };
  const threads = createThreads(bounds);
  return {
    async run(task, signal) {
      if (signal.aborted) throw abortReason(signal);
      const thread = await threads.take(signal);
      let isSound = false;
      try {
        const reply = await replyOf(thread.worker, { id: thread.pages, task }, bounds, signal);
        isSound = !('failed' in reply);
        if ('answer' in reply) return reply.answer as never;
        if ('refused' in reply) throw new ToolLayerError('E3109', reply.refused);
        throw tooMuch(`it cannot be read (${reply.failed.slice(0, 100)})`);
      } finally {
        threads.giveBack(thread, isSound);
      }
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}

function replyOf(
  worker: Worker,
  request: PageRequest,
  { pageMs, heapMb }: ConverterBounds,
  signal: AbortSignal,
): Promise<PageReply> {
  const { promise, resolve, reject } = Promise.withResolvers<PageReply>();
  const onAbort = (): void => reject(abortReason(signal));
  const onMessage = (reply: PageReply): void => resolve(reply);
  const onError = (cause: unknown): void => {
    const isMemory = (cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    reject(tooMuch(isMemory ? `it takes more than ${heapMb} MiB` : 'it cannot be read', cause));
  };
  const onExit = (): void => reject(tooMuch('its reader ended'));
  const timer = setTimeout(() => reject(tooMuch(`it takes longer than ${pageMs} ms`)), pageMs);
  worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  signal.addEventListener('abort', onAbort, { once: true });
  worker.postMessage(request);
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    signal.removeEventListener('abort', onAbort);
  });
}

const tooMuch = (why: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError(
    'E3102',
    `The page cannot be made readable within bounds: ${why}. Ask for mode raw.`,
    cause === undefined ? {} : { cause },
  );
