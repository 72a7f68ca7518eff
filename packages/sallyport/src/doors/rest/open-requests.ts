import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { requestEnd } from '../http-answer.ts';
import type { RestSettings } from './settings.ts';

/** Delay after which a client that was refused by a stopping layer may retry, in ms. */
const RETRY_MS = 5_000;
/** Paths that are answered to the end: they report that the layer stops. */
const HEALTH = new Set(['/readyz', '/healthz']);

/** The requests that a door is answering, and their handling when the door stops. */
export interface OpenRequests {
  /** Counts a request until its connection is done with it. False: the door stops, and the request was refused. */
  admit(request: IncomingMessage, response: ServerResponse): boolean;
  /** Adds a listener that ends its streams when the door stops: they would last as long as their clients. */
  onStop(listener: () => void): void;
  /**
   * Refuses every new request, on kept-alive connections too, and waits for the running ones. Requests still running
   * after `closeGraceMs` are aborted with E3811. Resolves when all are answered, or `cutAnswerMs` after the abort.
   */
  stop(settings: Pick<RestSettings, 'closeGraceMs' | 'cutAnswerMs'>): Promise<void>;
}

/** @param refuse answers a request that arrives while the door stops */
export function createOpenRequests(refuse: (response: ServerResponse) => void): OpenRequests {
  const open = new Set<ServerResponse>();
  const listeners: (() => void)[] = [];
  let stopping = false;
  let idle: (() => void) | undefined;
  function onClose(this: ServerResponse): void {
    open.delete(this);
    if (open.size === 0) idle?.();
  }
  return {
    admit(request, response) {
      if (stopping && !HEALTH.has(request.url ?? '')) {
        response.shouldKeepAlive = false;
        // The rest of a body is read and discarded, so that the client can read the answer.
        request.resume();
        refuse(response);
        return false;
      }
      open.add(response);
      response.once('close', onClose);
      return true;
    },
    onStop: (listener) => void listeners.push(listener),
    async stop({ closeGraceMs, cutAnswerMs }) {
      stopping = true;
      for (const listener of listeners) listener();
      if (open.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      idle = resolve;
      let answering: NodeJS.Timeout | undefined;
      const grace = setTimeout(() => {
        answering = setTimeout(resolve, cutAnswerMs);
        for (const response of open) requestEnd(response).abort(new ToolLayerError('E3811', STOPPED));
      }, closeGraceMs);
      await promise;
      clearTimeout(grace);
      clearTimeout(answering);
    },
  };
}

const STOPPED = 'The layer stopped while the call ran.';

/** The refusal of a request that comes while the layer stops. */
export const layerStops = (): Failure =>
  failure('E3811', 'The layer is stopping and takes no new requests. Call again when it is back.', {
    retryAfterMs: RETRY_MS,
  });
