// Hot path: every tools/call of every upstream goes through here.
import { type JSONRPCMessage, ProtocolError } from '@modelcontextprotocol/client';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { Progress } from '../../domain/principal/principal.ts';

/** Ids of our own requests start here, far from those that the SDK counts from 0, and fit 32 bits. */
export const FIRST_ID = 1_000_000;
const LAST_ID = 2_000_000_000;
const PROGRESS_MESSAGE_CHARS_MAX = 1024;

/** How one request is made. */
export interface RequestOptions {
  /** Its reason becomes the rejection; the server is told with `notifications/cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Absolute, ms; E3103 when it passes. */
  readonly timeoutMs?: number | undefined;
  /** Without an answer or a sign of progress, ms; E3103 when it passes (EXE-12). */
  readonly idleMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** HTTP headers of this request alone; other transports pass over them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A result object as the server sent it. */
export type RawResult = Record<string, unknown>;

/** Requests that wait for their answer. */
export interface RequestTable {
  size(): number;
  /**
   * Opens a request.
   * @param onGiveUp told when the caller no longer waits, after the request was forgotten
   */
  open(
    options: RequestOptions,
    onGiveUp: (id: number, why: string) => void,
  ): { id: number; answer: Promise<RawResult> };
  /** Takes an answer; false when no request of ours waits for it. */
  settle(message: JSONRPCMessage & { readonly id?: unknown }): boolean;
  /** Takes the parameters of a progress notification; false when it is about no request of ours. */
  progress(params: unknown): boolean;
  fail(id: number, error: unknown): boolean;
  failAll(error: () => unknown): void;
}

interface Waiting {
  readonly resolve: (result: RawResult) => void;
  readonly reject: (error: unknown) => void;
  readonly options: RequestOptions;
  readonly onAbort: (() => void) | undefined;
  readonly timer: NodeJS.Timeout | undefined;
  readonly idleTimer: NodeJS.Timeout | undefined;
}

/**
 * An empty table.
 * @param hint added to the message of a timeout, for what the connection has seen meanwhile
 */
export function createRequestTable(label: string, hint: () => string): RequestTable {
  const waiting = new Map<number, Waiting>();
  let lastId = FIRST_ID;

  const take = (id: unknown): Waiting | undefined => {
    const request = typeof id === 'number' ? waiting.get(id) : undefined;
    if (request === undefined) return undefined;
    waiting.delete(id as number);
    clearTimeout(request.timer);
    clearTimeout(request.idleTimer);
    if (request.onAbort !== undefined) request.options.signal?.removeEventListener('abort', request.onAbort);
    return request;
  };
  const fail = (id: number, error: unknown): boolean => {
    const request = take(id);
    request?.reject(error);
    return request !== undefined;
  };

  return {
    size: () => waiting.size,
    fail,
    open(options, onGiveUp) {
      lastId = lastId >= LAST_ID ? FIRST_ID : lastId + 1;
      const id = lastId;
      const { signal, timeoutMs, idleMs } = options;
      const giveUp = (error: unknown, why: string): void => {
        if (fail(id, error)) onGiveUp(id, why);
      };
      const late = (ms: number) => () => giveUp(timedOut(label, ms, hint()), 'timed out');
      const onAbort = signal === undefined ? undefined : () => giveUp(signal.reason, 'cancelled by the caller');
      if (onAbort !== undefined) signal?.addEventListener('abort', onAbort, { once: true });
      const answer = new Promise<RawResult>((resolve, reject) => {
        const timer = timeoutMs === undefined ? undefined : setTimeout(late(timeoutMs), timeoutMs);
        const idleTimer = idleMs === undefined ? undefined : setTimeout(late(idleMs), idleMs);
        waiting.set(id, { resolve, reject, options, onAbort, timer, idleTimer });
      });
      return { id, answer };
    },
    settle(message) {
      const request = take(message.id);
      if (request === undefined) return false;
      const outcome = outcomeOf(message, label);
      if (outcome instanceof Error) request.reject(outcome);
      else request.resolve(outcome);
      return true;
    },
    progress(params) {
      const { progressToken, ...told } = (params ?? {}) as Record<string, unknown>;
      const request = typeof progressToken === 'number' ? waiting.get(progressToken) : undefined;
      if (request === undefined) return false;
      request.idleTimer?.refresh();
      const progress = progressOf(told);
      if (progress !== undefined) request.options.onProgress?.(progress);
      return true;
    },
    failAll(error) {
      for (const id of [...waiting.keys()]) fail(id, error());
    },
  };
}

function outcomeOf(message: JSONRPCMessage, label: string): RawResult | Error {
  if ('error' in message) {
    const { code, message: text, data } = message.error ?? {};
    return new ProtocolError(Number(code), String(text), data);
  }
  const result: unknown = 'result' in message ? message.result : undefined;
  if (typeof result === 'object' && result !== null && !Array.isArray(result)) return result as RawResult;
  return new ToolLayerError('E3308', `The upstream '${label}' answered with something that is no result object.`, {
    details: { reached: true },
  });
}

function progressOf({ progress, total, message }: Record<string, unknown>): Progress | undefined {
  if (typeof progress !== 'number') return undefined;
  return {
    progress,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message: message.slice(0, PROGRESS_MESSAGE_CHARS_MAX) } : {}),
  };
}

function timedOut(label: string, ms: number, hint: string): ToolLayerError {
  return new ToolLayerError('E3103', `The upstream '${label}' did not answer within ${Math.round(ms)} ms.${hint}`, {
    details: { reached: true },
  });
}
